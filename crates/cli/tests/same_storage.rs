//! Arms and targets that are one thing under two names.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use insta::assert_snapshot;
use support::Desk;

/// A file by two names, and another.
fn desk() -> Desk {
    let desk = Desk::new();
    let at = |name: &str| desk.path().join(name);
    std::fs::write(at("one"), vec![7; 1 << 20]).unwrap();
    std::fs::write(at("two"), vec![7; 1 << 20]).unwrap();
    std::fs::hard_link(at("one"), at("again")).unwrap();
    std::os::unix::fs::symlink(desk.path(), at("here")).unwrap();
    desk
}

fn compared(arms: [&str; 2]) -> String {
    let short = ["compare", "--quick", "-w", "randread-4k", "--ramp", "50ms", "--time", "100ms"];
    // Read from memory: a disk that others use may answer nothing in so short a time.
    let options = ["--set", "size=1M", "--set", "direct=false", "--format", "csv"];
    let few = ["--max-blocks", "3"];
    let said = desk().run(&[&short[..], &options, &few, &arms].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    said.err
}

#[test]
fn a_comparison_of_a_file_with_itself_is_made_and_pointed_out() {
    assert_snapshot!(compared(["a=one", "b=again"]), @"warning: a and b are the same file, DESK/one: any difference between them is due to chance");
    assert_eq!(compared(["a=one", "b=two"]), "");
}

#[test]
fn caps_of_one_thing_under_two_names_are_not_asked_to_be_shared() {
    let refused = |targets: [&str; 2]| {
        let said = desk().run(&[&["limits", "--quick"], &targets[..]].concat());
        assert!(said.out.is_empty(), "{}", said.out);
        format!("{}\n{}", said.code, said.err)
    };
    assert_snapshot!(refused(["one", "again"]), @"
    2
    error: one and again are the same file, DESK/one, so they share every cap; pass only one of them, or run iotax limits once for each
    ");
    assert_snapshot!(refused(["a=.", "b=here"]), @"
    2
    error: a and b are the same directory, DESK, so they share every cap; pass only one of them, or run iotax limits once for each
    ");
}
