//! The words of `iotax kube`.

mod doctor;
mod fleet;
mod limits;
mod net;
mod pods;

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(crate) use self::doctor::KubeDoctorArgs;
pub(crate) use self::fleet::KubeFleetArgs;
pub(crate) use self::limits::KubeLimitsArgs;
pub(crate) use self::net::KubeNetArgs;
pub(crate) use self::pods::{Containers, PodArgs};
use crate::args::compare::CompareArgs;
use crate::args::measure::Listing;
use crate::args::run::RunArgs;

/// `iotax kube`
#[derive(Debug, Subcommand)]
pub(crate) enum KubeCommand {
    /// Compare storage classes: a pod with a volume for each arm
    Compare(Box<KubeCompareArgs>),
    /// Find the slow one among nodes: the same volume on each of them
    Fleet(Box<KubeFleetArgs>),
    /// Run one workload on one volume
    Run(Box<KubeRunArgs>),
    /// Compare network paths: node to node, pod to pod, pod to Service
    Net(Box<KubeNetArgs>),
    /// What lies under claims, and what of it is known to hurt
    Doctor(Box<KubeDoctorArgs>),
    /// Find the caps of volumes in pods, and what documents say of them
    Limits(Box<KubeLimitsArgs>),
    /// Write the image that pods run, for clusters without a way to a registry
    Image(KubeImageArgs),
    /// Print an account with no more rights than a run needs, and a job, as YAML
    Manifest(KubeManifestArgs),
}

/// Which cluster, and where in it.
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    /// Context of the configuration in KUBECONFIG or ~/.kube/config [default: its
    /// current one; without a configuration, the cluster that this runs in]
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes")]
    pub context: Option<String>,
    /// Namespace for everything that is made [default: the context's]
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes")]
    pub namespace: Option<String>,
}

/// `iotax kube image`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube image --save iotax.tar
      then, on each node: ctr --namespace k8s.io images import iotax.tar
  iotax kube image --save iotax.tar --program iotax-0.1.0-linux-arm64
      for clusters with nodes of both kinds; nodes take what they can run")]
pub(crate) struct KubeImageArgs {
    /// File to write: an archive of an OCI image layout
    #[arg(long, value_name = "FILE")]
    pub save: PathBuf,
    /// Program of a release for another kind of machine; repeat for several
    #[arg(long, value_name = "FILE")]
    pub program: Vec<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}

/// `iotax kube manifest`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube manifest --namespace bench | kubectl apply -f -
      an account, for which kubectl can make a token
  iotax kube manifest --namespace bench -- compare -w randread-4k \\
      a=class:fast b=class:slow | kubectl apply -f -
      and a job that compares, from inside of the cluster; what it finds:
      kubectl --namespace bench logs --follow job/iotax")]
pub(crate) struct KubeManifestArgs {
    /// Namespace that the rights are for
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
    /// Print a role for looking at all of a cluster instead, for the same account
    #[arg(long, conflicts_with = "words")]
    pub cluster_reader: bool,
    /// Image with this version of iotax
    #[arg(long, value_name = "IMAGE", default_value = concat!("iotax:", env!("CARGO_PKG_VERSION")))]
    pub image: String,
    /// Secret to pull the image with; repeat for several
    #[arg(long, value_name = "NAME")]
    pub pull_secret: Vec<String>,
    /// Claim for the results of the job [default: none; then what it prints is all]
    #[arg(long, value_name = "CLAIM")]
    pub results: Option<String>,
    /// Command that a job runs, with its options, as in `compare -w randread-4k a=class:x b=class:y`
    #[arg(last = true, value_name = "COMMAND")]
    pub words: Vec<String>,
}

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

/// `iotax kube compare`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube compare -w randread-4k fast=class:fast slow=class:slow
  iotax kube compare etcd-wal --namespace bench --size 20G \\
      disk=class:managed-premium node=emptydir
  iotax kube compare -w randread-4k raw=block:fast ext4=class:fast
  iotax kube compare -w randread-4k mine=pvc:data new=class:fast \\
      --write-to pvc:data
  iotax kube compare -w randread-4k --matrix class=fast,slow 'class:{class}'
  iotax kube compare -w randread-4k a=class:fast@node-1 b=class:fast@node-2

Everything is made in one namespace, under one lease that is renewed while the
run lives, and removed with it; after a kill -9, iotax undo --cluster does it.
Claims of others are never touched, unless --write-to names them.")]
#[command(mut_arg("arms", |arg| arg.help(
    "NAME=TARGET for each arm: class:CLASS (a new volume of that storage class), block:CLASS (one \
     without a file system), ephemeral:CLASS (one that lives as long as its pod), emptydir, \
     pvc:CLAIM (a claim that is there) or hostpath:/PATH@NODE; with @NODE, each is used from that \
     node; or one experiment file (.toml)"
)))]
#[command(mut_args(|arg| {
    let is_hidden = is_elsewhere(arg.get_id().as_str()) || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeCompareArgs {
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub compare: CompareArgs,
}

/// Options of saved results, of this machine, of other hosts: nothing of that is in a cluster.
pub(super) fn is_elsewhere(option: &str) -> bool {
    ["pair", "agent", "dir", "destroy", "before", "after"].contains(&option)
}
