use clap::Args;

use super::cluster::ClusterArgs;
use super::compare::is_elsewhere;
use super::pods::PodArgs;
use crate::args::run::RunArgs;

/// `iotax kube run`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube run randread-4k class:fast
  iotax kube run driver-searcher --class fast --size 20G --scale 0.05
      two containers of one pod on one volume: a driver that downloads and
      publishes, a searcher that maps, loads and answers
  iotax kube run driver-searcher --class fast --scale 0.05 --containers one
      the same in one container, for contrast
  iotax kube run driver-searcher --class fast --scale 0.05 --cpu 2 \\
      --driver-cpu 500m --driver-memory 256M")]
#[command(mut_arg("targets", |arg| arg.required(false).help(
    "class:CLASS (a new volume of that storage class), block:CLASS (one without a file system), \
     ephemeral:CLASS (one that lives as long as its pod), emptydir, pvc:CLAIM (a claim that is \
     there) or hostpath:/PATH@NODE; with @NODE, it is used from that node"
)))]
#[command(mut_args(|arg| {
    let is_hidden = is_elsewhere(arg.get_id().as_str()) || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeRunArgs {
    /// Storage class, for a target class:CLASS
    #[arg(long, value_name = "CLASS", help_heading = "Kubernetes", conflicts_with = "targets")]
    pub class: Option<String>,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub run: RunArgs,
}
