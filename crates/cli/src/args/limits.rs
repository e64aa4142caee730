use std::path::PathBuf;

use clap::Args;

use super::measure::{CAP_RULES, DocumentedArgs, GateArgs, OutputArgs, SearchArgs};

/// `iotax limits`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax limits /mnt/data
      IOPS cap, bandwidth cap, useful queue depth; throttle or saturated device
  iotax limits /dev/sdc --quick
      the same in half a minute; files and devices are only read
  iotax limits --burst=40m /mnt/data
      load it until a burst runs out, and see what comes back in pauses
  iotax limits cached=/mnt/f uncached=/mnt/g
      also: one bucket for both, or two, or one above two
  iotax limits --vm Standard_DS1_v2 --disk P10 --caching readonly /mnt/f
      also: which documented limit binds
  iotax limits --disk P10 /mnt/g --fail-if 'below documented by 5%'
      exit code 1 if it is
  iotax limits 'mem(size=1G) + flash(channels=4, latency=80us, bw=200M)'

In a directory a file of --size is made, and read. Nothing else is written, and
nothing without --write.")]
#[command(mut_arg("fail_if", |arg| arg.long_help(CAP_RULES)))]
pub(crate) struct LimitsArgs {
    /// Directory, file, block device or stack, with or without NAME= before it
    #[arg(value_name = "TARGET", required = true)]
    pub targets: Vec<String>,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub documented: DocumentedArgs,
    /// Write instead of reading; only to directories and stacks
    #[arg(long, help_heading = "Search")]
    pub write: bool,
    /// Size of the file that is made in a directory [default: 1G, or what there
    /// is room for]
    #[arg(long, value_name = "SIZE", help_heading = "Search")]
    pub size: Option<String>,
    /// Where scratch files go (stacks on `file` without a path)
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = "Search")]
    pub dir: PathBuf,
    /// Block device under `dev` whose content may be lost; repeat for several
    #[arg(long, value_name = "DEV", help_heading = "Search")]
    pub destroy: Vec<PathBuf>,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}
