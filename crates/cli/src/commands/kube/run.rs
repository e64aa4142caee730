use crate::args::KubeRunArgs;
use crate::commands::measure::measured;
use crate::exit::{Exit, Result, usage};
use crate::in_cluster::{InCluster, refuse_elsewhere};
use crate::resolve;
use crate::run::Backend;

/// `iotax kube run`
pub(super) fn run(args: KubeRunArgs) -> Result<Exit> {
    let KubeRunArgs { class, cluster, pods, mut run } = args;
    run.targets.extend(class.map(|class| format!("class:{class}")));
    if run.targets.len() != 1 {
        return Err(usage(
            "on which volume? write --class CLASS, or one target such as class:CLASS",
        ));
    }
    refuse_elsewhere(&run.load)?;
    let mut volumes = InCluster::new(&cluster, &pods)?;
    let resolved = resolve::run_placed(&run, |spec| volumes.place(spec, &pods))?;
    measured(&resolved, &Backend::Volumes(&volumes), &run.asked("kube-run"))
}
