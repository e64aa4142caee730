use super::*;

#[test]
fn options_are_found_by_each_of_their_names() {
    let bs = option_named("bs").unwrap();
    assert_eq!(option_named("blocksize"), Some(bs));
    assert_eq!(bs.kind, ValueKind::Long { min: 1 });
    assert_eq!(option_named("bloc"), None);
    assert_eq!(find_of_engine("net", "proto").unwrap().name, "protocol");
    assert_eq!(find_of_engine("psync", "proto"), None);
    assert_eq!(engines_with("userspace_reap").collect::<Vec<_>>(), ["libaio"]);
}

#[test]
fn no_name_stands_for_two_options() {
    let mut names: Vec<_> = all().flat_map(OptionInfo::names).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn an_option_means_the_same_whichever_engine_has_it() {
    for option in every() {
        let mut others = every().filter(|other| other.name == option.name);
        let meant = (option.class, option.reach);
        assert!(others.all(|other| (other.class, other.reach) == meant), "{}", option.name);
    }
}
