//! The overview of several phases, and the warnings that it carries.

mod common;

use common::{analyses, troubled};
use iotax_analyze::{Analysis, Check};
use iotax_record::Experiment;
use iotax_report::{Document, Style, experiments, html, markdown, text};

/// A comparison without trouble, one with, and one whose precision is in doubt.
fn suite() -> Document {
    let named = |name: &str, mut analysis: Analysis| -> (Experiment, Analysis) {
        name.clone_into(&mut analysis.workload);
        (common::compare(), analysis)
    };
    let mut imprecise = analyses::factors();
    imprecise.warnings = troubled::warned().warnings;
    imprecise.warnings.retain(|warning| warning.check == Check::Precision);
    let parts = [
        named("reads", analyses::compare()),
        named("writes", troubled::warned()),
        named("git-status", imprecise),
    ];
    experiments("a-suite", &parts)
}

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
    let (warned, rest) = page.split_once("<h2>Phases</h2>").expect("the table follows");
    assert!(warned.contains("<dt>writes</dt><dd>wrong sign (same): an added layer made"), "{page}");
    assert!(rest.contains("wrong sign</td>"), "the arm is marked");
    assert!(rest.contains("<dt>precision</dt><dd>writes, git-status</dd>"));
}
