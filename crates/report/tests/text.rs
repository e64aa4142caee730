//! What a terminal shows.

mod common;

use common::analyses;
use iotax_report::{Style, text};

#[test]
fn a_peel_on_a_terminal() {
    insta::assert_snapshot!(text(&common::peel(), &analyses::peel(), Style::default()));
}

#[test]
fn a_comparison_on_a_terminal() {
    insta::assert_snapshot!(text(&common::compare(), &analyses::compare(), Style::default()));
}

#[test]
fn a_run_on_a_terminal() {
    insta::assert_snapshot!(text(&common::run(), &analyses::run(), Style::default()));
}

#[test]
fn failures_on_a_terminal() {
    insta::assert_snapshot!(text(&common::compare(), &analyses::troubled(), Style::default()));
}
