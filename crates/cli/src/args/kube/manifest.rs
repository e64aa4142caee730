use clap::Args;

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
