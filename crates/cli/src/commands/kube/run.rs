use anyhow::Result;

use crate::args::{KubeRunArgs, RunArgs};
use crate::exit::{Exit, usage};
use crate::hosts::Where;
use crate::in_cluster::{InCluster, refuse_elsewhere};
use crate::measure::measure_at;
use crate::resolve;

/// `iotax kube run`
pub(super) fn run(args: KubeRunArgs) -> Result<Exit> {
    let KubeRunArgs { class, cluster, pods, mut run } = args;
    run.targets.extend(class.map(|class| format!("class:{class}")));
    if run.targets.len() != 1 {
        return Err(usage(
            "on which volume? write --class CLASS, or one target such as class:CLASS",
        ));
    }
    let RunArgs { documented, load, output, gate, .. } = &run;
    refuse_elsewhere(load)?;
    let mut asked = InCluster::new(&cluster, &pods)?;
    let resolved = resolve::run_placed(&run, &mut |spec| asked.place(spec, &pods))?;
    measure_at(&Where::Cluster(&asked), "kube-run", resolved, (load, output, gate), documented)
}
