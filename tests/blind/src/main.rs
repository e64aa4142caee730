//! The blind test. It injects faults into real layers under a path, with parameters drawn from a
//! seed. iotax gets only the path and the slow load, measures, and lists causes. Each fault has a
//! healthy control, set up in the same way without the fault.
//!
//! ```text
//! cargo run --release -p iotax-blind -- --seed 1
//! ```
//!
//! Needs root, FUSE, loop devices and cgroups v1. Layers that many kernels lack are set up in a
//! User Mode Linux guest. The test removes everything that it creates, also if it is interrupted.
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

/// Inject faults and check which causes iotax finds
#[derive(Parser)]
struct Args {
    /// Seed of the parameters
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run only situations whose name contains TEXT; repeatable
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Path of the iotax program to test
    #[arg(long, default_value = "target/release/iotax")]
    iotax: PathBuf,
    /// Print all causes of each situation
    #[arg(short, long)]
    verbose: bool,
    /// Examine only this situation, in the current guest
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
    ensure!(rustix::process::geteuid().is_root(), "injecting faults needs root");
    let iotax = args.iotax.canonicalize()?;
    if let Some(name) = args.in_guest {
        let situation = situations().find(|situation| situation.name == name);
        let situation = situation.with_context(|| format!("unknown situation {name}"))?;
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
