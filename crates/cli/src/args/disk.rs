//! The words of `iotax disk`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::measure::Listing;

/// `iotax disk`
#[derive(Debug, Subcommand)]
pub(crate) enum DiskCommand {
    /// Mount virtual disks and print the file that each of them is
    Up(DiskUpArgs),
    /// List the virtual disks that are up
    Status(DiskStatusArgs),
    /// Take virtual disks down
    Down(DiskDownArgs),
    /// Serve virtual disks in the foreground
    #[command(hide = true)]
    Serve(DiskServeArgs),
}

/// `iotax disk up`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mkdir vm && iotax disk up vm='file(size=1G) + throttle(iops=4000, bw=32M)'
  fio --name=caps --filename=vm/disk --direct=1 --rw=randread --bs=4k \\
      --ioengine=libaio --iodepth=32 --runtime=10 --time_based
  iotax disk down vm
  iotax disk up --vm Standard_DS1_v2 --disk P10 --caching readonly vm
  iotax disk up --vm DS1_v2 --disk P10:caching=readonly --disk P30 data log
  iotax disk up --vm E16d_v5 --disk local --size 4G --encryption-at-host vm
  iotax disk up --disk gp2:size=100G --credits 1% --size 4G vm

The directory then holds two files: disk, which any program can use, and
stats.json, what has passed through each layer. Disks of one command share the
buckets of throttles with the same group, as disks of one VM share the VM's. A
file that existed before is served read-only, unless --write-to names it.")]
pub(crate) struct DiskUpArgs {
    #[command(flatten)]
    pub cloud: CloudArgs,
    /// What was built, beside the files' names
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
    #[command(flatten)]
    pub disks: DiskArgs,
}

/// A cloud's disks, by what their documents say.
#[derive(Debug, Args)]
pub(crate) struct CloudArgs {
    /// Disk with its documented limits, one for each DIRECTORY: P10,
    /// P10:caching=readonly, gp2:size=100G, pd-ssd:size=500G; local (temporary,
    /// nvme): a disk of the VM's own host
    #[arg(long, value_name = "DISK", help_heading = "Disks of a cloud")]
    pub disk: Vec<String>,
    /// VM size they are attached to: its limits hold for all of them together
    #[arg(long, value_name = "SIZE", requires = "disk", help_heading = "Disks of a cloud")]
    pub vm: Option<String>,
    /// Disk controller, where a VM size has other limits with each: scsi or nvme
    #[arg(long, value_name = "NAME", requires = "vm", help_heading = "Disks of a cloud")]
    pub variant: Option<String>,
    /// What the host caches of disks that do not say: none or readonly
    #[arg(long, value_name = "WHAT", requires = "disk", help_heading = "Disks of a cloud")]
    pub caching: Option<String>,
    /// The host encrypts what it sends on, caches and stores
    #[arg(long, requires = "disk", help_heading = "Disks of a cloud")]
    pub encryption_at_host: bool,
    /// The disk encrypts what it stores
    #[arg(long, requires = "disk", help_heading = "Disks of a cloud")]
    pub hardware_encrypted: bool,
    /// Share of the documented burst credits, to see them run out sooner
    #[arg(long, value_name = "PERCENT", requires = "disk", help_heading = "Disks of a cloud")]
    pub credits: Option<String>,
    /// Latency of what the cache does not hold, in place of an assumed 1ms, of
    /// local disks 100us
    #[arg(long, value_name = "DURATION", requires = "disk", help_heading = "Disks of a cloud")]
    pub latency: Option<String>,
    /// Size of each disk, in place of the documented one
    #[arg(long, value_name = "SIZE", requires = "disk", help_heading = "Disks of a cloud")]
    pub size: Option<String>,
}

/// Disks, wherever they are served.
#[derive(Debug, Args)]
pub(crate) struct DiskArgs {
    /// Empty directory, and the layers (see `iotax layers`); with --disk the
    /// directory alone
    #[arg(value_name = "DIRECTORY=STACK", required = true)]
    pub disks: Vec<String>,
    /// Existing file that may be written through a disk
    #[arg(long, value_name = "FILE")]
    pub write_to: Vec<PathBuf>,
    /// Where files of stacks without a path lie
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Seed of the data on the disks, and of faults
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// `iotax disk serve`
#[derive(Debug, Args)]
pub(crate) struct DiskServeArgs {
    #[command(flatten)]
    pub disks: DiskArgs,
    /// Somebody else's journal knows the mounts
    #[arg(long)]
    pub journalled: bool,
}

/// `iotax disk status`
#[derive(Debug, Args)]
pub(crate) struct DiskStatusArgs {
    /// What to print
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}

/// `iotax disk down`
#[derive(Debug, Args)]
pub(crate) struct DiskDownArgs {
    /// Directories the disks are mounted at
    #[arg(value_name = "DIRECTORY")]
    pub at: Vec<PathBuf>,
    /// All of this user's
    #[arg(long, conflicts_with = "at")]
    pub all: bool,
    /// Even if programs use them, whose I/O then fails
    #[arg(long)]
    pub force: bool,
}
