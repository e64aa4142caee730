use anyhow::Result;

use crate::args::{KubeCompareArgs, MeasureArgs};
use crate::exit::{Exit, usage};
use crate::hosts::Where;
use crate::in_cluster::{InCluster, options, place};
use crate::measure::measure_at;
use crate::resolve;

/// `iotax kube compare`
pub(super) fn compare(args: &KubeCompareArgs) -> Result<Exit> {
    let MeasureArgs { documented, load, output, gate, .. } = &args.compare.measure;
    if !load.agent.is_empty() || !load.destroy.is_empty() {
        return Err(usage(
            "in a cluster, agents are started in pods, and volumes are made: leave out --agent and \
             --destroy",
        ));
    }
    let options = options(&args.pods)?;
    let mut places = Vec::new();
    let resolved = resolve::compare_placed(&args.compare, &mut |spec| {
        places = place(spec, options.size_bytes, &args.write_to)?;
        Ok(())
    })?;
    let asked = InCluster { cluster: &args.cluster, options, places };
    let place = Where::Cluster(&asked);
    measure_at(&place, "kube-compare", resolved, (load, output, gate), documented)
}
