use clap::Args;

use super::{DocumentedArgs, OutputArgs};

/// `iotax check`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax check
      the disk under this directory: no root, one minute, up to 3 GiB of files
  iotax check /var/lib/postgresql
  iotax check --vm Standard_DS1_v2 --disk P10 /data
      also: its caps beside the documented ones
  iotax check --format markdown /data > ticket.md

It combines shorter forms of these commands, which answer each part in full:
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
