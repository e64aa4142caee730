//! The words of `iotax kube`.

use clap::{Args, Subcommand};

use super::compare::CompareArgs;

/// `iotax kube`
#[derive(Debug, Subcommand)]
pub(crate) enum KubeCommand {
    /// Compare storage classes: a pod with a volume for each arm
    Compare(Box<KubeCompareArgs>),
    /// Print an account with no more rights than a run needs, as YAML
    Manifest(NamespaceArgs),
}

/// `iotax kube compare`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube compare -w randread-4k fast=class:fast slow=class:slow
  iotax kube compare etcd-wal --namespace bench --size 20G \\
      disk=class:managed-premium node=emptydir
  iotax kube compare -w randread-4k --matrix class=fast,slow 'class:{class}'
  iotax kube compare -w randread-4k here=class:fast@node-1 there=class:fast@node-2

Everything is made in one namespace, under one lease that is renewed while the
run lives, and removed with it; after a kill -9, iotax undo --cluster does it.
Claims of others are never touched.")]
#[command(mut_arg("arms", |arg| arg.help(
    "NAME=class:CLASS (a new volume of that storage class), NAME=ephemeral:CLASS (one that lives \
     as long as its pod) or NAME=emptydir for each arm, with @NODE for the node that it is used \
     from; or one experiment file (.toml)"
)))]
#[command(mut_args(|arg| {
    // Of saved results, of this machine, of other hosts: nothing of it is in a cluster.
    let is_elsewhere = ["pair", "agent", "dir", "destroy"].contains(&arg.get_id().as_str());
    let is_hidden = is_elsewhere || arg.is_hide_set();
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

/// What pods are like.
#[derive(Debug, Args)]
pub(crate) struct PodArgs {
    /// Image with this version of iotax
    #[arg(long, value_name = "IMAGE", default_value = concat!("iotax:", env!("CARGO_PKG_VERSION")), help_heading = "Kubernetes")]
    pub image: String,
    /// Secret to pull the image with; repeat for several
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes")]
    pub pull_secret: Vec<String>,
    /// Size of each volume
    #[arg(long, value_name = "SIZE", default_value = "10G", help_heading = "Kubernetes")]
    pub size: String,
    /// CPUs of each pod, requested and as its limit: 2, 500m
    #[arg(long, value_name = "CPUS", default_value = "1", help_heading = "Kubernetes")]
    pub cpu: String,
    /// Memory of each pod, requested and as its limit
    #[arg(long, value_name = "SIZE", default_value = "1G", help_heading = "Kubernetes")]
    pub memory: String,
    /// Label that nodes must have; repeat for several
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Kubernetes")]
    pub node_selector: Vec<String>,
    /// Taint of nodes that does not keep pods off, `all` for each; repeat for several
    #[arg(long, value_name = "KEY[=VALUE][:EFFECT]", help_heading = "Kubernetes")]
    pub toleration: Vec<String>,
    /// User id of everything in a pod, or `cluster` where the cluster chooses it, as
    /// OpenShift does
    #[arg(long, value_name = "UID", default_value = "65532", help_heading = "Kubernetes")]
    pub user: String,
    /// How long pods may take to start, volumes included
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = "Kubernetes")]
    pub wait: String,
}

/// A namespace.
#[derive(Debug, Args)]
pub(crate) struct NamespaceArgs {
    /// Namespace that the rights are for
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
}
