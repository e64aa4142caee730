use clap::Args;

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

/// `iotax kube manifest`
#[derive(Debug, Args)]
pub(crate) struct ManifestArgs {
    /// Namespace that the rights are for
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
    /// Print a role for looking at all of a cluster instead, for the same account
    #[arg(long)]
    pub cluster_reader: bool,
}
