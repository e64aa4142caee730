//! The same program as a plugin of kubectl: `kubectl iotax compare` is `iotax kube compare`.

use std::ffi::OsString;
use std::path::Path;

use clap::{Command as Clap, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::args::{
    ClusterArgs, Command, KubeCommand, Listing, ReportArgs, ReproArgs, UndoArgs, WorkloadsArgs,
};

/// What kubectl looks for on the path.
const PLUGIN: &str = "kubectl-iotax";
/// What kubectl asks for the completion of a plugin's words.
const COMPLETER: &str = "kubectl_complete-iotax";

/// How commands are written, by each name.
const OF_ITSELF: &str = "iotax kube ";
const OF_PLUGIN: &str = "kubectl iotax ";

/// What the program is asked for if it is called by one of these names; ends with help or an error.
pub(crate) fn read() -> Option<Command> {
    let mut words = std::env::args_os();
    let program = words.next()?;
    match Path::new(&program).file_name()?.to_str()? {
        PLUGIN => {
            let plugin = Plugin::from_arg_matches(&command().get_matches());
            Some(plugin.unwrap_or_else(|error| error.exit()).command.into())
        }
        COMPLETER => Some(Command::CompletePlugin { words: words.collect() }),
        _ => None,
    }
}

/// What does each layer cost your I/O, in this cluster?
#[derive(Debug, Parser)]
#[command(name = "kubectl iotax", bin_name = "kubectl iotax", version)]
#[command(max_term_width = 80, disable_help_subcommand = true)]
#[command(after_help = "\
Exit codes: 0 done, 1 a gate failed, 2 wrong usage, 3 the environment does not
allow it, 4 interrupted (results so far are kept), 5 a bug in iotax, 6 a gate is
undecided (see --undecided).

Start with:  kubectl iotax compare -w randread-4k a=class:NAME b=class:NAME")]
struct Plugin {
    /// What to do.
    #[command(subcommand)]
    command: PluginCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
enum PluginCommand {
    #[command(flatten)]
    Kube(KubeCommand),
    /// Remove what killed runs left in the namespace
    Undo {
        #[command(flatten)]
        place: ClusterArgs,
        /// What to print
        #[arg(long, value_enum, default_value_t = Listing::Text)]
        format: Listing,
    },
    /// Render the results of an earlier run again, offline
    Report(ReportArgs),
    /// Make a bundle that repeats a run with fio alone
    Repro(ReproArgs),
    /// List and explain the built-in workloads
    Workloads(WorkloadsArgs),
}

impl From<PluginCommand> for Command {
    fn from(command: PluginCommand) -> Self {
        match command {
            PluginCommand::Kube(command) => Self::Kube(command),
            PluginCommand::Undo { place, format } => {
                Self::Undo(UndoArgs { cluster: true, place, format })
            }
            PluginCommand::Report(args) => Self::Report(args),
            PluginCommand::Repro(args) => Self::Repro(args),
            PluginCommand::Workloads(args) => Self::Workloads(args),
        }
    }
}

/// Usage and examples are those of `iotax kube`, in the words of whoever types `kubectl iotax`.
fn command() -> Clap {
    Plugin::command().mut_subcommands(|mut subcommand| {
        let usage = subcommand.render_usage().to_string();
        if let Some((_, usage)) = usage.split_once(OF_ITSELF) {
            subcommand = subcommand.override_usage(format!("{OF_PLUGIN}{usage}"));
        }
        let Some(help) = subcommand.get_after_help() else { return subcommand };
        let help = help.to_string().replace(OF_ITSELF, OF_PLUGIN);
        subcommand.after_help(help.replace("iotax undo --cluster", "kubectl iotax undo"))
    })
}

/// Candidates for the last of the words, as kubectl wants them: one in a line, a tab before what it
/// means, and in the end which files are none.
///
/// # Errors
/// If the words mean nothing.
pub(crate) fn candidates(words: Vec<OsString>) -> std::io::Result<String> {
    let words: Vec<OsString> = std::iter::once(PLUGIN.into()).chain(words).collect();
    let last = words.len() - 1;
    let found = clap_complete::engine::complete(&mut command(), words, last, None)?;
    let lines = found.iter().map(|candidate| {
        let value = candidate.get_value().to_string_lossy();
        match candidate.get_help() {
            Some(help) => format!("{value}\t{help}\n"),
            None => format!("{value}\n"),
        }
    });
    // No candidates: let the shell look for files.
    let directive = if found.is_empty() { ":0" } else { ":4" };
    Ok(lines.chain([format!("{directive}\n")]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed_for_kubectl() {
        let of = |words: &[&str]| candidates(words.iter().map(OsString::from).collect()).unwrap();
        insta::assert_snapshot!(of(&["comp"]), @"
        compare	Compare storage classes: a pod with a volume for each arm
        :4
        ");
        assert!(of(&["compare", "--write"]).starts_with("--write-to\t"));
        assert_eq!(of(&["report", "results"]), ":0\n");
        insta::assert_snapshot!(of(&["run", "--containers", ""]), @"
        one	All of a workload in one
        two	A driver, and a searcher
        :4
        ");
    }

    #[test]
    fn all_of_it_is_well_formed() {
        command().debug_assert();
    }
}
