//! Effects below and above a factor of two, in every format.

mod common;

use common::{analyses, html, markdown, text};
use iotax_report::Style;

#[test]
fn effects_on_a_terminal() {
    let shown = text(&common::compare(), &analyses::factors(), Style::default());
    let shown = shown.split("\nArms").next().unwrap();
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    insta::assert_snapshot!(shown, @"
    randread-4k: 12 blocks, 60 trials in 5 min 40 s

      queue is 28x faster [6.4, 120] than base in throughput.
      luks is 7.1x slower [3.4, 14] than base in throughput.
      Undecided: cap measured 4.0x slower [1.2x faster, 20x slower] than base in
      throughput.
      same and base are equivalent: throughput differs by less than 5 % (1.2 %
      slower [0.4, 2.0]).
      Stopped: every arm has a verdict, precise enough. Switching between arms took
      2 s (0.4 %).

    Tax
      arm    metric                            effect [95 % CI]   n  verdict
      luks   throughput                   7.1x slower [3.4, 14]  12  slower
      luks   CPU per I/O                   2.5x more [2.3, 2.7]  12  slower
      queue  throughput                   28x faster [6.4, 120]  12  faster
      queue  CPU per I/O        2.2x more [25x less, 114x more]  12  undecided
      cap    throughput   4.0x slower [1.2x faster, 20x slower]  12  undecided
      same   throughput                 1.2 % slower [0.4, 2.0]  12  equivalent
      95 % confidence intervals, each valid individually, no matter when the run
      stopped; n: number of blocks; results that differ by less than 5 % count as
      equal.
    ");
}

#[test]
fn effects_in_markdown() {
    let shown = markdown(&common::compare(), &analyses::factors());
    let table = shown.split("### Tax\n\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    insta::assert_snapshot!(table.unwrap(), @"
    | arm | metric | effect [95 % CI] | n | verdict |
    | --- | --- | ---: | ---: | --- |
    | luks | throughput | 7.1x slower [3.4, 14] | 12 | slower |
    | luks | CPU per I/O | 2.5x more [2.3, 2.7] | 12 | slower |
    | queue | throughput | 28x faster [6.4, 120] | 12 | faster |
    | queue | CPU per I/O | 2.2x more [25x less, 114x more] | 12 | undecided |
    | cap | throughput | 4.0x slower [1.2x faster, 20x slower] | 12 | undecided |
    | same | throughput | 1.2 % slower [0.4, 2.0] | 12 | equivalent |
    ");
}

#[test]
fn effects_on_a_page() {
    let page = html(&common::compare(), &analyses::factors());
    for text in [
        "28x\u{a0}faster\u{a0}[6.4,\u{a0}120]",
        ">28x faster [6.4, 120]</td>",
        "data-head=\"effect\"",
        "\"axis\":\"throughput ratio\"",
        "\"ways\":[\"less\",\"more\"]",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn a_layer_says_its_factor_once() {
    let (experiment, mut analysis) = (common::peel(), analyses::peel());
    for comparison in analysis.comparisons.iter_mut().filter(|c| c.metric.adds_up()) {
        (comparison.tax, comparison.lo, comparison.hi) = (Some(0.6), Some(0.5), Some(0.7));
    }
    let shown = text(&experiment, &analysis, Style::default());
    insta::assert_snapshot!(shown.lines().skip(2).take(3).collect::<Vec<_>>().join("\n"), @"
    The layers together make the stack 2.5x slower [2.0, 3.3] in throughput.
    By layer: aes 2.5x slower [2.0, 3.3]; aes#2 2.5x slower [2.0, 3.3].
    Stopped: every arm has a verdict, precise enough. Switching between arms took
    ");
}
