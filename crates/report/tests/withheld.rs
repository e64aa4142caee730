//! Verdicts that missing trials or the depth check take back.

mod common;

use common::{text, troubled};
use iotax_report::Style;

#[test]
fn what_is_missing_and_what_disagrees_is_said_first() {
    let shown = text(&common::compare(), &troubled::withheld(), Style::default());
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    insta::assert_snapshot!(shown.split("\nArms").next().unwrap());
}
