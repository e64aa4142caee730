use clap::{Args, value_parser};

use super::{MatrixArgs, MeasureArgs};

/// `iotax net`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax net
      this machine's path to itself: no root, nothing to install
  iotax net tcp://10.0.0.2:7474
      the path to an `iotax peer` that was started there
  iotax net plain=ssh://db-1 tunnel=tcp://10.8.0.2:7474 --workload tcp-rr
  iotax net netns 'netns + wireguard'
  iotax peel 'netns + vxlan + wireguard'
      what each layer costs; `iotax layers` lists those there are")]
pub(crate) struct NetArgs {
    /// A path, or NAME=PATH for each of several, which are compared: `tcp://HOST:PORT`,
    /// `ssh://HOST`, loopback, netns or layers on it [default: loopback]
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    /// Workload or suite to drive
    #[arg(short, long, value_name = "WORKLOAD", default_value = "network-baseline")]
    pub workload: String,
    /// Number of trials on a single path [default: 1]
    #[arg(short = 'n', long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub trials: Option<u32>,
    #[command(flatten)]
    pub matrix: MatrixArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
}
