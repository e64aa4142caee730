use crate::args::{GateArgs, KubeLimitsArgs};
use crate::commands::measure::measured;
use crate::exit::{Exit, Result};
use crate::in_cluster::InCluster;
use crate::resolve;
use crate::run::{Asked, Backend};

/// `iotax kube limits`
pub(super) fn limits(args: &KubeLimitsArgs) -> Result<Exit> {
    let gate = &GateArgs::from(&args.gate);
    let mut volumes = InCluster::new(&args.cluster, &args.pods)?;
    let resolved = resolve::kube_limits(args, gate, &mut volumes)?;
    let KubeLimitsArgs { documented, output, .. } = args;
    let asked = Asked { command: "kube-limits", documented, output, gate, iostat: false };
    measured(&resolved, &Backend::Volumes(&volumes), &asked)
}
