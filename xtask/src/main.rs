//! Repository chores. `cargo xtask check` runs exactly what CI runs and collects all failures.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to its caller")]

mod checkout;
mod fuzz;
mod rooms;
mod steps;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask check [STEP...]
       cargo xtask fuzz [TARGET [RUNS]]

`fuzz` runs one fuzz target for RUNS inputs (1000000), or each for a moment.
`check` runs every step, or the named ones, and lists all failures at the end:";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((command, names)) if command == "check" => check(names),
        Some((command, [])) if command == "fuzz" => report(&fuzz::check()),
        Some((command, [target])) if command == "fuzz" => long_fuzz(target, "1000000"),
        Some((command, [target, runs])) if command == "fuzz" => long_fuzz(target, runs),
        _ => {
            eprintln!("{USAGE}\n{}", steps::listing());
            ExitCode::from(2)
        }
    }
}

fn long_fuzz(target: &str, runs: &str) -> ExitCode {
    let Ok(count) = runs.parse() else {
        eprintln!("`{runs}` is not a number of inputs\n{USAGE}\n{}", steps::listing());
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

fn check(names: &[String]) -> ExitCode {
    if let Some(unknown) = names.iter().find(|name| steps::find(name).is_none()) {
        eprintln!("no step `{unknown}`; the steps are:\n{}", steps::listing());
        return ExitCode::from(2);
    }
    let mut failures = Vec::new();
    for step in steps::ALL.iter().filter(|s| names.is_empty() || names.iter().any(|n| n == s.name))
    {
        println!("\n== {}: {}", step.name, step.what);
        if let Err(error) = (step.run)() {
            println!("{error}");
            failures.push((step.name, error));
        }
    }
    if failures.is_empty() {
        println!("\nall checks passed");
        return ExitCode::SUCCESS;
    }
    println!("\n{} checks failed:", failures.len());
    for (name, error) in &failures {
        let text = error.to_string();
        println!("  {name}: {}", text.lines().next().unwrap_or_default());
    }
    ExitCode::FAILURE
}
