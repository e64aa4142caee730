//! Arguments of `iotax disk`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::measure::Listing;

/// `iotax disk`
#[derive(Debug, Subcommand)]
pub(crate) enum DiskCommand {
    /// Mount virtual disks and print the path of each
    Up(DiskUpArgs),
    /// List the mounted virtual disks
    Status(DiskStatusArgs),
    /// Unmount virtual disks
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

Each directory then contains two files: disk, which any program can use, and
stats.json, which contains the counters of each layer. Throttles in the same
group share their token buckets across all disks that one command mounts, just
as all disks of a VM share the VM's limits. iotax serves existing files
read-only unless you name them with --write-to.")]
pub(crate) struct DiskUpArgs {
    #[command(flatten)]
    pub cloud: CloudArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
    #[command(flatten)]
    pub disks: DiskArgs,
}

/// Simulated cloud disks, with their documented limits.
#[derive(Debug, Args)]
pub(crate) struct CloudArgs {
    /// Cloud disk to simulate, one for each DIRECTORY: P10, P10:caching=readonly, gp2:size=100G,
    /// pd-ssd:size=500G; `local`, `temporary` or `nvme` is a local disk on the VM's host
    #[arg(long, value_name = "DISK", help_heading = "Cloud disks")]
    pub disk: Vec<String>,
    /// Size of the VM that the disks are attached to; its limits apply to all disks together
    #[arg(long, value_name = "SIZE", requires = "disk", help_heading = "Cloud disks")]
    pub vm: Option<String>,
    /// Disk controller, for VM sizes whose limits depend on it: scsi or nvme
    #[arg(long, value_name = "NAME", requires = "vm", help_heading = "Cloud disks")]
    pub variant: Option<String>,
    /// Host caching (none or readonly) for disks that do not set caching=... [default: none]
    #[arg(long, value_name = "WHAT", requires = "disk", help_heading = "Cloud disks")]
    pub caching: Option<String>,
    /// Simulate encryption at host: the host encrypts all data that it sends, caches and stores
    #[arg(long, requires = "disk", help_heading = "Cloud disks")]
    pub encryption_at_host: bool,
    /// Simulate a self-encrypting disk: the disk encrypts all data that it stores
    #[arg(long, requires = "disk", help_heading = "Cloud disks")]
    pub hardware_encrypted: bool,
    /// Burst credits at the start, as a share of the documented credits [default: 100%]
    #[arg(long, value_name = "PERCENT", requires = "disk", help_heading = "Cloud disks")]
    pub credits: Option<String>,
    /// Latency of I/O that misses the cache [default: 1ms, or 100us for local disks; both are
    /// assumptions]
    #[arg(long, value_name = "DURATION", requires = "disk", help_heading = "Cloud disks")]
    pub latency: Option<String>,
    /// Size of each disk [default: the documented size]
    #[arg(long, value_name = "SIZE", requires = "disk", help_heading = "Cloud disks")]
    pub size: Option<String>,
}

/// Disks, served in the background or the foreground.
#[derive(Debug, Args)]
pub(crate) struct DiskArgs {
    /// Empty directory and the layers of its disk (see `iotax layers`); with --disk,
    /// only the directory
    #[arg(value_name = "DIRECTORY=STACK", required = true)]
    pub disks: Vec<String>,
    /// Existing file that a disk is allowed to write to; can be repeated
    #[arg(long, value_name = "FILE")]
    pub write_to: Vec<PathBuf>,
    /// Directory for the scratch files of stacks whose `file` layer has no path
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Seed for the random data on the disks and for random faults
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// `iotax disk serve`
#[derive(Debug, Args)]
pub(crate) struct DiskServeArgs {
    #[command(flatten)]
    pub disks: DiskArgs,
    /// Mounts are tracked by another process's journal
    #[arg(long)]
    pub journalled: bool,
}

/// `iotax disk status`
#[derive(Debug, Args)]
pub(crate) struct DiskStatusArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}

/// `iotax disk down`
#[derive(Debug, Args)]
pub(crate) struct DiskDownArgs {
    /// Directories where the disks are mounted
    #[arg(value_name = "DIRECTORY")]
    pub at: Vec<PathBuf>,
    /// Unmount all virtual disks of this user
    #[arg(long, conflicts_with = "at")]
    pub all: bool,
    /// Also unmount disks that are in use; programs that use them then get I/O errors
    #[arg(long)]
    pub force: bool,
}
