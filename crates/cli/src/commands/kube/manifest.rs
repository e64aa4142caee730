use clap::Parser as _;
use iotax_cluster::{JobOptions, job};

use crate::args::{Cli, Command, KubeCommand, KubeManifestArgs};
use crate::exit::{Exit, Result, usage};
use crate::output::say;

/// `iotax kube manifest`
pub(super) fn manifest(args: KubeManifestArgs) -> Result<Exit> {
    let KubeManifestArgs { namespace, cluster_reader, image, pull_secret, results, words } = args;
    let mut text = if cluster_reader {
        iotax_cluster::reader_manifest(&namespace)
    } else {
        iotax_cluster::manifest(&namespace)
    };
    if !words.is_empty() {
        refuse_what_no_job_does(&words)?;
        text += &job(&JobOptions { namespace, image, pull_secrets: pull_secret, results, words });
    }
    say(&text)?;
    Ok(Exit::Done)
}

/// What is wrong with a command is told now, and not by a pod.
fn refuse_what_no_job_does(words: &[String]) -> Result<()> {
    if words.iter().any(|word| word == "--create-namespace") {
        return Err(usage(
            "the account of a job has rights in its own namespace only: leave --create-namespace out",
        ));
    }
    let command = ["iotax", "kube"].into_iter().chain(words.iter().map(String::as_str));
    match Cli::try_parse_from(command).unwrap_or_else(|error| error.exit()).command {
        Command::Kube(
            KubeCommand::Compare(_)
            | KubeCommand::Fleet(_)
            | KubeCommand::Run(_)
            | KubeCommand::Net(_)
            | KubeCommand::Limits(_),
        ) => Ok(()),
        _ => Err(usage("a job measures: write compare, fleet, run, net or limits after the --")),
    }
}
