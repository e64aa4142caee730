//! The `iotax` command: reads arguments, hands them to the rooms that do the work, prints.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the only room that prints")]

mod args;
mod cloud_disks;
mod commands;
mod exit;
#[cfg(feature = "kubernetes")]
mod in_cluster;
mod key_file;
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

fn main() -> ExitCode {
    let result = match asked() {
        Command::Peel(args) => commands::peel(&args),
        Command::Compare(args) => commands::compare(&args),
        Command::Run(args) => commands::run(&args),
        Command::Net(args) => commands::net(*args),
        Command::Limits(args) => commands::limits(&args),
        Command::Doctor(args) => commands::doctor(&args),
        Command::Plan(command) => commands::plan(&command),
        Command::Report(args) => commands::report(&args),
        Command::Repro(args) => commands::repro(&args),
        Command::Workloads(args) => commands::workloads(&args),
        Command::Layers(args) => commands::layers(&args),
        Command::Disk(command) => commands::disk(&command),
        Command::Catalog(command) => commands::catalog(&command),
        #[cfg(feature = "kubernetes")]
        Command::Kube(command) => commands::kube(command),
        Command::Agent(args) => commands::agent(&args),
        Command::Peer(args) => commands::peer(&args),
        Command::Undo(args) => commands::undo(&args),
        Command::Man { directory } => commands::man(&directory),
        #[cfg(feature = "kubernetes")]
        Command::CompletePlugin { words } => commands::complete_plugin(words),
        Command::Completions { shell } => commands::completions(shell),
    };
    exit::code(result)
}

/// What the program is asked for by its arguments, and by its name; ends with help or an error.
fn asked() -> Command {
    #[cfg(feature = "kubernetes")]
    if let Some(command) = plugin::read() {
        return command.settled();
    }
    Cli::parse().command.settled()
}
