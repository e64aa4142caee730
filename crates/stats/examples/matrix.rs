//! Prints the table of docs/benchmarks.md about the effects of a matrix: how often intervals miss,
//! and how often effects and an interaction are found, in simulated experiments. Seeded.
//!
//!     cargo run --release -p iotax-stats --example matrix [RUNS]
#![expect(clippy::print_stdout, reason = "this program prints its results")]
#![expect(clippy::unwrap_used, reason = "a wrong argument")]

use iotax_stats::design::Design;
use iotax_stats::matrix::{Cells, Level, contrast, interaction};
use iotax_stats::rci::{CriticalValues, Interval};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const BLOCKS: usize = 20;
const MARGIN: f64 = 0.05;

/// Logarithms of ratios: two levels of the first factor, and one combination.
#[derive(Clone, Copy)]
struct Planted {
    main: [f64; 2],
    together: f64,
}

#[derive(Default)]
struct Found {
    missed: usize,
    main: [usize; 2],
    interaction: usize,
    false_interaction: usize,
}

fn main() {
    let runs = std::env::args().nth(1).map_or(1000, |text| text.parse().unwrap());
    let nothing = Planted { main: [0.0; 2], together: 0.0 };
    let planted = Planted { main: [-0.3, -0.105], together: -0.2 };
    println!(
        "| variation between trials, missing trials | any interval misses the true effect | 26 % / 10 % effect detected | dependence between factors: detected / false alarm |"
    );
    println!("|---|---|---|---|");
    for (cov, missing, effects, what) in [
        (0.1, 0.0, nothing, ", no effects planted"),
        (0.1, 0.0, planted, ""),
        (0.1, 0.05, planted, ""),
        (0.2, 0.0, planted, ""),
    ] {
        let mut found = Found::default();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..runs {
            add(&mut found, &mut rng, cov, missing, effects);
        }
        let percent = |count: usize| format!("{:.1}", 100.0 * count as f64 / f64::from(runs));
        let [large, small] = found.main.map(percent);
        println!(
            "| {} %, {} %{what} | {} | {large} / {small} | {} / {} |",
            100.0 * cov,
            100.0 * missing,
            percent(found.missed),
            percent(found.interaction),
            percent(found.false_interaction),
        );
    }
}

fn add(found: &mut Found, rng: &mut Xoshiro256PlusPlus, cov: f64, missing: f64, planted: Planted) {
    let of_cells: Vec<Vec<usize>> = (0..18).map(|i| vec![i / 6, i / 2 % 3, i % 2]).collect();
    // In two cells of nine pairs, so that the mean effect of the level is known.
    let is_together = |cell: &[usize]| cell[0] == 1 && cell[1] == 1;
    let truth = |cell: &[usize]| {
        let main = [0.0, planted.main[0], planted.main[1]][cell[0]];
        main + if is_together(cell) { planted.together } else { 0.0 }
    };
    let mut trial = |cell: &Vec<usize>| {
        let z: f64 = StandardNormal.sample(rng);
        let is_there = rng.random::<f64>() >= missing;
        is_there.then(|| truth(cell) + cov * z)
    };
    let blocks: Vec<Vec<Option<f64>>> =
        (0..BLOCKS).map(|_| of_cells.iter().map(&mut trial).collect()).collect();
    let cells = Cells::new(of_cells.clone());
    let (design, levels) = (Design::default(), cells.levels());
    let critical = |alpha: f64| CriticalValues::new(design, alpha);
    let of_effects = critical(0.05 / levels.len() as f64);
    let mut missed = false;
    for level in &levels {
        let pairs = cells.pairs(*level);
        let true_effect = pairs.iter().map(|[a, b]| truth(&of_cells[*a]) - truth(&of_cells[*b]));
        let true_effect = true_effect.sum::<f64>() / pairs.len() as f64;
        for look in design.looks().iter().filter(|look| **look <= BLOCKS) {
            let interval = interval(&of_effects, contrast(&blocks[..*look], &pairs));
            missed |= interval.is_some_and(|i| true_effect < i.lo || true_effect > i.hi);
        }
        if level.factor == 0 {
            let interval = interval(&of_effects, contrast(&blocks, &pairs));
            found.main[level.level - 1] += usize::from(interval.is_some_and(|i| i.hi < 0.0));
        }
    }
    found.missed += usize::from(missed);
    let crossed: Vec<[Level; 2]> = levels
        .iter()
        .flat_map(|a| levels.iter().filter(|b| b.factor > a.factor).map(move |b| [*a, *b]))
        .collect();
    let of_interactions = critical(0.05 / crossed.len() as f64);
    let mut is_false = false;
    for [a, b] in crossed {
        let values = interaction(&blocks, &cells.pairs_at(a, b));
        let interval = interval(&of_interactions, Some(values));
        let said = interval
            .is_some_and(|i| (i.hi < 0.0 || i.lo > 0.0) && i.mean.abs() >= -(-MARGIN).ln_1p());
        let is_true = planted.together != 0.0
            && (a.factor, a.level) == (0, 1)
            && (b.factor, b.level) == (1, 1);
        found.interaction += usize::from(said && is_true);
        is_false |= said && !is_true;
    }
    found.false_interaction += usize::from(is_false);
}

fn interval(critical: &CriticalValues, values: Option<Vec<(usize, f64)>>) -> Option<Interval> {
    critical.rci(&values?.into_iter().map(|(_, value)| value).collect::<Vec<_>>())
}
