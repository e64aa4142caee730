use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// How many containers a pod has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Containers {
    /// All of a workload in one
    One,
    /// A driver, and a searcher
    Two,
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
    /// Containers of each pod: two are a driver that does what writes, and publishes, and a
    /// searcher that does what reads, and loads, on one volume [default: two for a workload that
    /// publishes an index]
    #[arg(long, value_enum, help_heading = "Kubernetes")]
    pub containers: Option<Containers>,
    /// CPUs of each container, requested and as its limit: 2, 500m
    #[arg(long, value_name = "CPUS", default_value = "1", help_heading = "Kubernetes")]
    pub cpu: String,
    /// CPUs of the driver, with --containers two [default: --cpu]
    #[arg(long, value_name = "CPUS", help_heading = "Kubernetes")]
    pub driver_cpu: Option<String>,
    /// Memory of the driver, with --containers two [default: --memory]
    #[arg(long, value_name = "SIZE", help_heading = "Kubernetes")]
    pub driver_memory: Option<String>,
    /// Memory of each container, requested and as its limit
    #[arg(long, value_name = "SIZE", default_value = "1G", help_heading = "Kubernetes")]
    pub memory: String,
    /// Label that nodes must have; repeat for several
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Kubernetes")]
    pub node_selector: Vec<String>,
    /// Taint of nodes that does not keep pods off, `all` for each; repeat for several
    #[arg(long, value_name = "KEY[=VALUE][:EFFECT]", help_heading = "Kubernetes")]
    pub toleration: Vec<String>,
    /// YAML or JSON that is merged into every pod, for what has no option of its own: affinity,
    /// runtimeClassName, priorityClassName, securityContext, annotations and labels, as in
    /// `spec: {runtimeClassName: gvisor}`
    #[arg(long, value_name = "FILE", help_heading = "Kubernetes")]
    pub pod_overrides: Option<PathBuf>,
    /// Make a namespace for this run alone, and delete it in the end with all that is in it; this takes
    /// rights in the whole cluster
    #[arg(long, conflicts_with = "namespace", help_heading = "Kubernetes")]
    pub create_namespace: bool,
    /// User id of everything in a pod, or `cluster` where the cluster chooses it, as
    /// OpenShift does
    #[arg(long, value_name = "UID", default_value = "65532", help_heading = "Kubernetes")]
    pub user: String,
    /// How long pods may take to start, volumes included
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = "Kubernetes")]
    pub wait: String,
    /// Claim (`pvc:NAME`) or directory of a node (`hostpath:/PATH`) that is there, and may be
    /// written to: in a folder of its own, which is removed; repeat for several
    #[arg(long, value_name = "VOLUME", help_heading = "Kubernetes")]
    pub write_to: Vec<String>,
}
