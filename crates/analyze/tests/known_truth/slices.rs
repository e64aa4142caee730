//! Trials that are slices, in noise as disks and network paths had it, and in noise that was made up: of
//! windows of 50 ms that are independent or have a lag-1 autocorrelation of .6, and of whole slices.

use iotax_analyze::Verdict;
use iotax_experiment::StopMode::{self, Default as Usual, Quick, Tight};

use crate::noise::Noise;
use crate::play::{Came, Scenario, Tally, most};
use crate::recordings::Recording;

/// Of each kind of noise; what is asserted of all together is asserted of hundreds.
const RUNS: u32 = 24;
/// In the tests that take an hour.
const MANY_RUNS: u32 = 1000;
/// Error rate of the verdicts, and of the intervals.
const ALPHA: f64 = 0.05;

fn scenarios(mode: StopMode) -> Vec<Scenario> {
    let recorded = Recording::all().iter().chain(Recording::made());
    let own = [0.0, 0.6].map(|lag| Scenario::sliced(mode, Noise { lag, ..Noise::white(0.2) }));
    recorded.map(|recording| Scenario::recorded(mode, recording)).chain(own).collect()
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
    let tallies: Vec<Tally> = scenarios(mode).into_iter().map(play).collect();
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

#[test]
fn a_tenth_is_found_on_busy_disks() {
    let tallies = planted(Quick, RUNS, 0.1, scenarios(Quick));
    are_few(&tallies, RUNS, "not found", |came| came.verdict != Verdict::Slower);
}

#[test]
fn intervals_hold_what_was_planted() {
    for (tax, mode) in [(0.02, Quick), (0.05, Usual), (0.2, Usual), (0.5, Tight)] {
        let short = |scenario| Scenario { most_seconds: Some(30), ..scenario };
        planted(mode, RUNS, tax, scenarios(mode).into_iter().map(short).collect());
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
            let tallies = planted(mode, runs, tax, scenarios(mode));
            if tax >= 0.1 {
                are_few(&tallies, runs, "not found", |came| came.verdict != Verdict::Slower);
            }
        }
    }
}

#[test]
#[ignore = "probe"]
fn probe() {
    let only = std::env::var("REC").unwrap();
    let runs: u32 = std::env::var("RUNS").unwrap().parse().unwrap();
    let taxes: Vec<f64> =
        std::env::var("TAX").unwrap().split(',').map(|t| t.parse().unwrap()).collect();
    let limit: Option<u32> = std::env::var("SECS").ok().map(|t| t.parse().unwrap());
    let modes = std::env::var("MODE").unwrap();
    for mode in [Quick, Usual, Tight] {
        if !modes.contains(&format!("{mode:?}")) {
            continue;
        }
        for s in scenarios(mode) {
            let name = format!("{:?}", s.weather);
            if !only.split(',').any(|o| name.contains(o)) {
                continue;
            }
            for &tax in &taxes {
                let t = std::time::Instant::now();
                let tally = Scenario { tax, most_seconds: limit, ..s.clone() }.tally(runs);
                println!(
                    "{:40} {:?} {mode:?} {tax}: signed {} any {} typ {} missed {} tmissed {} equiv {} slower {} und {} ni {} ch {} gaveup {} blocks {} median {:.1} s  ({:.1} s)",
                    name,
                    s.times.time_ns / 1000000,
                    tally.count(|c| c.signed),
                    tally.count(|c| c.any_signed),
                    tally.count(|c| c.typical_signed),
                    tally.count(|c| c.missed),
                    tally.count(|c| c.typical_missed),
                    tally.called(Verdict::Equivalent),
                    tally.called(Verdict::Slower),
                    tally.called(Verdict::Undecided),
                    tally.called(Verdict::NotIndependent),
                    tally.called(Verdict::EffectChanged),
                    tally.count(|c| c.gave_up),
                    tally.median(|c| f64::from(c.blocks)),
                    tally.median(|c| c.seconds),
                    t.elapsed().as_secs_f64()
                );
            }
        }
    }
}
