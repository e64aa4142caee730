//! `iotax kube`

mod doctor;
mod fleet;
mod image;
mod manifest;
mod net;
mod undo;

pub(super) use self::undo::undo;
use crate::args::{KubeCommand, KubeCompareArgs, KubeLimitsArgs, KubeRunArgs};
use crate::commands::measure::measured;
use crate::exit::{Exit, Result, usage};
use crate::in_cluster::{InCluster, refuse_elsewhere};
use crate::resolve;
use crate::run::{Asked, Backend};

/// `iotax kube`
pub(crate) fn kube(command: KubeCommand) -> Result<Exit> {
    match command {
        KubeCommand::Compare(args) => compare(&args),
        KubeCommand::Fleet(args) => fleet::fleet(*args),
        KubeCommand::Run(args) => run(*args),
        KubeCommand::Doctor(args) => doctor::doctor(&args),
        KubeCommand::Limits(args) => limits(&args),
        KubeCommand::Net(args) => net::net(*args),
        KubeCommand::Image(args) => image::image(&args),
        KubeCommand::Manifest(args) => manifest::manifest(args),
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
            "on which volume? write --class CLASS, or one target such as class:CLASS",
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
