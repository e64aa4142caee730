//! The overview of several phases, and the warnings that it carries.

mod common;

use common::suite::suite;
use iotax_report::{Style, html, markdown, text};

#[test]
fn an_overview_in_markdown() {
    let shown = markdown(&suite());
    insta::assert_snapshot!(shown.split("\n## iotax: reads").next().unwrap().trim_end());
}

#[test]
fn an_overview_on_a_terminal() {
    let shown = text(&suite(), Style::default());
    let shown = shown.split("\nPhase 1 of 3\n").next().unwrap();
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    insta::assert_snapshot!(shown);
}

#[test]
fn an_overview_on_a_page() {
    let page = html(&suite());
    let (warned, rest) = page.split_once("<h3>Phase by phase, ").expect("what was found follows");
    assert!(warned.contains("<dt>writes</dt><dd>wrong sign (same): an added layer made"), "{page}");
    assert!(rest.contains("wrong sign</td>"), "the arm is marked");
    let (overview, folded) = rest.split_once("<details class=\"chapter\"").expect("phases follow");
    assert!(overview.contains(">=!</td>"), "in the grid, too");
    assert_eq!(folded.matches("<h3>Environment ").count(), 3, "each phase is in the page");
    assert!(overview.contains("<dt>precision</dt><dd>writes, git-status</dd>"));
}
