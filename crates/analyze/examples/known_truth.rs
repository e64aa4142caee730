//! How often equal arms are called different, and how many blocks real differences take, by
//! simulation through the code that concludes on real runs. Prints the tables of docs/benchmarks.md.
//!
//! `cargo run --release -p iotax-analyze --example known_truth [RUNS]`
#![expect(clippy::print_stdout, reason = "a program that prints what it simulated")]

#[path = "../tests/known_truth/noise.rs"]
mod noise;
#[path = "../tests/known_truth/play.rs"]
mod play;

use iotax_experiment::StopMode;
use noise::{Disturbance, Noise};
use play::Scenario;

const MODES: [StopMode; 3] = [StopMode::Quick, StopMode::Default, StopMode::Tight];

fn main() {
    let runs = std::env::args().nth(1).map_or(500, |runs| runs.parse().expect("a number of runs"));
    equal(runs);
    planted(runs);
}

/// Equal arms.
fn equal(runs: u32) {
    println!("{runs} comparisons of equal arms per cell\n");
    println!("| noise of a trial | disturbance | arms | `--quick` | default | `--tight` |");
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
            format!("{:.1} / {:.1} %", percent(tally.signed, runs), percent(tally.any_signed, runs))
        };
        let [quick, usual, tight] = MODES.map(cell);
        println!("| {noise} | {disturbance} | {arms} | {quick} | {usual} | {tight} |");
    }
}

/// The last arm of two is slower.
fn planted(runs: u32) {
    println!("\n{runs} comparisons with a planted tax per cell\n");
    println!("| noise of a trial | disturbance | tax | `--quick` | default | `--tight` |");
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
                    percent(tally.slower, runs),
                    tally.mean_blocks(),
                    tally.blocks[tally.blocks.len() / 2],
                    percent(tally.missed, runs),
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

fn percent(count: u32, runs: u32) -> f64 {
    100.0 * f64::from(count) / f64::from(runs)
}
