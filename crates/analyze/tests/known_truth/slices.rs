//! Trials that are slices, in noise as disks and network paths had it, and in noise that was made
//! up: of windows of 50 ms that are independent or have a lag-1 autocorrelation of .6, and of whole
//! slices.

use iotax_analyze::Verdict;
use iotax_experiment::StopMode::{self, Default as Usual, Quick, Tight};

use crate::play::{Came, Scenario, Tally, Weather};
use crate::recordings::Recording;

/// Of each kind of noise; what is asserted of all together is asserted of hundreds.
const RUNS: u32 = 24;
/// In the tests that take an hour.
const MANY_RUNS: u32 = 1000;
/// Error rate of the verdicts, and of the intervals.
const ALPHA: f64 = 0.05;

/// Standard deviation of its windows, as a share of their mean.
fn variation(recording: &Recording) -> f64 {
    let relative = |at| recording.iops(at, 1) / recording.mean_iops() - 1.0;
    let squares: f64 = (0..recording.windows()).map(relative).map(|x| x * x).sum();
    (squares / recording.windows() as f64).sqrt()
}

/// Of how many runs more come less than once in a thousand where the true share is `share`: what a
/// count may be where the share may. By the binomial distribution.
fn most(runs: u32, share: f64) -> u32 {
    let mut probability = (1.0 - share).powf(f64::from(runs));
    let mut beyond = 1.0 - probability;
    let mut count = 0;
    while beyond > 0.001 {
        let (left, next) = (f64::from(runs - count), f64::from(count + 1));
        probability *= left / next * share / (1.0 - share);
        beyond -= probability;
        count += 1;
    }
    count
}

/// That so few of some runs of each kind, and of all of them, `are` what they should not be.
fn are_few(tallies: &[Tally], runs: u32, what: &str, are: impl Fn(&Came) -> bool) {
    let counts: Vec<u32> = tallies.iter().map(|tally| tally.count(&are)).collect();
    let all = runs * u32::try_from(counts.len()).unwrap();
    assert!(counts.iter().all(|count| *count <= most(runs, ALPHA)), "{what}: {counts:?} of {runs}");
    let sum: u32 = counts.iter().sum();
    assert!(sum <= most(all, ALPHA), "{what}: {counts:?}, {sum} of {all}");
}

/// Runs of equal arms of all kinds of noise, which end after so many seconds at the latest.
fn equal_arms(mode: StopMode, runs: u32, most_seconds: Option<u32>) {
    let play = |scenario| Scenario { most_seconds, ..scenario }.tally(runs);
    let tallies: Vec<Tally> = Scenario::in_slices(mode).into_iter().map(play).collect();
    are_few(&tallies, runs, "called different", |came| came.signed);
    are_few(&tallies, runs, "different in some measure", |came| came.any_signed);
    are_few(&tallies, runs, "beside the interval", |came| came.missed);
    are_few(&tallies, runs, "beside the interval of the median", |came| came.typical_missed);
    are_few(&tallies, runs, "said not to be like longer trials", |came| came.gave_up);
}

fn planted(mode: StopMode, runs: u32, tax: f64, scenarios: Vec<Scenario>) -> Vec<Tally> {
    let play = |scenario| Scenario { tax, ..scenario }.tally(runs);
    let tallies: Vec<Tally> = scenarios.into_iter().map(play).collect();
    let what = format!("beside the interval with {tax} in {mode:?} mode");
    are_few(&tallies, runs, &what, |came| came.missed);
    are_few(&tallies, runs, &what, |came| came.typical_missed);
    are_few(&tallies, runs, "called faster", |came| came.verdict == Verdict::Faster);
    tallies
}

#[test]
fn equal_arms_are_rarely_called_different_in_slices() {
    equal_arms(Quick, RUNS, Some(60));
    equal_arms(Usual, RUNS, Some(30));
}

/// In all slices, or in most where rare ones hide it.
fn is_not_found(came: &Came) -> bool {
    came.verdict != Verdict::Slower && came.in_most != Verdict::Slower
}

#[test]
fn a_tenth_is_found_on_busy_disks() {
    let scenarios = Scenario::in_slices(Quick);
    let tallies = planted(Quick, RUNS, 0.1, scenarios.clone());
    are_few(&tallies, RUNS, "not found", is_not_found);
    for (scenario, tally) in scenarios.iter().zip(&tallies) {
        let Weather::Recorded(recording) = scenario.weather else { continue };
        let seconds = tally.median(|came| came.seconds);
        let most = if variation(recording) < 1.0 { 60.0 } else { 180.0 };
        assert!(seconds < most, "{recording:?}: {seconds} s");
    }
}

#[test]
fn intervals_hold_what_was_planted() {
    for (tax, mode) in [(0.02, Quick), (0.05, Usual), (0.2, Usual), (0.5, Tight)] {
        let short = |scenario| Scenario { most_seconds: Some(30), ..scenario };
        planted(mode, RUNS, tax, Scenario::in_slices(mode).into_iter().map(short).collect());
    }
}

#[test]
#[ignore = "takes an hour"]
fn thousands_of_equal_arms_are_rarely_called_different_in_slices() {
    for mode in [Quick, Usual] {
        equal_arms(mode, MANY_RUNS, None);
    }
    equal_arms(Tight, MANY_RUNS / 10, None);
}

#[test]
#[ignore = "takes an hour"]
fn of_thousands_a_tenth_is_found_and_intervals_hold_what_was_planted() {
    for (mode, runs) in [(Quick, MANY_RUNS), (Usual, MANY_RUNS), (Tight, MANY_RUNS / 10)] {
        for tax in [0.02, 0.05, 0.1, 0.2, 0.5] {
            let tallies = planted(mode, runs, tax, Scenario::in_slices(mode));
            if tax >= 0.1 {
                are_few(&tallies, runs, "not found", is_not_found);
            }
        }
    }
}
