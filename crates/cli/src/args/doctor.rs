use std::path::PathBuf;

use clap::Args;

use super::measure::{Color, DocumentedArgs, Listing};

/// `iotax doctor`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax doctor /mnt/data
      what lies under it, layer by layer, and what of it is known to hurt
  iotax doctor --all /mnt/data
      what is yet to be tested in full, too
  iotax doctor tcp://10.0.0.2:7474
      the way to a peer: route, interfaces, what they stand on; with the peer's
      token in IOTAX_TOKEN_FILE also which packets arrive there
  iotax doctor --interface eth0
  iotax doctor --record iotax-run-20260102-030405
      what those results say, joined with what was seen on the machine
  iotax doctor --vm Standard_DS1_v2 --disk P10 --caching readonly /mnt/data
      also: which documented limit binds
  iotax doctor --fact encryption-at-host=yes /mnt/data
      what no machine tells of itself
  iotax doctor --save machine.json /mnt/data
  iotax doctor --machine machine.json
      look here, think elsewhere: names, paths and addresses are replaced
  iotax doctor --explain double-encryption
      mechanism, detection, experiment, remedy, magnitude, sources

It only reads. What it may not read, it says, and how to.")]
pub(crate) struct DoctorArgs {
    /// Directories, files, block devices; `tcp://HOST:PORT`, `ssh://HOST` for the way
    /// to a peer [default: the working directory]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// A network interface of this machine, and what it stands on; repeat for several
    #[arg(long = "interface", value_name = "NAME", conflicts_with_all = ["record", "machine", "explain"])]
    pub interfaces: Vec<String>,
    /// Results of run, compare, peel or limits: rank the causes by them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["paths", "machine", "vm", "disk", "caching", "variant", "no_metadata", "metadata_address", "disk_links"])]
    pub record: Option<PathBuf>,
    /// Look at a machine that was saved, not at this one
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["paths", "no_metadata", "metadata_address", "disk_links"])]
    pub machine: Option<PathBuf>,
    /// Write what was seen to a file; names, paths and addresses are replaced,
    /// and FILE.key.json says by what
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Replace nothing in what is saved
    #[arg(long, requires = "save")]
    pub no_redact: bool,
    /// Tell all of findings that are to be tested, too: what was seen, why, the
    /// remedy, the source
    #[arg(long)]
    pub all: bool,
    /// Explain a known cause; without a name, list them
    #[arg(long, value_name = "CAUSE", num_args = 0..=1, default_missing_value = "",
          conflicts_with_all = ["paths", "record", "machine", "save", "no_redact", "all", "vm", "disk", "caching", "variant", "no_metadata", "metadata_address", "disk_links"])]
    pub explain: Option<String>,
    /// What only you know: encryption-at-host=yes, disk=gp3, vm=..., caching=...;
    /// repeat for several
    #[arg(long = "fact", value_name = "FACT=VALUE", conflicts_with = "explain")]
    pub facts: Vec<String>,
    #[command(flatten)]
    pub documented: DocumentedArgs,
    /// What to print
    #[arg(long, value_enum, default_value_t = Listing::Text, help_heading = "Output")]
    pub format: Listing,
    /// Colours
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
}
