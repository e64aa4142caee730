//! The same program as a plugin of kubectl: `kubectl iotax compare` is `iotax kube compare`.

use std::ffi::OsString;
use std::path::Path;

use clap::{Command as Clap, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::args::{
    ClusterArgs, Command, KubeCommand, Listing, ReportArgs, ReproArgs, UndoArgs, WorkloadsArgs,
};

/// Name of the program that kubectl looks for in the PATH.
const PLUGIN: &str = "kubectl-iotax";
/// Name of the program that kubectl runs to complete arguments of the plugin.
const COMPLETER: &str = "kubectl_complete-iotax";

/// How commands begin, under each name.
const OF_ITSELF: &str = "iotax kube ";
const OF_PLUGIN: &str = "kubectl iotax ";

/// The command, if the program is called by one of these names; exits after help or an error.
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

/// Measure what each layer of the storage in your cluster costs
#[derive(Debug, Parser)]
#[command(name = "kubectl iotax", bin_name = "kubectl iotax", version)]
#[command(max_term_width = 80, disable_help_subcommand = true)]
#[command(after_help = "\
Exit codes: 0 success, 1 a check failed (such as --fail-if), 2 usage error, 3
not possible in this environment, 4 interrupted (results so far are saved), 5 a
bug in iotax, 6 a check is undecided (see --undecided).

Start with:  kubectl iotax compare -w randread-4k a=class:NAME b=class:NAME")]
struct Plugin {
    /// The command to run.
    #[command(subcommand)]
    command: PluginCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
enum PluginCommand {
    #[command(flatten)]
    Kube(KubeCommand),
    /// Remove what killed runs left behind in the namespace
    Undo {
        #[command(flatten)]
        place: ClusterArgs,
        /// Output format
        #[arg(long, value_enum, default_value_t = Listing::Text)]
        format: Listing,
    },
    /// Show the results of earlier runs or of other tools, without measuring anything
    Report(ReportArgs),
    /// Make a bundle that reproduces a run with only fio, without iotax
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

/// The parser; usage and examples of `iotax kube` show `kubectl iotax` instead.
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

/// Candidates for the last word, in kubectl's format: one per line, with its description after a
/// tab, and a directive at the end.
///
/// # Errors
/// If the words cannot be parsed.
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
        compare	Compare storage classes, volumes or nodes; each arm gets a pod and a volume
        :4
        ");
        assert!(of(&["compare", "--write"]).starts_with("--write-to\t"));
        assert_eq!(of(&["report", "results"]), ":0\n");
        insta::assert_snapshot!(of(&["run", "--containers", ""]), @"
        one	The whole workload in one container
        two	A driver and a searcher
        :4
        ");
    }

    #[test]
    fn all_of_it_is_well_formed() {
        command().debug_assert();
    }
}
