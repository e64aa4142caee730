//! The blind test: faults are planted under a path on real layers, with parameters drawn from a
//! seed; iotax measures and says what the cause is, told nothing but the path and the load that is
//! slow. Each fault has a healthy control, made in the same way without it.
//!
//! ```text
//! cargo run --release -p iotax-blind -- --seed 1
//! ```
//!
//! Needs root, FUSE, loop devices and control groups of version 1; layers that many kernels lack
//! are planted in a User Mode Linux guest. What it makes is taken down again, also when it is
//! interrupted.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints the score")]

mod faults;
mod guest;
mod lab;
mod outcome;
mod score;
mod situation;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;

use crate::faults::situations;
use crate::score::Score;
use crate::situation::{Place, Situation};

/// Plants faults and lets iotax find them
#[derive(Parser)]
struct Args {
    /// Seed of the parameters
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only situations whose name contains this; repeat for several
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// The iotax to be examined
    #[arg(long, default_value = "target/release/iotax")]
    iotax: PathBuf,
    /// Print what iotax said of each
    #[arg(short, long)]
    verbose: bool,
    /// Examine this situation alone, in the guest that this runs in
    #[arg(long, value_name = "SITUATION", hide = true)]
    in_guest: Option<String>,
    /// List the situations
    #[arg(long)]
    list: bool,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let is_asked = |situation: &Situation| {
        args.only.is_empty() || args.only.iter().any(|part| situation.name.contains(part))
    };
    let asked: Vec<_> = situations().filter(is_asked).collect();
    if args.list {
        for Situation { name, causes, .. } in asked {
            println!(
                "{name:38} {}",
                if causes.is_empty() { "healthy".to_owned() } else { causes.join(" or ") }
            );
        }
        return Ok(ExitCode::SUCCESS);
    }
    ensure!(rustix::process::geteuid().is_root(), "planting faults needs root");
    let iotax = args.iotax.canonicalize()?;
    if let Some(name) = args.in_guest {
        let situation = situations().find(|situation| situation.name == name);
        let situation = situation.with_context(|| format!("no situation is called {name}"))?;
        return guest::answer(&situation.examine_both(&iotax, args.seed));
    }
    let mut score = Score::default();
    for situation in asked {
        if situation.is_healthy() {
            let outcome = situation.examine_one(&iotax, args.seed, false);
            score.add(&situation, false, outcome, args.verbose);
            continue;
        }
        let outcomes = match &situation.place {
            Place::Here => situation.examine_both(&iotax, args.seed),
            Place::Guest(guest) => guest::examine(situation.name, guest, &iotax, args.seed),
        };
        for (is_faulty, outcome) in [true, false].into_iter().zip(outcomes) {
            score.add(&situation, is_faulty, outcome, args.verbose);
        }
    }
    score.print();
    Ok(if score.is_passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
