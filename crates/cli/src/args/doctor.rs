use std::path::PathBuf;

use clap::Args;

use super::measure::{Color, DocumentedArgs, Listing};

/// `iotax doctor`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax doctor /mnt/data
      the stack under the directory, layer by layer, and known performance
      problems
  iotax doctor --all /mnt/data
      also full details of findings that are not yet confirmed
  iotax doctor tcp://10.0.0.2:7474
      the path to a peer: route and interfaces, down to the network card;
      if IOTAX_TOKEN_FILE names a file with the peer's token, also the packet
      sizes that reach the peer
  iotax doctor --interface eth0
  iotax doctor --record iotax-run-20260102-030405
      likely causes, based on these results and the machine recorded in them
  iotax doctor --vm Standard_DS1_v2 --disk P10 --caching readonly /mnt/data
      also: which documented limit is reached first
  iotax doctor --fact encryption-at-host=yes /mnt/data
      the same, with a fact that iotax cannot detect
  iotax doctor --save machine.json /mnt/data
  iotax doctor --machine machine.json
      collect the data here, and examine it elsewhere; pseudonyms replace names,
      paths and addresses
  iotax doctor --explain double-encryption
      one cause: mechanism, detection, experiment, remedy, magnitude, sources

The doctor only reads. It lists what it could not see, and how to make that
visible.")]
pub(crate) struct DoctorArgs {
    /// Directory, file or block device to examine; `tcp://HOST:PORT` or `ssh://HOST` for the
    /// network path to a peer [default: the working directory]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Network interface of this machine to examine; can be repeated
    #[arg(long = "interface", value_name = "NAME", conflicts_with_all = ["record", "machine", "explain"])]
    pub interfaces: Vec<String>,
    /// Rank likely causes, based on the results in DIR (from run, compare, peel or limits)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["paths", "machine", "vm", "disk", "caching", "variant", "no_metadata", "metadata_address", "disk_links"])]
    pub record: Option<PathBuf>,
    /// Examine a saved machine instead of this one
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["paths", "no_metadata", "metadata_address", "disk_links"])]
    pub machine: Option<PathBuf>,
    /// Save the collected data to FILE; pseudonyms replace names, paths and addresses, and
    /// FILE.key.json maps the pseudonyms back
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Save names, paths and addresses unchanged, without pseudonyms
    #[arg(long, requires = "save")]
    pub no_redact: bool,
    /// Show full details for every finding, including those not yet confirmed
    #[arg(long)]
    pub all: bool,
    /// Explain a known cause; if no name is given, list all causes
    #[arg(long, value_name = "CAUSE", num_args = 0..=1, default_missing_value = "",
          conflicts_with_all = ["paths", "record", "machine", "save", "no_redact", "all", "vm", "disk", "caching", "variant", "no_metadata", "metadata_address", "disk_links"])]
    pub explain: Option<String>,
    /// Supply a fact that iotax cannot detect on this machine: encryption-at-host=yes, disk=gp3,
    /// vm=..., caching=...; can be repeated
    #[arg(long = "fact", value_name = "FACT=VALUE", conflicts_with = "explain")]
    pub facts: Vec<String>,
    #[command(flatten)]
    pub documented: DocumentedArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text, help_heading = "Output")]
    pub format: Listing,
    /// When to use colors
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
    /// Print all collected data, even on a terminal
    #[arg(short, long, help_heading = "Output", conflicts_with = "explain")]
    pub verbose: bool,
}
