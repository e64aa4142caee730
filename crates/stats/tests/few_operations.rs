//! Rules about a percentile from few operations: how often they pass wrongly, and rightly. Short;
//! the table of docs/method.md is printed by
//! `cargo run --release -p iotax-stats --example few_operations`.

#[path = "simulation/few.rs"]
mod few;
#[allow(dead_code, reason = "each program uses its part")]
mod simulation;

use few::Stalls;
use iotax_stats::design::Design;
use iotax_stats::tail::{Exceedances, most_beyond};
use simulation::rng;

const RUNS: u32 = 200;

fn passed(trial_ms: f64, late: f64, run: u32, spread: f64) -> usize {
    let mut rng = rng(7);
    let stalls = Stalls { trial_ms, late, run, spread };
    (0..RUNS).filter(|_| stalls.passes(&mut rng).is_some()).count()
}

#[test]
fn a_percentile_just_above_its_limit_passes_in_at_most_one_of_twenty_runs() {
    for trial_ms in [300.0, 1_000.0] {
        for (run, spread) in [(1, 0.0), (10, 0.0), (10, 0.5)] {
            let wrong = passed(trial_ms, 0.0101, run, spread);
            assert!(wrong <= 10, "{trial_ms} ms, {run} in a row, {spread}: {wrong} of {RUNS}");
        }
    }
}

#[test]
fn a_percentile_far_below_its_limit_passes() {
    assert_eq!(passed(300.0, 0.0, 1, 0.0), RUNS as usize);
    assert_eq!(passed(300.0, 0.001, 1, 0.0), RUNS as usize);
    assert!(passed(300.0, 0.001, 10, 0.0) > 180);
}

#[test]
fn the_bound_is_that_of_a_poisson_count_of_stalls_or_of_the_mean_share() {
    let design = Design::with_max_blocks(40);
    let bound = |trials: &[Exceedances], in_flight| most_beyond(trials, in_flight, design, 0.05);
    let trials = |beyond: u64| [Exceedances { beyond, operations: 1_000 }; 5];
    // exp(-x) is the level: one look's share of 5 %, one-sided.
    let level = design.nominal_level(0.1) / 2.0;
    let none = -level.ln() * 10.0 / 5_000.0;
    // docs/method.md has this number of operations.
    assert_eq!((none * 5_000.0 / 0.01).round(), 4_799.0);
    assert!((bound(&trials(0), 1) / none - 1.0).abs() < 1e-6);
    assert!((bound(&trials(0), 2) / (2.0 * none) - 1.0).abs() < 1e-6, "twice as many at once");
    // Ten stalls of ten each: the upper bound of a count of ten, of 500.
    let ten = bound(&trials(20), 1);
    assert!(ten > 10.0 / 500.0 && ten < 25.0 / 500.0, "{ten}");
    // One trial has all of them: the mean says more than the count.
    let mut uneven = trials(0);
    uneven[3].beyond = 100;
    assert!(bound(&uneven, 1) > 2.0 * ten, "{}", bound(&uneven, 1));
    // Trials that differ by more than stalls of ten explain have longer ones.
    let counts = [0, 60, 0, 0, 60, 0, 0, 60];
    let uneven = counts.map(|beyond| Exceedances { beyond, operations: 10_000 });
    let even = [Exceedances { beyond: 22, operations: 10_000 }; 8];
    assert!(bound(&uneven, 1) > 1.5 * bound(&even, 1), "{}", bound(&uneven, 1));
    assert_eq!(bound(&[], 1), 1.0);
    assert_eq!(bound(&[Exceedances { beyond: 0, operations: 3 }], 1), 1.0);
}
