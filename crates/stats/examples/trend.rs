//! Prints the table of docs/benchmarks.md about trends: false alarms and power. Seeded.
//!
//! `cargo run --release -p iotax-stats --example trend [RUNS]`

#![expect(clippy::print_stdout, reason = "this program prints its results")]

#[path = "../tests/simulation/mod.rs"]
#[allow(dead_code, reason = "each program uses only part of the module")]
mod simulation;

use iotax_stats::trend::trend;
use simulation::{Noise, Planted, blocks, levels, rng};

const BLOCKS: [usize; 5] = [8, 10, 16, 25, 40];

fn main() {
    let runs =
        std::env::args().nth(1).map_or(4_000, |runs| runs.parse().expect("a number of runs"));
    println!(
        "Percentage of {runs} runs that report a trend. Worst case: the highest percentage for 1"
    );
    println!(
        "and 2 arms, CoV 5 to 40 %, lag-1 correlation 0, .25 and .5, with and without spikes (5 %"
    );
    println!("of trials run at 1/2 to 1/5 of their normal speed)\n");
    println!(
        "| throughput during the run | 8 blocks | 10 | 16 | 25 | 40 |\n|---|---|---|---|---|---|"
    );
    println!(
        "| stays constant, worst case | {} |",
        BLOCKS.map(|count| worst_false_alarm(count, runs)).join(" | ")
    );
    let falls = [
        ("falls linearly by 30 %", 0.7_f64, false),
        ("falls linearly by 50 %", 0.5, false),
        ("falls by 75 %, at a decreasing rate", 0.25, true),
    ];
    let noises = [
        ("CoV 5 %", Noise { cov: 0.05, lag1: 0.0, spikes: 0.0 }),
        ("CoV 20 %", Noise { cov: 0.2, lag1: 0.0, spikes: 0.0 }),
        ("CoV 20 %, spikes, lag-1 .25", Noise { cov: 0.2, lag1: 0.25, spikes: 0.05 }),
        ("CoV 40 %", Noise { cov: 0.4, lag1: 0.0, spikes: 0.0 }),
    ];
    for (fall, share, slows) in falls {
        for (name, noise) in noises {
            let cells = BLOCKS.map(|count| power(noise, (share.ln(), slows), count, runs / 4));
            println!("| {fall}, {name} | {} |", cells.join(" | "));
        }
    }
}

/// Per cent of runs in which a trend is found.
fn found(noise: Noise, arms: usize, count: usize, runs: usize, level: impl Fn(f64) -> f64) -> f64 {
    let mut rng = rng(41);
    let hits = (0..runs).filter(|_| {
        let mut v = levels(&blocks(noise, Planted::default(), arms, count, &mut rng));
        for (i, value) in v.iter_mut().enumerate() {
            *value += level(i as f64 / (count as f64 - 1.0));
        }
        trend(&v).is_some_and(|trend| trend.found)
    });
    100.0 * hits.count() as f64 / runs as f64
}

fn worst_false_alarm(count: usize, runs: usize) -> String {
    let mut worst = 0.0_f64;
    for arms in [1, 2] {
        for cov in [0.05, 0.1, 0.2, 0.4] {
            for lag1 in [0.0, 0.25, 0.5] {
                for spikes in [0.0, 0.05] {
                    let noise = Noise { cov, lag1, spikes };
                    worst = worst.max(found(noise, arms, count, runs, |_| 0.0));
                }
            }
        }
    }
    format!("{worst:.1}")
}

fn power(noise: Noise, (fall, slows): (f64, bool), count: usize, runs: usize) -> String {
    let level = |x: f64| if slows { fall * (1.0 - (-3.0 * x).exp()) } else { fall * x };
    format!("{:.0}", found(noise, 2, count, runs, level))
}
