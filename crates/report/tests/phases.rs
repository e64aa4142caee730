//! The overview of several phases, and the warnings that it carries.

mod common;

use common::suite::{large, suite};
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
    let (warned, rest) = page.split_once("<h3>Phases ").expect("what was found follows");
    assert!(
        warned.contains("<dt>writes</dt><dd>unexpected gain (same): arm same only adds work"),
        "{page}"
    );
    assert!(rest.contains("unexpected gain</td>"), "the arm is marked");
    let (overview, folded) = rest.split_once("<details class=\"chapter\"").expect("phases follow");
    assert!(overview.contains(">=!</td>"), "in the grid, too");
    assert_eq!(folded.matches("<h3>Environment ").count(), 3, "each phase is in the page");
    assert!(overview.contains("<dt>precision</dt><dd>writes, git-status</dd>"));
}

#[test]
fn twelve_phases_of_eight_arms_fit_a_terminal() {
    let shown = text(&large(), Style::default());
    let (shown, _) = shown.split_once("\nPhase 1 of 12\n").unwrap();
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let (_, grid) = shown.split_once("Phases compared with base\n").unwrap();
    insta::assert_snapshot!(grid, @"
      phase               A     B     C     D     E     F     G
      random-reads-1    8 %  12 %  16 %  20 %  24 %  28 %  32 %
      random-reads-2   12 %  16 %  20 %  24 %  28 %  32 %  36 %
      random-reads-3   16 %  20 %  24 %  28 %  32 %  36 %  40 %
      random-reads-4   20 %  24 %  28 %  32 %  36 %  40 %  44 %
      random-reads-5   24 %  28 %  32 %  36 %  40 %  44 %  48 %
      random-reads-6   28 %  32 %  36 %  40 %  44 %  48 %  2.1x
      random-reads-7   32 %  36 %  40 %  44 %  48 %  2.1x  2.3x
      random-reads-8   36 %  40 %  44 %  48 %  2.1x  2.3x  2.5x
      random-reads-9   40 %  44 %  48 %  2.1x  2.3x  2.5x  2.8x
      random-reads-10  44 %  48 %  2.1x  2.3x  2.5x  2.8x  3.1x
      random-reads-11  48 %  2.1x  2.3x  2.5x  2.8x  3.1x  3.6x
      random-reads-12  2.1x  2.3x  2.5x  2.8x  3.1x  3.6x  4.2x
      A: encrypted-on-host-1, B: encrypted-on-host-2, C: encrypted-on-host-3,
      D: encrypted-on-host-4, E: encrypted-on-host-5, F: encrypted-on-host-6, G:
      encrypted-on-host-7. Cost in each phase's primary metric; a negative value, or
      a factor such as 1/2x, is a gain. =: equivalent. ?16: undecided, but 16 blocks
      in total would probably be enough; ?: undecided, and the number of blocks is
      unknown. !: a warning, or no verdict; see the phase.

    Open questions, all phases
      - Throughput of queue: undecided after 12 blocks; at this noise level, a
        verdict takes about 31 blocks.
    ");
}
