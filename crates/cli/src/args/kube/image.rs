use std::path::PathBuf;

use clap::Args;

use crate::args::output::Listing;

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
