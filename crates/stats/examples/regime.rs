//! Prints the tables of docs/benchmarks.md about level changes: false alarms, power, and the effect
//! on verdicts. Seeded.
//!
//! `cargo run --release -p iotax-stats --example regime [RUNS]`

#![expect(clippy::print_stdout, reason = "this program prints its results")]

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use iotax_stats::design::Design;
use iotax_stats::sequential::Sequential;
use iotax_stats::stopping::Mode;
use iotax_stats::verdict::Sign;
use simulation::{
    Ended, Noise, Planted, Rng, blocks, differences, is_ever_reported, levels, rng, run,
};

const COVS: [f64; 4] = [0.05, 0.1, 0.2, 0.4];
const SPIKES: f64 = 0.05;

fn main() {
    let runs =
        std::env::args().nth(1).map_or(2_000, |runs| runs.parse().expect("a number of runs"));
    false_alarms(runs);
    power(runs / 5);
    verdicts(runs);
}

/// Per cent of `runs` runs for which each of the words holds.
fn shares<const N: usize>(
    runs: usize,
    rng: &mut Rng,
    mut of_run: impl FnMut(&mut Rng) -> [bool; N],
) -> [f64; N] {
    let mut counts = [0; N];
    for _ in 0..runs {
        for (count, holds) in counts.iter_mut().zip(of_run(rng)) {
            *count += usize::from(holds);
        }
    }
    counts.map(|count| 100.0 * count as f64 / runs as f64)
}

/// Common, single and either message in a run, at any look.
fn messages(noise: Noise, planted: Planted, count: usize, rng: &mut Rng) -> [bool; 3] {
    let run = blocks(noise, planted, 2, count, rng);
    let (common, single) = (is_ever_reported(&levels(&run)), is_ever_reported(&differences(&run)));
    [common, single, common || single]
}

/// The worst over lag-1 0, .25, .5 and with and without spikes, for each number of blocks and
/// spread.
fn false_alarms(runs: usize) {
    println!(
        "False alarms: percentage of {runs} A/A runs of 2 arms that report a level change in all"
    );
    println!(
        "arms / in one arm / of either kind. Worst case for lag-1 correlation 0, .25 and .5, with"
    );
    println!("and without spikes (5 % of trials run at 1/2 to 1/5 of their normal speed)\n");
    println!("| blocks | CoV 5 % | 10 % | 20 % | 40 % |\n|---|---|---|---|---|");
    for count in [7, 8, 16, 40] {
        let cells = COVS.map(|cov| {
            let mut worst = [0.0_f64; 3];
            for lag1 in [0.0, 0.25, 0.5] {
                for spikes in [0.0, SPIKES] {
                    let noise = Noise { cov, lag1, spikes };
                    let mut rng = rng(31);
                    let found = shares(runs, &mut rng, |rng| {
                        messages(noise, Planted::default(), count, rng)
                    });
                    worst = std::array::from_fn(|i| worst[i].max(found[i]));
                }
            }
            worst.map(|share| format!("{share:.1}")).join(" / ")
        });
        println!("| {count} | {} |", cells.join(" | "));
    }
}

/// A step at mid-run, seen in what all arms share and in the differences.
fn power(runs: usize) {
    println!(
        "\nPower: percentage of {runs} runs in which a step at mid-run is detected, if it occurs in"
    );
    println!("all arms / in one arm\n");
    println!(
        "| step, number of blocks | CoV 5 % | 10 % | 20 % | 20 %, spikes, lag-1 .25 | 40 % | 40 %, spikes, lag-1 .25 |"
    );
    println!("|---|---|---|---|---|---|---|");
    let clean = |cov| Noise { cov, lag1: 0.0, spikes: 0.0 };
    let rough = |cov| Noise { cov, lag1: 0.25, spikes: SPIKES };
    let noises = [clean(0.05), clean(0.1), clean(0.2), rough(0.2), clean(0.4), rough(0.4)];
    for step in [0.2, 0.5, 1.0_f64] {
        for count in [10, 20, 40] {
            let cells = noises.map(|noise| {
                let step = step.ln_1p();
                let common = Planted { common: step, common_from: count, ..Planted::default() };
                let single = Planted { single: step, single_from: count / 2, ..Planted::default() };
                let mut rng = rng(32);
                let [all, ..] = shares(runs, &mut rng, |rng| messages(noise, common, count, rng));
                let [_, one, _] = shares(runs, &mut rng, |rng| messages(noise, single, count, rng));
                format!("{all:.0} / {one:.0}")
            });
            println!("| {:.0} %, {count} | {} |", 100.0 * step, cells.join(" | "));
        }
    }
}

/// Quick runs to their stop, or 40 blocks: equal arms, and a planted tax of 10 %.
fn verdicts(runs: usize) {
    println!(
        "\nPercentage of {runs} quick runs that report equal arms as different / that find a tax of"
    );
    println!("10 %; in the last column: that report a level change / that find the tax\n");
    println!(
        "| noise | no step | all arms 50 % slower starting at a random trial | one arm 50 % slower starting at block 15 |"
    );
    println!("|---|---|---|---|");
    let procedure = Sequential::new(Design::default(), 0.05, 0.05, Mode::Quick);
    for (name, noise) in [
        ("CoV 5 %", Noise { cov: 0.05, lag1: 0.0, spikes: 0.0 }),
        ("CoV 10 %", Noise { cov: 0.1, lag1: 0.0, spikes: 0.0 }),
        ("CoV 10 %, lag-1 .25", Noise { cov: 0.1, lag1: 0.25, spikes: 0.0 }),
        ("CoV 10 %, spikes, lag-1 .5", Noise { cov: 0.1, lag1: 0.5, spikes: SPIKES }),
        ("CoV 20 %, spikes, lag-1 .5", Noise { cov: 0.2, lag1: 0.5, spikes: SPIKES }),
        ("CoV 40 %", Noise { cov: 0.4, lag1: 0.0, spikes: 0.0 }),
    ] {
        let halved = 2.0_f64.ln();
        let none = |run: usize, tax| Planted { common_from: run, tax, ..Planted::default() };
        let common = |run: usize, tax: f64| Planted {
            common: halved,
            common_from: 4 + run % 72,
            ..none(0, tax)
        };
        let single =
            |_: usize, tax: f64| Planted { single: halved, single_from: 15, ..none(0, tax) };
        let cell = |planted: &dyn Fn(usize, f64) -> Planted, is_equal: bool| {
            let mut rng = rng(33);
            let mut share = |tax: f64, is_hit: fn(&Ended) -> bool| {
                let mut number = 0;
                let [share] = shares(runs, &mut rng, |rng| {
                    number += 1;
                    let run_of = blocks(noise, planted(number, tax), 2, 40, rng);
                    [is_hit(&run(&procedure, &differences(&run_of)))]
                });
                format!("{share:.1}")
            };
            let tax = -(-0.1_f64).ln_1p();
            let found = share(tax, |ended| signed(ended, Sign::Slower));
            let wrong = |ended: &Ended| signed(ended, Sign::Slower) || signed(ended, Sign::Faster);
            if is_equal {
                format!("{} / {found}", share(0.0, wrong))
            } else {
                format!("{} / {found}", share(tax, |ended| ended.has_changed))
            }
        };
        println!(
            "| {name} | {} | {} | {} |",
            cell(&none, true),
            cell(&common, true),
            cell(&single, false)
        );
    }
}

fn signed(ended: &Ended, sign: Sign) -> bool {
    ended.decision.is_some_and(|d| d.verdict.is_signed() && d.sign == Some(sign))
}
