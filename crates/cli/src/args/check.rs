use clap::Args;

use super::{DocumentedArgs, OutputArgs};

/// `iotax check`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax check
      check the disk under this directory; takes one to three minutes and up to
      3 GiB of disk space, and does not need root
  iotax check /var/lib/postgresql
  iotax check --vm Standard_DS1_v2 --disk P10 /data
      also compare the caps with the documented ones
  iotax check --format markdown /data > ticket.md

iotax check runs shorter versions of these commands. For full results, run the
commands themselves:
  iotax doctor DIR, iotax limits DIR, iotax run fitness DIR")]
pub(crate) struct CheckArgs {
    /// Directory on the disk to check; test files are removed afterwards
    #[arg(value_name = "DIR", default_value = ".")]
    pub path: String,
    #[command(flatten)]
    pub documented: DocumentedArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}
