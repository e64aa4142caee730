//! The `iotax` command: parses arguments, runs the command, and sets the exit code.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the only crate that prints")]

mod args;
mod cloud_disks;
mod commands;
mod exit;
#[cfg(feature = "kubernetes")]
mod in_cluster;
mod output;
#[cfg(feature = "kubernetes")]
mod plugin;
mod progress;
mod publish;
mod recorded;
mod resolve;
mod run;
mod session;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Command};
#[cfg(feature = "kubernetes")]
use crate::commands::kube;
use crate::commands::{
    agent, capture, catalog, check, completions, disk, doctor, layers, measure, peer, plan, report,
    repro, start, undo, workloads,
};

fn main() -> ExitCode {
    let Some(command) = asked() else {
        return exit::code(start::start());
    };
    let result = match command {
        Command::Check(args) => check::check(&args),
        Command::Peel(args) => measure::peel(&args),
        Command::Compare(args) => measure::compare(&args),
        Command::Run(args) => measure::run(&args),
        Command::Net(args) => measure::net(*args),
        Command::Limits(args) => measure::limits(&args),
        Command::Capture(args) => capture::capture(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Plan(command) => plan::plan(&command),
        Command::Report(args) => report::report(&args),
        Command::Repro(args) => repro::repro(&args),
        Command::Workloads(args) => workloads::workloads(&args),
        Command::Layers(args) => layers::layers(&args),
        Command::Disk(command) => disk::disk(&command),
        Command::Catalog(command) => catalog::catalog(&command),
        #[cfg(feature = "kubernetes")]
        Command::Kube(command) => kube::kube(command),
        #[cfg(not(feature = "kubernetes"))]
        Command::Kube { words: _ } => Err(exit::usage(NO_KUBERNETES)),
        Command::Agent(args) => agent::agent(&args),
        Command::Peer(args) => peer::peer(&args),
        Command::Undo(args) => undo::undo(&args),
        Command::Man { directory } => completions::man(&directory),
        #[cfg(feature = "kubernetes")]
        Command::CompletePlugin { words } => completions::complete_plugin(words),
        Command::Completions { shell } => completions::completions(shell),
    };
    exit::code(result)
}

#[cfg(not(feature = "kubernetes"))]
const NO_KUBERNETES: &str = "this build of iotax does not support Kubernetes; use a release \
                             binary, or build one that does: cargo install --path crates/cli \
                             --features kubernetes";

/// The command that the arguments or the program's name select; exits after help or an error.
fn asked() -> Option<Command> {
    #[cfg(feature = "kubernetes")]
    if let Some(command) = plugin::read() {
        return Some(command.settled());
    }
    let words: Vec<_> = std::env::args_os().collect();
    let cli = Cli::try_parse_from(&words);
    let cli = cli.unwrap_or_else(|error| args::with_tip(error, &words).exit());
    cli.command.map(Command::settled)
}
