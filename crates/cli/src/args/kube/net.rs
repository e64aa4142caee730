use clap::{Args, value_parser};

use super::ClusterArgs;
use super::is_elsewhere;
use super::pods::PodArgs;
use crate::args::measure::MeasureArgs;

/// Paths have none.
const OF_VOLUMES: [&str; 7] =
    ["size", "containers", "driver_cpu", "driver_memory", "write_to", "drain", "precondition"];

/// `iotax kube net`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube net --namespace bench
      all paths between two nodes that the cluster chooses
  iotax kube net --from node-1 --to node-2 --paths node,pod -w tcp-stream
  iotax kube net --across-zones -w constellation-network --max-blocks 3
  iotax kube net --paths pod,service,dns -w tcp-rr --fail-if 'slower by 10%'

Paths, of which the first that is measured is the baseline:
  node       from node to node, by pods on the hosts' network
  pod        from pod to pod on the other node
  same-node  from pod to pod on the near end's node
  service    from pod to a Service (ClusterIP) whose pod is on the other node
  dns        the same by the Service's name, which is looked up once each turn

Pod Security `baseline` and `restricted` forbid pods on the hosts' network: then
`node` is left out, which is said, and `pod` is the baseline.")]
#[command(mut_args(|arg| {
    let id = arg.get_id().as_str();
    let is_hidden = OF_VOLUMES.contains(&id) || is_elsewhere(id) || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeNetArgs {
    /// Node of the near end, which drives the load [default: the cluster's choice]
    #[arg(long, value_name = "NODE", help_heading = "Paths")]
    pub from: Option<String>,
    /// Node of the far end [default: the cluster's choice, another than the near end's]
    #[arg(long, value_name = "NODE", help_heading = "Paths")]
    pub to: Option<String>,
    /// Have the two nodes in different zones
    #[arg(long, help_heading = "Paths")]
    pub across_zones: bool,
    /// Paths to measure, with commas between: node, pod, same-node, service, dns
    /// [default: all]
    #[arg(long, value_name = "PATH", value_delimiter = ',', help_heading = "Paths")]
    pub paths: Vec<String>,
    /// Port that the far end listens at [default: 7474 in pods, any that is free on nodes]
    #[arg(long, value_name = "PORT", value_parser = value_parser!(u16).range(1..), help_heading = "Paths")]
    pub port: Option<u16>,
    /// Network workload or suite to drive
    #[arg(short, long, value_name = "WORKLOAD", default_value = "network-baseline")]
    pub workload: String,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
}
