use clap::{Args, value_parser};

use super::ClusterArgs;
use super::is_elsewhere;
use super::pods::PodArgs;
use crate::args::measure::MeasureArgs;

/// `iotax kube fleet`
#[derive(Debug, Args)]
#[command(
    override_usage = "iotax kube fleet [OPTIONS] <--class CLASS|--ephemeral CLASS|--emptydir>"
)]
#[command(after_help = "\
Examples:
  iotax kube fleet --class fast
      one new volume of the class on each node that takes pods
  iotax kube fleet --nodes n1,n2,n3 --class fast -w etcd-wal
      by name, which takes no right in the whole cluster
  iotax kube fleet --nodes pool=disks --emptydir
      the own disks of the nodes with that label

In each round every node is measured once, one after the other or --at-once so
many, in an order drawn afresh. Of 20 nodes or more those are named that lie outside of all the
others, at 5 % false discoveries: after 4 rounds of all, and up to 16 of those
that may be slow (with --max-blocks N after N rounds of all). Of fewer each is
held against the mean of the others until the data decide. Each node has a pod
for as long as it takes; none is left behind.")]
#[command(mut_args(|arg| {
    let is_hidden = is_elsewhere(arg.get_id().as_str()) || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeFleetArgs {
    /// Which: `all` that take pods, names with commas between, or a label KEY=VALUE
    #[arg(long, value_name = "NODES", default_value = "all", help_heading = "Fleet")]
    pub nodes: String,
    #[command(flatten)]
    pub disk: FleetDisk,
    /// Nodes that are measured at the same time: saves time, where they share no storage
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = value_parser!(u32).range(1..), help_heading = "Fleet")]
    pub at_once: u32,
    /// Workload to drive on each node, as in `iotax run`
    #[arg(short, long, value_name = "WORKLOAD", default_value = "randread-4k")]
    pub workload: String,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// What is measured on each node.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct FleetDisk {
    /// A new volume of this storage class
    #[arg(long, value_name = "CLASS", help_heading = "Fleet")]
    pub class: Option<String>,
    /// A volume of this storage class that lives as long as its pod
    #[arg(long, value_name = "CLASS", help_heading = "Fleet")]
    pub ephemeral: Option<String>,
    /// The node's own disk
    #[arg(long, help_heading = "Fleet")]
    pub emptydir: bool,
}

impl FleetDisk {
    /// As an arm is written.
    pub(crate) fn target(&self) -> String {
        match (&self.class, &self.ephemeral) {
            (Some(class), _) => format!("class:{class}"),
            (_, Some(class)) => format!("ephemeral:{class}"),
            _ => "emptydir".to_owned(),
        }
    }
}
