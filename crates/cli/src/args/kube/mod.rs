//! The words of `iotax kube`.

mod cluster;
mod compare;
mod doctor;
mod fleet;
mod image;
mod limits;
mod manifest;
mod net;
mod pods;
mod run;

use clap::Subcommand;

pub(crate) use self::cluster::ClusterArgs;
pub(crate) use self::compare::KubeCompareArgs;
pub(crate) use self::doctor::KubeDoctorArgs;
pub(crate) use self::fleet::KubeFleetArgs;
pub(crate) use self::image::KubeImageArgs;
pub(crate) use self::limits::KubeLimitsArgs;
pub(crate) use self::manifest::KubeManifestArgs;
pub(crate) use self::net::KubeNetArgs;
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
