//! The depth check and `--below-cap`, where they make no sense. What they find is judged by
//! `cargo xtask measure`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use insta::assert_snapshot;
use support::Desk;

const COMPARE: [&str; 5] = ["compare", "-w", "randread-4k", "mem", "mem"];

#[test]
fn what_a_cap_hides_cannot_be_looked_for_without_looking_for_a_cap() {
    let said = Desk::new().run(&[&COMPARE[..], &["--below-cap", "--no-depth-check"]].concat());
    assert_snapshot!(said, @"
    error: the argument '--below-cap' cannot be used with '--no-depth-check'

    Usage: iotax compare --workload <WORKLOAD> --below-cap <ARM>...

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn a_vm_that_is_none_is_refused() {
    let said = Desk::new().run(&[&COMPARE[..], &["--vm", "DS1_v"]].concat());
    assert_snapshot!(said, @"
    error: unknown VM size `DS1_v`: did you mean Standard_DS1_v2?
    [exit 2]
    ");
}

#[test]
fn the_place_of_a_record_of_the_depth_check_is_taken() {
    let desk = Desk::new();
    let short = ["--ramp", "0s", "--time", "200ms", "--max-blocks", "3", "--no-depth-check"];
    let said = desk.run(&[&COMPARE[..], &short, &["--out", "out/depth-check"]].concat());
    assert_eq!(said.code, 0, "{said}");
    let refused = desk.run(&[&COMPARE[..], &["--out", "out"]].concat());
    assert!(
        refused.err.starts_with("error: out/depth-check already contains a record"),
        "{refused}"
    );
}
