//! Prints the table of docs/benchmarks.md about slow nodes of a simulated fleet: how many are
//! named, how many of the named are healthy, and what it costs. Seeded.
//!
//! `cargo run --release -p iotax-stats --example screening [RUNS]`

#![expect(clippy::print_stdout, reason = "this program prints its results")]

use iotax_stats::fleet::Fleet;
use iotax_stats::sample::median;
use iotax_stats::screening::{FIRST, LATER, Screening};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const RATE: f64 = 0.05;
/// Rounds differ by this, all nodes alike (standard deviation of logarithms).
const DRIFT: f64 = 0.1;
/// What a probe takes of its node: a trial of 10 s.
const PROBE_MINUTES: f64 = 10.0 / 60.0;

fn main() {
    let runs =
        std::env::args().nth(1).map_or(200_usize, |runs| runs.parse().expect("a number of runs"));
    println!(
        "| total nodes, slow nodes | healthy nodes differ by | probes vary by | any node flagged when none is slow | slow nodes flagged when 10 % slower | 20 % slower | 30 % slower | highest share of healthy nodes among the flagged | probes per node | node-minutes |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for nodes in [50, 1_000] {
        for spread in [0.02, 0.03] {
            for cov in [0.05, 0.1, 0.2] {
                let of = |tax| simulate(&World { nodes, spread, cov, tax }, runs);
                print_row(
                    &World { nodes, spread, cov, tax: 0.0 },
                    &of(0.0),
                    &[0.1, 0.2, 0.3].map(of),
                );
            }
        }
    }
}

fn print_row(world: &World, healthy: &Found, slow: &[Found; 3]) {
    let most = |of: fn(&Found) -> f64| slow.iter().map(of).fold(0.0, f64::max);
    let probes = most(|share| share.probes);
    let [ten, twenty, thirty] = slow.each_ref().map(|share| 100.0 * share.power);
    println!(
        "| {}, {} | {:.0} % | {:.0} % | {:.1} % | {ten:.0} % | {twenty:.0} % | {thirty:.0} % | {:.1} % | {probes:.1} | {:.0} |",
        world.nodes,
        world.slow(),
        100.0 * world.spread,
        100.0 * world.cov,
        100.0 * healthy.any_false,
        100.0 * most(|share| share.false_discoveries),
        probes * world.nodes as f64 * PROBE_MINUTES,
    );
}

struct World {
    nodes: usize,
    spread: f64,
    cov: f64,
    tax: f64,
}

/// Means over runs.
#[derive(Default)]
struct Found {
    power: f64,
    false_discoveries: f64,
    any_false: f64,
    probes: f64,
}

impl World {
    /// How many are slow, one in a hundred: the first ones, since order is of no account.
    fn slow(&self) -> usize {
        (self.nodes / 100).max(1)
    }

    /// What the nodes are.
    fn levels(&self, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let tax = |node| if node < self.slow() { (-self.tax).ln_1p() } else { 0.0 };
        (0..self.nodes).map(|node| self.spread * normal(rng) + tax(node)).collect()
    }
}

fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(rng)
}

fn simulate(world: &World, runs: usize) -> Found {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let slow = if world.tax > 0.0 { world.slow() } else { 0 };
    let mut sum = Found::default();
    for _ in 0..runs {
        let (fleet, probes) = screened(world, &mut rng);
        let named = || (0..world.nodes).filter(|node| fleet.nodes[*node].is_slow);
        let (all, hits) = (named().count(), named().filter(|node| *node < slow).count());
        sum.power += hits as f64 / slow.max(1) as f64;
        sum.false_discoveries += (all - hits) as f64 / all.max(1) as f64;
        sum.any_false += f64::from(u8::from(all > hits));
        sum.probes += probes as f64 / world.nodes as f64;
    }
    let runs = runs as f64;
    Found {
        power: sum.power / runs,
        false_discoveries: sum.false_discoveries / runs,
        any_false: sum.any_false / runs,
        probes: sum.probes / runs,
    }
}

/// One fleet, and how many probes it took.
fn screened(world: &World, rng: &mut Xoshiro256PlusPlus) -> (Fleet, usize) {
    let levels = world.levels(rng);
    // A coefficient of variation, as the standard deviation of logarithms.
    let noise = (world.cov * world.cov).ln_1p().sqrt();
    let everybody: Vec<usize> = (0..world.nodes).collect();
    let mut values = vec![Vec::new(); world.nodes];
    for _ in 0..FIRST {
        let round = probe(&everybody, &levels, noise, rng);
        let level = median(&round.iter().map(|(_, log)| *log).collect::<Vec<_>>());
        for (node, log) in round {
            values[node].push(log - level);
        }
    }
    let mut screening = Screening::of(&values).expect("enough nodes");
    let (mut probes, mut begin) = (FIRST * world.nodes, FIRST);
    for (end, _) in LATER {
        let suspects = screening.suspects();
        if suspects.is_empty() {
            break;
        }
        let mut others: Vec<usize> =
            everybody.iter().copied().filter(|node| !suspects.contains(node)).collect();
        let (controls, _) = others.partial_shuffle(rng, screening.controls());
        let nodes = [&suspects, &*controls].concat();
        let rounds: Vec<Vec<Option<f64>>> = (begin..end)
            .map(|_| {
                let mut row = vec![None; world.nodes];
                let round = probe(&nodes, &levels, noise, rng);
                for (node, log) in round {
                    row[node] = Some(log);
                }
                row
            })
            .collect();
        screening.take_in(&rounds, controls);
        probes += (end - begin) * nodes.len();
        begin = end;
    }
    (screening.finish(RATE), probes)
}

fn probe(
    nodes: &[usize],
    levels: &[f64],
    noise: f64,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<(usize, f64)> {
    let drift = DRIFT * normal(rng);
    nodes.iter().map(|node| (*node, levels[*node] + drift + noise * normal(rng))).collect()
}
