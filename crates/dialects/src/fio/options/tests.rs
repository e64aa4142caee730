use super::lookup::JOB_OPTIONS;
use super::*;

#[test]
fn options_are_found_by_each_of_their_names() {
    let bs = find("bs").unwrap();
    assert_eq!(find("blocksize"), Some(bs));
    assert_eq!(bs.kind, Kind::Long { min: 1 });
    assert_eq!(find("bloc"), None);
    assert_eq!(find_of_engine("net", "proto").unwrap().name, "protocol");
    assert_eq!(find_of_engine("psync", "proto"), None);
    assert_eq!(engines_with("userspace_reap").collect::<Vec<_>>(), ["libaio"]);
}

#[test]
fn no_name_stands_for_two_options() {
    let mut names: Vec<_> = JOB_OPTIONS.iter().map(|(name, _)| *name).collect();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}
