use std::path::PathBuf;

use clap::Args;

use super::super::measure::Listing;
use super::ClusterArgs;

/// `iotax kube capture`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube capture db-0 --for 60s -o app.iotx
  iotax kube capture db-0 -c postgres -n shop --recorder-namespace probes
  iotax capture show app.iotx
  iotax compare -w app.iotx a=/mnt/a b=/mnt/b

iotax starts a privileged pod on the node of POD, which records the container
and keeps the recording in memory. When the recording ends, or after Ctrl-C,
iotax fetches it. iotax then removes the pod, also after an error. If iotax is
killed (kill -9), run iotax undo --cluster.
A recording contains no file contents and no file names.")]
#[command(mut_arg("namespace", |arg| arg.short('n').help(
    "Namespace of POD [default: the context's namespace]"
)))]
pub(crate) struct KubeCaptureArgs {
    /// Running pod to record
    #[arg(value_name = "POD")]
    pub pod: String,
    /// Container to record; needed if the pod has several containers
    #[arg(short, long, value_name = "NAME")]
    pub container: Option<String>,
    /// Stop recording after this time [default: record until the container ends, or until Ctrl-C]
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<String>,
    /// File to create [default: capture-YYYYMMDD-HHMMSS.iotx]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Maximum size of the recording; the recorder pod needs this much memory and 288 MiB more
    #[arg(long, value_name = "SIZE", default_value = "256M")]
    pub max_size: String,
    /// Stop recording if iotax uses more than this share of the node's CPU time in any 2 s
    #[arg(long, value_name = "PERCENT", default_value = "3%")]
    pub max_overhead: String,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// Namespace for the recorder pod; it must allow privileged pods [default: the namespace of POD]
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes")]
    pub recorder_namespace: Option<String>,
    /// Create a namespace for the recorder pod, and delete it at the end; needs cluster-wide
    /// permissions
    #[arg(long, conflicts_with = "recorder_namespace", help_heading = "Kubernetes")]
    pub create_namespace: bool,
    /// Container image with this version of iotax
    #[arg(long, value_name = "IMAGE", default_value = concat!("iotax:", env!("CARGO_PKG_VERSION")), help_heading = "Kubernetes")]
    pub image: String,
    /// Image pull secret; can be repeated
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes")]
    pub pull_secret: Vec<String>,
    /// CPU limit of the recorder pod, such as 2 or 500m; it requests 50m
    #[arg(long, value_name = "CPUS", default_value = "1", help_heading = "Kubernetes")]
    pub cpu: String,
    /// YAML or JSON file to merge into the recorder pod, for fields that have no option here,
    /// such as serviceAccountName, priorityClassName, annotations and labels
    #[arg(long, value_name = "FILE", help_heading = "Kubernetes")]
    pub pod_overrides: Option<PathBuf>,
    /// Maximum time to wait until the recorder pod is ready
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = "Kubernetes")]
    pub wait: String,
    /// Print only the main findings
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text, help_heading = "Output")]
    pub format: Listing,
}
