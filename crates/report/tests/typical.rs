//! What the first sentence says of the median operation, or of most slices, beside the primary
//! metric.

mod common;

use common::analyses::{self, comparison, of_arm};
use iotax_analyze::{Analysis, Metric, Verdict};
use iotax_experiment::{Job, Subject};
use iotax_record::ExperimentHead;
use iotax_wording::verdict::verdict;

const NOISY: ([f64; 3], Verdict) = ([0.04, -0.2, 0.28], Verdict::Undecided);
const LONGER: ([f64; 3], Verdict) = ([0.3, 0.29, 0.31], Verdict::Slower);
const SHORTER: ([f64; 3], Verdict) = ([-0.2, -0.22, -0.18], Verdict::Faster);
const AS_LONG: ([f64; 3], Verdict) = ([0.01, -0.01, 0.03], Verdict::Equivalent);
const SLOWER: ([f64; 3], Verdict) = ([0.1, 0.08, 0.12], Verdict::Slower);

type Found = ([f64; 3], Verdict);

fn compared(metric: Metric, primary: Found, typical: Found) -> Analysis {
    let of =
        |metric, (interval, verdict): Found| of_arm("luks", comparison(metric, interval, verdict));
    Analysis {
        comparisons: vec![of(metric, primary), of(Metric::P50, typical)],
        ..analyses::compare()
    }
}

fn first(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    verdict(experiment, analysis).swap_remove(0)
}

fn said(primary: Found, typical: Found) -> String {
    first(&common::compare(), &compared(Metric::Throughput, primary, typical))
}

#[test]
fn what_throughput_is_too_noisy_to_say_the_median_says() {
    insta::assert_snapshot!(said(NOISY, LONGER), @"The typical read takes 30 % longer [29, 31] on luks than on base; throughput is too noisy for a verdict.");
    insta::assert_snapshot!(said(NOISY, SHORTER), @"The typical read takes 20 % less time [18, 22] on luks than on base; throughput is too noisy for a verdict.");
    insta::assert_snapshot!(said(NOISY, AS_LONG), @"The typical read takes as long on luks as on base (1 % longer [−1, 3]); throughput is too noisy for a verdict.");
    let neither = said(NOISY, NOISY);
    assert!(neither.starts_with("Undecided: luks measured "), "{neither}");
}

#[test]
fn what_rare_slices_hide_most_of_them_say() {
    let said = |primary: Found, most: Found| {
        let mut analysis = compared(Metric::Throughput, primary, NOISY);
        let most = comparison(Metric::TrimmedThroughput, most.0, most.1);
        analysis.comparisons.push(of_arm("luks", most));
        first(&common::compare(), &analysis)
    };
    insta::assert_snapshot!(said(NOISY, SLOWER), @"Most slices are 10 % slower [8, 12] on luks than on base; throughput is too noisy for a verdict.");
    insta::assert_snapshot!(said(NOISY, AS_LONG), @"Most slices are as fast on luks as on base (1 % slower [−1, 3]); throughput is too noisy for a verdict.");
    insta::assert_snapshot!(said(LONGER, SLOWER), @"luks is 30 % slower [29, 31] than base in throughput, though most slices are 10 % slower [8, 12]: a few slices cause the rest of the difference.");
    insta::assert_snapshot!(said(SLOWER, SHORTER), @"luks is 10 % slower [8, 12] than base in throughput, though most slices are 20 % faster [18, 22]: a few slices cause the difference.");
    insta::assert_snapshot!(said(AS_LONG, SLOWER), @"luks and base are equivalent: throughput differs by less than 5 % (1 % slower [−1, 3]), though most slices are 10 % slower [8, 12].");
}

#[test]
fn an_interval_without_zero_is_undecided_for_another_reason_than_noise() {
    let taken_back = said((SLOWER.0, Verdict::Undecided), LONGER);
    assert!(taken_back.starts_with("Undecided: luks measured "), "{taken_back}");
}

