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
