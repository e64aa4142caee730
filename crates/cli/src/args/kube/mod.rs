//! The words of `iotax kube`.

mod cluster;
mod compare;
mod fleet;
mod image;
mod pods;
mod run;

use clap::Subcommand;

pub(crate) use self::cluster::{ClusterArgs, NamespaceArgs};
pub(crate) use self::compare::KubeCompareArgs;
pub(crate) use self::fleet::KubeFleetArgs;
pub(crate) use self::image::KubeImageArgs;
pub(crate) use self::pods::{Containers, PodArgs};
pub(crate) use self::run::KubeRunArgs;

/// `iotax kube`
#[derive(Debug, Subcommand)]
pub(crate) enum KubeCommand {
    /// Compare storage classes: a pod with a volume for each arm
    Compare(Box<KubeCompareArgs>),
    /// Find the slow one among nodes: the same volume on each of them
    Fleet(Box<KubeFleetArgs>),
    /// Run one workload on one volume
    Run(Box<KubeRunArgs>),
    /// Write the image that pods run, for clusters without a way to a registry
    Image(KubeImageArgs),
    /// Print an account with no more rights than a run needs, as YAML
    Manifest(NamespaceArgs),
}
