//! Results on one screen of a terminal.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{analyses, pages};
use iotax_analyze::{Analysis, Doubt, DoubtKind};
use iotax_experiment::Subject;
use iotax_report::{Document, Style, answer, experiment, screen, several, text};

const LINES: usize = 21;
const PLAIN: Style = Style { color: false, width: 80 };

fn shown(document: &Document) -> String {
    screen(document, PLAIN, LINES)
}

/// The name of each kind of report, and its screen.
fn all() -> Vec<(String, String)> {
    let of_experiment = |(name, head, found): (&str, _, Analysis)| {
        (format!("experiment {name}"), shown(&experiment(&head, &found)))
    };
    let pages = pages::all().into_iter().map(|(name, page)| (name.to_owned(), shown(&page)));
    pages.chain(pages::experiments().into_iter().map(of_experiment)).collect()
}

#[test]
fn every_result_fits_one_screen() {
    for (name, screen) in all() {
        assert!(screen.lines().count() <= LINES, "{name}\n{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{name}\n{screen}");
        assert!(!screen.contains('\x1b'), "{name}");
    }
}

#[test]
fn the_screen_begins_with_the_answer_that_the_report_gives() {
    for (name, page) in pages::all() {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let sentences = answer(&page, PLAIN);
        let first = words(sentences.split_inclusive(". ").next().unwrap());
        let first = first.split_once(". ").map_or(&*first, |(first, _)| first);
        assert!(words(&shown(&page)).contains(first), "{name}: {first}");
        assert!(words(&text(&page, PLAIN)).contains(first), "{name}: {first}");
    }
}

#[test]
fn a_small_screen_keeps_the_table_and_says_what_it_leaves_out() {
    let page = pages::all().into_iter().find(|(name, _)| *name == "nodes-24").unwrap().1;
    let small = screen(&page, PLAIN, 12);
    assert!(small.lines().count() <= 12, "{small}");
    assert!(small.contains("more rows") && small.contains("7f3a-n1 "), "{small}");
}

#[test]
fn several_experiments_are_a_table_of_findings() {
    let pages = || pages::all().into_iter().filter(|(name, _)| ["compare", "peel"].contains(name));
    let page = several(pages().map(|(name, page)| (format!("runs/{name}"), page)).collect());
    let screen = shown(&page);
    assert!(screen.lines().count() <= LINES, "{screen}");
    insta::assert_snapshot!("several", screen);
    let sentences = answer(&page, PLAIN);
    for (name, page) in pages() {
        let of_one = answer(&page, PLAIN);
        assert!(sentences.contains(&format!("{name}\n{of_one}")), "{sentences}");
    }
}

#[test]
fn different_storage_is_a_line_and_no_warning() {
    let mut found = analyses::compare();
    let (of, kind) = (Subject::Arm("luks".into()), DoubtKind::DifferentStorage);
    found.warnings = vec![Doubt::about(of, kind, 0)];
    let page = experiment(&common::compare(), &found);
    let (screen, all) = (shown(&page), text(&page, PLAIN));
    for shown in [&screen, &all] {
        assert!(shown.contains("a difference may come"), "{shown}");
        assert!(!shown.contains("  ! ") && !shown.contains("Warning, different"), "{shown}");
    }
    assert!(!screen.contains("swap the") && all.contains("swap the"), "{screen}");
}

#[test]
fn an_interrupted_run_says_so_on_the_screen() {
    let mut found = analyses::peel();
    found.ending.interrupted = true;
    let shown = shown(&experiment(&common::peel(), &found));
    assert!(shown.contains("Interrupted after"), "{shown}");
}

#[test]
fn screens() {
    let all = all();
    let of = |name: &str| &all.iter().find(|(known, _)| known == name).unwrap().1;
    for name in
        ["run", "compare", "warned", "peel", "suite", "nodes-24", "limits", "experiment ruled"]
    {
        insta::assert_snapshot!(name.replace(' ', "-"), of(name));
    }
}
