//! Trends of a level: how often noise alone is said to have one, and how often a fall is found.
//! Short; the table of docs/benchmarks.md is printed by
//! `cargo run --release -p iotax-stats --example trend`.

#[allow(dead_code, reason = "each program uses only part of the module")]
mod simulation;

use iotax_stats::trend::trend;
use simulation::{Noise, Planted, blocks, levels, rng};

/// Share of `runs` runs in which a trend is found.
fn found(noise: Noise, arms: usize, count: usize, fall: f64, runs: usize) -> f64 {
    let mut rng = rng(42);
    let hits = (0..runs).filter(|_| {
        let mut v = levels(&blocks(noise, Planted::default(), arms, count, &mut rng));
        for (i, value) in v.iter_mut().enumerate() {
            *value += fall * i as f64 / (count as f64 - 1.0);
        }
        trend(&v).is_some_and(|trend| trend.found)
    });
    hits.count() as f64 / runs as f64
}

#[test]
fn noise_alone_has_a_trend_in_at_most_five_runs_of_a_hundred() {
    let runs = 1_000;
    let room = 3.0 * (0.05 * 0.95 / runs as f64).sqrt();
    for arms in [1, 2] {
        for count in [8, 16, 40] {
            for cov in [0.05, 0.2, 0.4] {
                for spikes in [0.0, 0.05] {
                    let noise = Noise { cov, lag1: 0.5, spikes };
                    let alarms = found(noise, arms, count, 0.0, runs);
                    assert!(alarms <= 0.05 + room, "{noise:?} {arms} {count}: {alarms}");
                }
            }
        }
    }
}

#[test]
fn a_level_that_halves_bit_by_bit_is_found() {
    for (cov, count, least) in [(0.05, 8, 0.99), (0.1, 10, 0.9), (0.2, 16, 0.9), (0.4, 40, 0.85)] {
        let noise = Noise { cov, lag1: 0.0, spikes: 0.0 };
        let power = found(noise, 2, count, 0.5_f64.ln(), 500);
        assert!(power >= least, "{noise:?} {count}: {power}");
    }
}
