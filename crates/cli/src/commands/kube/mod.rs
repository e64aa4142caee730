//! `iotax kube`

mod capture;
mod doctor;
mod fleet;
mod image;
mod net;

use std::fmt::Write as _;
use std::thread;

use clap::Parser as _;
use iotax_cluster::{JobOptions, Undone, job};
use serde_json::json;

use super::measure::measured;
use crate::args::{
    Cli, ClusterArgs, Command, KubeCommand, KubeCompareArgs, KubeLimitsArgs, KubeManifestArgs,
    KubeRunArgs, Listing,
};
use crate::exit::{Exit, Result, failed, usage};
use crate::in_cluster::{InCluster, connect, refuse_elsewhere};
use crate::output::{list, say};
use crate::resolve;
use crate::run::{Asked, Backend};

/// `iotax kube`
pub(crate) fn kube(command: KubeCommand) -> Result<Exit> {
    match command {
        KubeCommand::Compare(args) => compare(&args),
        KubeCommand::Fleet(args) => fleet::fleet(*args),
        KubeCommand::Run(args) => run(*args),
        KubeCommand::Capture(args) => capture::capture(&args),
        KubeCommand::Doctor(args) => doctor::doctor(&args),
        KubeCommand::Limits(args) => limits(&args),
        KubeCommand::Net(args) => net::net(*args),
        KubeCommand::Image(args) => image::image(&args),
        KubeCommand::Manifest(args) => manifest(args),
    }
}

fn compare(args: &KubeCompareArgs) -> Result<Exit> {
    refuse_elsewhere(&args.compare.measure.load)?;
    let mut volumes = InCluster::new(&args.cluster, &args.pods)?;
    let resolved = resolve::compare_placed(&args.compare, |spec| volumes.place(spec, &args.pods))?;
    let asked = args.compare.measure.asked("kube-compare");
    measured(&resolved, &Backend::Volumes(&volumes), &asked)
}

fn run(args: KubeRunArgs) -> Result<Exit> {
    let KubeRunArgs { class, cluster, pods, mut run } = args;
    run.targets.extend(class.map(|class| format!("class:{class}")));
    if run.targets.len() != 1 {
        return Err(usage(
            "give exactly one volume: --class CLASS, or a target such as class:CLASS",
        ));
    }
    refuse_elsewhere(&run.load)?;
    let mut volumes = InCluster::new(&cluster, &pods)?;
    let resolved = resolve::run(&run, |spec| volumes.place(spec, &pods))?;
    measured(&resolved, &Backend::Volumes(&volumes), &run.asked("kube-run"))
}

fn limits(args: &KubeLimitsArgs) -> Result<Exit> {
    let mut volumes = InCluster::new(&args.cluster, &args.pods)?;
    let resolved = resolve::kube_limits(args, &mut volumes)?;
    let KubeLimitsArgs { documented, output, .. } = args;
    let asked = Asked { command: "kube-limits", documented, output, iostat: false };
    measured(&resolved, &Backend::Volumes(&volumes), &asked)
}

/// `iotax kube manifest`
fn manifest(args: KubeManifestArgs) -> Result<Exit> {
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

/// Refuses a wrong command here, instead of in the pod.
fn refuse_what_no_job_does(words: &[String]) -> Result<()> {
    if words.iter().any(|word| word == "--create-namespace") {
        return Err(usage(
            "a job's account has permissions only in its own namespace; leave out \
             --create-namespace",
        ));
    }
    let command = ["iotax", "kube"].into_iter().chain(words.iter().map(String::as_str));
    match Cli::try_parse_from(command).unwrap_or_else(|error| error.exit()).command {
        Some(Command::Kube(
            KubeCommand::Compare(_)
            | KubeCommand::Fleet(_)
            | KubeCommand::Run(_)
            | KubeCommand::Net(_)
            | KubeCommand::Limits(_),
        )) => Ok(()),
        _ => Err(usage(
            "a job can only run compare, fleet, run, net or limits; specify one of these after --",
        )),
    }
}

/// `iotax undo --cluster`
pub(crate) fn undo(args: &ClusterArgs, format: Listing) -> Result<Exit> {
    let cluster = connect(args)?;
    let undone = iotax_cluster::undo(&cluster, &mut |time| {
        eprintln!(
            "note: waiting {} to find out which runs are still active",
            iotax_quantity::span(time.as_secs())
        );
        thread::sleep(time);
    })?;
    let value = || {
        json!({
            "namespace": cluster.namespace(),
            "removed": undone.removed,
            "running": undone.live,
            "problems": undone.problems,
        })
    };
    let done = list(format, || text(&undone, cluster.namespace()), value)?;
    if undone.problems.is_empty() { Ok(done) } else { Err(failed(undone.problems.join("\n"))) }
}

fn text(undone: &Undone, namespace: &str) -> String {
    let mut out = String::new();
    for removed in &undone.removed {
        let _ = writeln!(out, "removed {removed}");
    }
    if undone.removed.is_empty() && undone.problems.is_empty() {
        let _ = writeln!(out, "Nothing to undo: no killed run left anything in {namespace}.");
    }
    if !undone.live.is_empty() {
        let runs = undone.live.join(", ");
        let _ = writeln!(out, "Not removed: the objects of runs that are still active ({runs}).");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_undone_in_a_cluster_is_told() {
        assert_eq!(
            text(&Undone::default(), "bench"),
            "Nothing to undo: no killed run left anything in bench.\n"
        );
        let undone = Undone {
            removed: vec!["Pod iotax-1-0".to_owned(), "Lease iotax-1".to_owned()],
            live: vec!["2".to_owned()],
            problems: Vec::new(),
        };
        insta::assert_snapshot!(text(&undone, "bench"), @"
        removed Pod iotax-1-0
        removed Lease iotax-1
        Not removed: the objects of runs that are still active (2).
        ");
    }
}
