//! Runs lists of steps, prints the time of each, and lists failures at the end.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::suite::{seconds, told};

pub(crate) struct Step {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<()>,
}

impl Step {
    pub(crate) const fn new(
        name: &'static str,
        what: &'static str,
        run: fn() -> Result<()>,
    ) -> Self {
        Self { name, what, run }
    }
}

/// The outcome of a step.
struct Ended {
    name: &'static str,
    took: Duration,
    outcome: Result<()>,
}

/// Runs the named steps, or all, in order. A failed step does not stop the others.
pub(crate) fn run(steps: &[Step], names: &[String]) -> ExitCode {
    if let Some(unknown) = names.iter().find(|name| !steps.iter().any(|step| step.name == **name)) {
        eprintln!("unknown step `{unknown}`; the steps are:\n{}", listing(steps));
        return ExitCode::from(2);
    }
    let is_wanted = |step: &&Step| names.is_empty() || names.iter().any(|name| name == step.name);
    let ended: Vec<Ended> = steps.iter().filter(is_wanted).map(run_one).collect();
    conclude(&ended)
}

fn run_one(step: &Step) -> Ended {
    println!("\n== {}: {}", step.name, step.what);
    let started = Instant::now();
    let outcome = (step.run)();
    let took = started.elapsed();
    if let Err(error) = &outcome {
        println!("{error:#}");
    }
    let word = if outcome.is_ok() { "ok" } else { "FAILED" };
    println!("== {}: {word}, {} s", step.name, seconds(took));
    Ended { name: step.name, took, outcome }
}

fn conclude(ended: &[Ended]) -> ExitCode {
    println!("\nstep times (s):");
    for step in ended {
        let word = if step.outcome.is_ok() { "ok" } else { "FAILED" };
        println!("  {:10} {:>7}  {word}", step.name, seconds(step.took));
    }
    let whole: Duration = ended.iter().map(|step| step.took).sum();
    println!("  {:10} {:>7}", "total", seconds(whole));
    let failed: Vec<&Ended> = ended.iter().filter(|step| step.outcome.is_err()).collect();
    println!();
    for step in &failed {
        let why = step.outcome.as_ref().err().map(|error| format!("{error:#}")).unwrap_or_default();
        println!("  {}: {}", step.name, why.lines().next().unwrap_or_default());
    }
    let passed = ended.len() - failed.len();
    let tests = told().map_or_else(String::new, |tests| format!("; {tests}"));
    println!("steps: {passed} passed, {} failed{tests}", failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// All steps, one per line.
pub(crate) fn listing(steps: &[Step]) -> String {
    let lines: Vec<String> =
        steps.iter().map(|step| format!("  {:10} {}", step.name, step.what)).collect();
    lines.join("\n")
}
