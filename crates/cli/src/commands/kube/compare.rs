use anyhow::Result;

use crate::args::{KubeCompareArgs, MeasureArgs};
use crate::exit::Exit;
use crate::hosts::Where;
use crate::in_cluster::{InCluster, refuse_elsewhere};
use crate::measure::measure_at;
use crate::resolve;

/// `iotax kube compare`
pub(super) fn compare(args: &KubeCompareArgs) -> Result<Exit> {
    let MeasureArgs { documented, load, output, gate, .. } = &args.compare.measure;
    refuse_elsewhere(load)?;
    let mut asked = InCluster::new(&args.cluster, &args.pods)?;
    let resolved =
        resolve::compare_placed(&args.compare, &mut |spec| asked.place(spec, &args.pods))?;
    measure_at(&Where::Cluster(&asked), "kube-compare", resolved, (load, output, gate), documented)
}
