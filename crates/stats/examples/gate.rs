//! Prints the table of docs/benchmarks.md about simulated gates: how often `slower by 5%` is
//! broken, kept or undecided at a known tax. A run ends at the first look that decides. Seeded.
//!
//! `cargo run --release -p iotax-stats --example gate [RUNS]`

#![expect(clippy::print_stdout, reason = "this program prints its results")]

use iotax_stats::design::Design;
use iotax_stats::gate::{Outcome, bounds};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const MARGIN: f64 = 0.05;

fn main() {
    let runs =
        std::env::args().nth(1).map_or(4_000_usize, |runs| runs.parse().expect("a number of runs"));
    println!(
        "Percentage of {runs} gates that fail / pass / stay undecided, and the median number of"
    );
    println!("blocks in decided gates\n");
    println!(
        "| variation between trials, maximum blocks | true tax 0 % | true tax 5 % | true tax 10 % | true tax 20 % |"
    );
    println!("|---|---|---|---|---|");
    for (cov, most) in [(0.05, 10), (0.05, 40), (0.1, 10), (0.1, 40), (0.2, 40)] {
        let cells = [0.0, 0.05, 0.1, 0.2].map(|tax| cell(runs, cov, most, tax));
        println!("| {:.0} %, {most} | {} |", 100.0 * cov, cells.join(" | "));
    }
}

fn cell(runs: usize, cov: f64, most: usize, tax: f64) -> String {
    let design = Design::with_max_blocks(most);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let (mut broken, mut kept, mut blocks) = (0, 0, Vec::new());
    for _ in 0..runs {
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        // Both arms vary alike.
        let d: Vec<f64> = (0..most).map(|_| (-tax).ln_1p() + cov * (normal() - normal())).collect();
        let word = design.looks().iter().find_map(|look| {
            let outcome = Outcome::of(&bounds(&d[..*look], design, 0.05)?.to_tax(), MARGIN);
            (outcome != Outcome::Undecided).then_some((outcome, *look))
        });
        if let Some((outcome, look)) = word {
            *(if outcome == Outcome::Fail { &mut broken } else { &mut kept }) += 1;
            blocks.push(look);
        }
    }
    blocks.sort_unstable();
    let percent = |count: usize| 100.0 * count as f64 / runs as f64;
    let undecided = percent(runs - broken - kept);
    let median = blocks.get(blocks.len() / 2).map_or_else(String::new, |n| format!("; {n}"));
    format!("{:.1} / {:.1} / {undecided:.1}{median}", percent(broken), percent(kept))
}
