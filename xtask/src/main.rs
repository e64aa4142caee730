//! Repository tasks. `cargo xtask check` runs the same steps as CI and lists all failures at the
//! end. `cargo xtask measure` runs the steps whose result depends on this machine.
//! `cargo xtask dist` builds the release artifacts.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "output is the purpose of a task")]

mod cargo;
mod check;
mod checkout;
mod circles;
mod code;
mod dist;
mod fuzz;
mod measure;
mod models;
mod path;
mod prose;
mod rooms;
mod sources;
mod steps;
mod suite;
mod tables;
mod tuples;
mod workflows;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask check [STEP...]
       cargo xtask measure [STEP...]
       cargo xtask dist [STEP...]
       cargo xtask fuzz [TARGET [RUNS]]

`fuzz TARGET` runs one fuzz target with RUNS inputs [default: 1000000]. `fuzz` alone runs every
target briefly. `check`, `measure` and `dist` run all steps, or only the named ones, and list all
failures at the end.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((command, names)) if command == "check" => steps::run(check::STEPS, names),
        Some((command, names)) if command == "measure" => steps::run(measure::STEPS, names),
        Some((command, names)) if command == "dist" => steps::run(dist::STEPS, names),
        Some((command, [])) if command == "fuzz" => report(&fuzz::check()),
        Some((command, [target])) if command == "fuzz" => long_fuzz(target, "1000000"),
        Some((command, [target, runs])) if command == "fuzz" => long_fuzz(target, runs),
        _ => {
            eprintln!("{}", usage());
            ExitCode::from(2)
        }
    }
}

fn usage() -> String {
    let lists = [("check", check::STEPS), ("measure", measure::STEPS), ("dist", dist::STEPS)];
    let lists = lists.map(|(name, all)| format!("\n\nSteps of {name}:\n{}", steps::listing(all)));
    USAGE.to_owned() + &lists.concat()
}

fn long_fuzz(target: &str, runs: &str) -> ExitCode {
    let Ok(count) = runs.parse() else {
        eprintln!("RUNS must be a number, not `{runs}`\n{}", usage());
        return ExitCode::from(2);
    };
    report(&fuzz::long(target, count))
}

fn report(outcome: &anyhow::Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
