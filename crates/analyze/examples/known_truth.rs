//! How often equal arms are called different, and how many blocks real differences take, by
//! simulation through the code that concludes on real runs. Prints the tables of
//! docs/benchmarks.md about known truth.
//!
//! `cargo run --release -p iotax-analyze --example known_truth [RUNS [slices]]`
#![expect(clippy::print_stdout, reason = "a program that prints what it simulated")]

#[path = "../tests/known_truth/noise.rs"]
mod noise;
#[path = "../tests/known_truth/play.rs"]
mod play;
#[path = "../tests/known_truth/recordings.rs"]
mod recordings;

use iotax_analyze::Verdict;
use iotax_experiment::StopMode;
use noise::{Disturbance, Noise};
use play::{Came, Scenario};

const MODES: [StopMode; 3] = [StopMode::Quick, StopMode::Default, StopMode::Tight];

fn main() {
    let runs = std::env::args().nth(1).map_or(500, |runs| runs.parse().expect("a number of runs"));
    if std::env::args().nth(2).is_none_or(|only| only != "slices") {
        equal(runs);
        planted(runs);
    }
    slices(runs);
}

/// Equal arms.
fn equal(runs: u32) {
    println!("{runs} comparisons per cell, with equal arms\n");
    println!("| noise per trial | disturbance | arms | `--quick` | default | `--tight` |");
    println!("|---|---|---|---|---|---|");
    let lag = |lag| Noise { lag, ..Noise::white(0.1) };
    let spikes = Noise { spikes: true, ..Noise::white(0.1) };
    let quiet = Noise::white(0.02);
    for (arms, noise, disturbance) in [
        (2, quiet, Disturbance::None),
        (2, Noise::white(0.1), Disturbance::None),
        (2, Noise::white(0.2), Disturbance::None),
        (2, lag(0.3), Disturbance::None),
        (2, lag(0.6), Disturbance::None),
        (2, spikes, Disturbance::None),
        (2, quiet, Disturbance::Place(0.3)),
        (2, quiet, Disturbance::Toggle(8.0)),
        (2, quiet, Disturbance::Toggle(16.0)),
        (2, quiet, Disturbance::Toggle(21.3)),
        (2, quiet, Disturbance::Toggle(32.0)),
        (2, quiet, Disturbance::Toggle(61.0)),
        (2, quiet, Disturbance::AnyToggle),
        (2, quiet, Disturbance::Drift(0.01)),
        (2, quiet, Disturbance::WarmUp(40.0)),
        (4, Noise::white(0.1), Disturbance::None),
        (4, lag(0.6), Disturbance::None),
        (4, quiet, Disturbance::Place(0.3)),
        (4, quiet, Disturbance::AnyToggle),
        (4, quiet, Disturbance::Drift(0.01)),
        (4, quiet, Disturbance::WarmUp(40.0)),
    ] {
        let cell = |mode| {
            let tally = Scenario { arms, ..Scenario::of(mode, noise, disturbance) }.tally(runs);
            let [signed, any] =
                [tally.count(|came| came.signed), tally.count(|came| came.any_signed)];
            format!("{:.1} / {:.1} %", percent(signed, runs), percent(any, runs))
        };
        let [quick, usual, tight] = MODES.map(cell);
        println!("| {noise} | {disturbance} | {arms} | {quick} | {usual} | {tight} |");
    }
}

/// The last arm of two is slower.
fn planted(runs: u32) {
    println!("\n{runs} comparisons per cell, with one arm slower by a known tax\n");
    println!("| noise per trial | disturbance | tax | `--quick` | default | `--tight` |");
    println!("|---|---|---|---|---|---|");
    let quiet = Noise::white(0.02);
    for (noise, disturbance) in [
        (quiet, Disturbance::None),
        (Noise::white(0.1), Disturbance::None),
        (quiet, Disturbance::Place(0.3)),
    ] {
        for tax in [0.05, 0.1, 0.2, 0.3] {
            let cell = |mode| {
                let tally = Scenario { tax, ..Scenario::of(mode, noise, disturbance) }.tally(runs);
                format!(
                    "{:.0} %, {:.1} ({}), {:.1}",
                    percent(tally.called(Verdict::Slower), runs),
                    tally.mean_blocks(),
                    tally.median(|came| f64::from(came.blocks)),
                    percent(tally.count(|came| came.missed), runs),
                )
            };
            let [quick, usual, tight] = MODES.map(cell);
            println!(
                "| {noise} | {disturbance} | {:.0} % | {quick} | {usual} | {tight} |",
                100.0 * tax
            );
        }
    }
}

/// Slices in noise that was recorded, and made.
fn slices(runs: u32) {
    println!("\n{runs} comparisons per cell, in slices\n");
    println!("| noise | tax | `--quick` | default | `--tight` |");
    println!("|---|---|---|---|---|");
    for at in 0..Scenario::in_slices(StopMode::Quick).len() {
        let rows = std::thread::scope(|scope| {
            let row = |tax| scope.spawn(move || row_of_slices(at, tax, runs));
            let rows = [0.0, 0.02, 0.05, 0.1, 0.2, 0.5].map(row);
            rows.map(|row| row.join().expect("every row is simulated to its end"))
        });
        for row in rows {
            println!("{row}");
        }
    }
}

fn row_of_slices(at: usize, tax: f64, runs: u32) -> String {
    let cell = |mode: StopMode| {
        // These take minutes each, of thousands of slices.
        let runs = if mode == StopMode::Tight { runs.div_ceil(10) } else { runs };
        let scenario = Scenario { tax, ..Scenario::in_slices(mode).swap_remove(at) };
        let tally = scenario.tally(runs);
        let found = |came: &Came| [came.verdict, came.in_most].contains(&Verdict::Slower);
        let [signed, any] = [tally.count(|came| came.signed), tally.count(|came| came.any_signed)];
        let called = if tax > 0.0 {
            format!("{:.1} %", percent(tally.count(found), runs))
        } else {
            format!("{:.1} / {:.1} %", percent(signed, runs), percent(any, runs))
        };
        format!(
            "{called}, {:.1} %, {:.0} s",
            percent(tally.count(|came| came.missed), runs),
            tally.median(|came| came.seconds),
        )
    };
    let [quick, usual, tight] = MODES.map(cell);
    let weather = Scenario::in_slices(StopMode::Quick)[at].weather;
    format!("| {weather} | {:.0} % | {quick} | {usual} | {tight} |", 100.0 * tax)
}

fn percent(count: u32, runs: u32) -> f64 {
    100.0 * f64::from(count) / f64::from(runs)
}
