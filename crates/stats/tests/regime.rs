//! The regime monitor: how often it reports a change in runs without and with one, and that it does
//! not make false verdicts more likely. Short; the tables of docs/benchmarks.md are printed by
//! `cargo run --release -p iotax-stats --example regime`.

mod simulation;

use iotax_stats::design::Design;
use iotax_stats::sequential::Sequential;
use iotax_stats::stopping::Mode;
use iotax_stats::verdict::{Sign, Verdict};
use simulation::{Ended, Noise, Planted, blocks, differences, is_ever_reported, levels, rng, run};

/// The worst of the cells of the table: a little of each kind of noise.
const WORST: [Noise; 4] = [
    Noise { cov: 0.05, lag1: 0.25, spikes: 0.05 },
    Noise { cov: 0.1, lag1: 0.25, spikes: 0.05 },
    Noise { cov: 0.2, lag1: 0.5, spikes: 0.05 },
    Noise { cov: 0.4, lag1: 0.5, spikes: 0.0 },
];

fn procedure(mode: Mode) -> Sequential {
    Sequential::new(Design::default(), 0.05, 0.05, mode)
}

/// Three standard errors of a share of 5 % over `runs` runs.
fn room(runs: usize) -> f64 {
    3.0 * (0.05 * 0.95 / runs as f64).sqrt()
}

fn share(runs: usize, mut holds: impl FnMut(usize) -> bool) -> f64 {
    (0..runs).filter(|run| holds(*run)).count() as f64 / runs as f64
}

#[test]
fn runs_without_a_change_hear_of_one_in_at_most_five_of_a_hundred() {
    let runs = 400;
    for noise in WORST {
        let mut rng = rng(21);
        let alarms = share(runs, |_| {
            let run = blocks(noise, Planted::default(), 2, 40, &mut rng);
            is_ever_reported(&levels(&run)) || is_ever_reported(&differences(&run))
        });
        assert!(alarms <= 0.05 + room(runs), "{noise:?}: {alarms}");
    }
}

#[test]
fn short_noisy_runs_are_left_in_peace() {
    let noise = Noise { cov: 0.4, lag1: 0.5, spikes: 0.05 };
    let mut rng = rng(22);
    for count in [3, 5, 7] {
        let alarms = share(300, |_| {
            is_ever_reported(&levels(&blocks(noise, Planted::default(), 4, count, &mut rng)))
        });
        assert_eq!(alarms, 0.0, "{count} blocks");
    }
}

#[test]
fn a_level_that_halves_is_seen_in_all_arms_and_in_one() {
    let noise = Noise { cov: 0.1, lag1: 0.0, spikes: 0.0 };
    let halved = 2.0_f64.ln();
    let common = Planted { common: halved, common_from: 20, ..Planted::default() };
    let single = Planted { single: halved, single_from: 10, ..Planted::default() };
    let mut rng = rng(23);
    let mut seen = |planted, of: fn(&[Vec<f64>]) -> Vec<f64>| {
        share(200, |_| is_ever_reported(&of(&blocks(noise, planted, 2, 20, &mut rng))))
    };
    assert!(seen(common, levels) > 0.97);
    assert!(seen(single, differences) > 0.95);
    assert!(seen(common, differences) < 0.05, "what all share is not taken for one arm's");
}

fn signed(ended: &Ended, sign: Sign) -> bool {
    ended.decision.is_some_and(|d| d.verdict.is_signed() && d.sign == Some(sign))
}

/// A shift of all arms drops nothing and moves no verdict.
#[test]
fn a_common_shift_makes_no_verdict_about_equal_arms_likelier() {
    let (runs, procedure) = (1_000, procedure(Mode::Quick));
    let noise = Noise { cov: 0.1, lag1: 0.0, spikes: 0.0 };
    for step in [0.0, 0.5, 3.0_f64] {
        let mut rng = rng(24);
        let wrong = share(runs, |run_number| {
            // Within a block or between two of them.
            let common_from = 4 + run_number % 72;
            let planted = Planted { common: step.ln_1p(), common_from, ..Planted::default() };
            let ended = run(&procedure, &differences(&blocks(noise, planted, 2, 40, &mut rng)));
            signed(&ended, Sign::Slower) || signed(&ended, Sign::Faster)
        });
        assert!(wrong <= 0.05 + room(runs), "{step}: {wrong}");
    }
}

/// Arms that are equal since a change are not called different by the blocks since.
#[test]
fn what_was_before_a_change_of_one_arm_does_not_make_the_rest_differ() {
    let (runs, procedure) = (600, procedure(Mode::Tight));
    let noise = Noise { cov: 0.1, lag1: 0.0, spikes: 0.0 };
    for single_from in [4, 8, 14] {
        let mut rng = rng(25);
        let mut changed = 0;
        let wrong = share(runs, |_| {
            // Faster up to then by as much as is taken off since.
            let single = 2.0_f64.ln();
            let planted = Planted { single, single_from, tax: -single, ..Planted::default() };
            let ended = run(&procedure, &differences(&blocks(noise, planted, 2, 40, &mut rng)));
            changed += u32::from(ended.has_changed);
            ended.has_changed && (signed(&ended, Sign::Slower) || signed(&ended, Sign::Faster))
        });
        assert!(f64::from(changed) > 0.9 * runs as f64, "{single_from}: {changed}");
        assert!(wrong <= 0.05 + room(runs), "{single_from}: {wrong}");
    }
}

/// Nothing rests on the few blocks after a late change: looks that were used are not used again.
#[test]
fn nothing_is_concluded_from_what_a_late_change_left() {
    let procedure = procedure(Mode::Tight);
    let noise = Noise { cov: 0.02, lag1: 0.0, spikes: 0.0 };
    let mut rng = rng(26);
    for after in [3, 4, 5] {
        let planted = Planted { single: 0.7, single_from: 16 - after, ..Planted::default() };
        let ended = run(&procedure, &differences(&blocks(noise, planted, 2, 16, &mut rng)));
        assert!(ended.has_changed, "{after} blocks after it");
        let verdict = ended.decision.map(|decision| decision.verdict);
        assert!(verdict.is_none_or(|v| v == Verdict::Undecided), "{after}: {verdict:?}");
    }
}
