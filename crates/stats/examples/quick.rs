//! Prints the table of docs/benchmarks.md about quick runs on dependent blocks: to the first
//! verdict, and to the first that also holds for dependent blocks. Seeded.
//!
//! `cargo run --release -p iotax-stats --example quick [RUNS]`

#![expect(clippy::print_stdout, reason = "this program prints its results")]

use iotax_stats::design::Design;
use iotax_stats::sequential::{Decision, Sequential};
use iotax_stats::stopping::Mode;
use iotax_stats::verdict::Verdict;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

fn main() {
    let runs =
        std::env::args().nth(1).map_or(5_000_usize, |runs| runs.parse().expect("a number of runs"));
    let procedure = Sequential::new(Design::default(), 0.05, 0.05, Mode::Quick);
    println!(
        "Percentage of {runs} quick runs that report a difference, and the mean number of blocks\n"
    );
    println!("| block-to-block noise, tax, lag-1 correlation | without guard | with guard |");
    println!("|---|---|---|");
    for (sd, tax, rho) in [
        (0.14, 0.0, 0.0),
        (0.14, 0.0, 0.3),
        (0.14, 0.0, 0.5),
        (0.14, 0.0, 0.6),
        (0.04, 0.1, 0.0),
        (0.14, 0.1, 0.0),
        (0.14, 0.3, 0.0),
        (0.28, 0.53, 0.0),
    ] {
        let cell = |is_guarded: bool| {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(41);
            let (mut signed, mut blocks) = (0, 0);
            for _ in 0..runs {
                let ended = run(&procedure, &series(sd, tax, rho, &mut rng), is_guarded);
                signed += usize::from(ended.verdict.is_signed());
                blocks += ended.blocks;
            }
            let share = 100.0 * signed as f64 / runs as f64;
            format!("{share:.1} %, {:.1}", blocks as f64 / runs as f64)
        };
        let row = format!("{:.0} %, {:.0} %, {rho}", 100.0 * sd, 100.0 * tax);
        println!("| {row} | {} | {} |", cell(false), cell(true));
    }
}

fn series(sd: f64, tax: f64, rho: f64, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    let mut state = normal();
    let mut next = || {
        let d = (-tax).ln_1p() + sd * state;
        state = rho * state + (1.0 - rho * rho).sqrt() * normal();
        d
    };
    (0..40).map(|_| next()).collect()
}

/// To its stop; not guarded: to the first verdict of the interval itself, if that comes before.
fn run(procedure: &Sequential, d: &[f64], is_guarded: bool) -> Decision {
    let looks = procedure.design().looks().iter().filter(|look| **look >= 4);
    let mut decisions = looks.map(|look| {
        let decision = procedure.conclude(&d[..*look]);
        let own = decision.cost.map_or(decision.verdict, |cost| Verdict::of(&cost, 0.05));
        let verdict =
            if is_guarded || decision.dependence.is_some() { decision.verdict } else { own };
        Decision { verdict, ..decision }
    });
    let is_end = |decision: &Decision| {
        decision.stop.is_some() || (!is_guarded && decision.verdict.is_decided())
    };
    decisions.find(is_end).expect("the last look stops")
}
