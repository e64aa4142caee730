//! Prints the table of docs/benchmarks.md about one slow arm of many: how often it is named, and
//! how often any arm is if all are healthy, in simulated fleets. Seeded.
//!
//! `cargo run --release -p iotax-stats --example fleet [RUNS]`

#![expect(clippy::print_stdout, reason = "this program prints its results")]

use iotax_stats::fleet::{Fleet, Probes};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const RATE: f64 = 0.05;
/// Standard deviation of healthy arms.
const SPREAD: f64 = 0.02;

fn main() {
    let runs =
        std::env::args().nth(1).map_or(1_000_usize, |runs| runs.parse().expect("a number of runs"));
    println!(
        "| arms, trials per arm | trials vary by | any arm flagged when none is slow | slow arm flagged when 10 % slower | 20 % slower | 30 % slower |"
    );
    println!("|---|---|---|---|---|---|");
    for (arms, probes) in [(20, 4), (20, 8), (50, 8), (200, 8)] {
        for cov in [0.05, 0.1, 0.2] {
            let cell = |tax: f64| share(runs, arms, probes, cov, tax);
            let [none, ten, twenty, thirty] = [0.0, 0.1, 0.2, 0.3].map(cell);
            println!(
                "| {arms}, {probes} | {:.0} % | {none:.1} % | {ten:.0} % | {twenty:.0} % | {thirty:.0} % |",
                100.0 * cov
            );
        }
    }
}

/// Percent of the fleets in which the first arm, slow by `tax`, is named; without one, in which any
/// is.
fn share(runs: usize, arms: usize, probes: usize, cov: f64, tax: f64) -> f64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let named = (0..runs).filter(|_| {
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let nodes: Vec<Probes> = (0..arms)
            .map(|arm| {
                let slow = if arm == 0 { (-tax).ln_1p() } else { 0.0 };
                let own = SPREAD * normal() + slow;
                let values: Vec<f64> = (0..probes).map(|_| own + cov * normal()).collect();
                Probes::of(&values).expect("several")
            })
            .collect();
        let fleet = Fleet::of(&nodes, RATE).expect("enough arms");
        if tax > 0.0 { fleet.nodes[0].is_slow } else { fleet.nodes.iter().any(|node| node.is_slow) }
    });
    100.0 * named.count() as f64 / runs as f64
}
