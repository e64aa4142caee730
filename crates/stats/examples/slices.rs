//! How often the differences of equal slices are called different, by how much they depend on each
//! other, and how many pairs that takes. Seeded.
//!
//! `cargo run --release -p iotax-stats --example slices [RUNS]`

#![expect(clippy::print_stdout, reason = "this program prints its results")]

use iotax_stats::design::Design;
use iotax_stats::sequential::{Decision, Sequential};
use iotax_stats::stopping::Mode;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Pairs at most: ten minutes of slices of 100 ms.
const MOST: usize = 2_560;

fn main() {
    let runs =
        std::env::args().nth(1).map_or(2_000_usize, |runs| runs.parse().expect("a number of runs"));
    println!(
        "Percentage of {runs} comparisons of equal arms that report a difference, and the mean"
    );
    println!("number of pairs\n");
    println!("| noise of a difference, lag-1 correlation | `--quick` | default |");
    println!("|---|---|---|");
    for sd in [0.05, 0.2] {
        for rho in [0.0, 0.3, 0.6] {
            let [quick, usual] = [Mode::Quick, Mode::Default].map(|mode| cell(mode, sd, rho, runs));
            println!("| {:.0} %, {rho} | {quick} | {usual} |", 100.0 * sd);
        }
    }
}

fn cell(mode: Mode, sd: f64, rho: f64, runs: usize) -> String {
    let procedure = Sequential::new(Design::of_slices(MOST), 0.05, 0.05, mode);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    let (mut signed, mut pairs) = (0, 0);
    for _ in 0..runs {
        let ended = run(&procedure, sd, rho, &mut rng);
        signed += usize::from(ended.verdict.is_signed());
        pairs += ended.blocks;
    }
    let share = 100.0 * signed as f64 / runs as f64;
    format!("{share:.1} %, {:.0}", pairs as f64 / runs as f64)
}

/// To its end.
fn run(procedure: &Sequential, sd: f64, rho: f64, rng: &mut Xoshiro256PlusPlus) -> Decision {
    let mut state: f64 = StandardNormal.sample(rng);
    let mut d = Vec::new();
    loop {
        d.push(sd * state);
        let z: f64 = StandardNormal.sample(rng);
        state = rho * state + (1.0 - rho * rho).sqrt() * z;
        if let Some(decision) = procedure.decide(&d)
            && decision.stop.is_some()
        {
            return decision;
        }
    }
}