#[test]
fn what_both_say_is_said_once() {
    assert_eq!(said(SLOWER, LONGER), "luks is 10 % slower [8, 12] than base in throughput.");
    assert_eq!(said(SLOWER, NOISY), said(SLOWER, LONGER));
    assert_eq!(said(SLOWER, AS_LONG), said(SLOWER, LONGER));
}

#[test]
fn where_they_go_opposite_ways_the_slow_operations_carry_the_difference() {
    insta::assert_snapshot!(said(SLOWER, SHORTER), @"luks is 10 % slower [8, 12] than base in throughput, though the typical read takes 20 % less time [18, 22]: slow operations cause the difference.");
    insta::assert_snapshot!(said(SHORTER, LONGER), @"luks is 20 % faster [18, 22] than base in throughput, though the typical read takes 30 % longer [29, 31]: slow operations cause the difference.");
    insta::assert_snapshot!(said(AS_LONG, LONGER), @"luks and base are equivalent: throughput differs by less than 5 % (1 % slower [−1, 3]), though the typical read takes 30 % longer [29, 31].");
}

#[test]
fn it_is_called_what_the_job_does() {
    let noun = |change: fn(&mut Job)| {
        let mut experiment = common::compare();
        experiment.spec = experiment.spec.with(|spec| change(&mut spec.phases[0].jobs[0]));
        let sentence = first(&experiment, &compared(Metric::SyncLatency, NOISY, LONGER));
        let (noun, rest) = sentence.strip_prefix("The typical ").unwrap().split_once(' ').unwrap();
        assert!(rest.ends_with("; sync latency is too noisy for a verdict."), "{rest}");
        noun.to_owned()
    };
    assert_eq!(noun(|_| {}), "read");
    assert_eq!(noun(|job| job.read_percent = 30), "write");
    assert_eq!(noun(|job| job.read_percent = 50), "operation");
    assert_eq!(noun(|job| (job.read_percent, job.fsync_every) = (0, Some(1))), "sync");
    assert_eq!(noun(|job| job.engine = iotax_experiment::Engine::TcpRr), "request");
}

fn of_layers(metric: Metric) -> String {
    let mut analysis = analyses::peel();
    for subject in [Subject::Layer("aes".to_owned()), Subject::Total] {
        let at =
            analysis.comparisons.iter().position(|c| c.subject == subject).expect("it is compared");
        let primary = &mut analysis.comparisons[at];
        primary.verdict = Verdict::Undecided;
        let mut typical = primary.clone();
        (typical.metric, typical.verdict) = (metric, Verdict::Slower);
        primary.lo = Some(-0.2);
        analysis.comparisons.insert(at + 1, typical);
    }
    verdict(&common::peel(), &analysis)[..2].join("\n")
}

#[test]
fn layers_that_are_too_noisy_in_throughput_are_said_in_the_median_or_most_slices() {
    insta::assert_snapshot!(of_layers(Metric::TrimmedThroughput), @"
    Most slices are 24 % slower [23, 25] with all layers than without; throughput is too noisy for a verdict.
    By layer: aes: most slices are 13 % slower [11, 15], but throughput is too noisy for a verdict; aes#2 13 % slower [11, 15].
    ");
    let sentences = of_layers(Metric::P50);
    insta::assert_snapshot!(sentences, @"
    The typical read takes 24 % longer [23, 25] with all layers than without; throughput is too noisy for a verdict.
    By layer: aes: the typical read takes 13 % longer [11, 15], but throughput is too noisy for a verdict; aes#2 13 % slower [11, 15].
    ");
}

#[test]
fn no_trial_lost_is_called_noise() {
    let mut analysis = compared(Metric::Throughput, NOISY, LONGER);
    analysis.comparisons[0].missing =
        Some(iotax_analyze::Missing { arm: 6, of_arm: 9, base: 0, of_base: 9, decides: true });
    let sentence = first(&common::compare(), &analysis);
    assert!(sentence.contains("6 of 9 trials of luks gave no result"), "{sentence}");
}
