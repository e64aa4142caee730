//! Prints the table of docs/method.md about percentiles from few operations: how often a rule
//! passes wrongly, and rightly. Seeded.
//!
//! `cargo run --release -p iotax-stats --example few_operations [RUNS]`

#![expect(clippy::print_stdout, reason = "a program that prints what it simulated")]

#[path = "../tests/simulation/few.rs"]
mod few;
#[path = "../tests/simulation/mod.rs"]
#[allow(dead_code, reason = "each program uses its part")]
mod simulation;

use few::Stalls;
use simulation::rng;

fn main() {
    let runs =
        std::env::args().nth(1).map_or(1_000, |runs| runs.parse().expect("a number of runs"));
    println!(
        "Percentage of {runs} runs in which `p99 > 10ms` passes, and their mean number of trials\n"
    );
    println!(
        "| late operations | consecutive late operations | SD of log(share of late operations) | 0.3 s trials | 1 s trials | 3 s trials |"
    );
    println!("|---|---|---|---|---|---|");
    for late in [0.0101, 0.003, 0.001, 0.0] {
        for (run, spread) in [(1, 0.0), (10, 0.0), (100, 0.0), (10, 0.5), (10, 1.0)] {
            if late == 0.0 && (run, spread) != (1, 0.0) {
                continue;
            }
            let cells = [300.0, 1_000.0, 3_000.0].map(|trial_ms| {
                let mut rng = rng(7);
                let stalls = Stalls { trial_ms, late, run, spread };
                let passed: Vec<usize> =
                    (0..runs).filter_map(|_| stalls.passes(&mut rng)).collect();
                let share = 100.0 * passed.len() as f64 / f64::from(runs);
                let trials = passed.iter().sum::<usize>() as f64 / passed.len() as f64;
                if passed.is_empty() { "0.0".into() } else { format!("{share:.1}, {trials:.1}") }
            });
            println!("| {:.2} % | {run} | {spread} | {} |", 100.0 * late, cells.join(" | "));
        }
    }
}
