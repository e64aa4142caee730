use crate::args::KubeCompareArgs;
use crate::commands::measure::measured;
use crate::exit::{Exit, Result};
use crate::in_cluster::{InCluster, refuse_elsewhere};
use crate::resolve;
use crate::run::Backend;

/// `iotax kube compare`
pub(super) fn compare(args: &KubeCompareArgs) -> Result<Exit> {
    refuse_elsewhere(&args.compare.measure.load)?;
    let mut volumes = InCluster::new(&args.cluster, &args.pods)?;
    let resolved = resolve::compare_placed(&args.compare, |spec| volumes.place(spec, &args.pods))?;
    let asked = args.compare.measure.asked("kube-compare");
    measured(&resolved, &Backend::Volumes(&volumes), &asked)
}
