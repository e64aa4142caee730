//! Arguments of `iotax catalog`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use iotax_catalog::Caching;

use super::measure::ListingArgs;

/// `iotax catalog`
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  iotax catalog azure Standard_E16d_v5
  iotax catalog azure E16                sizes with E16 in their name
  iotax catalog azure disk P30
  iotax catalog aws r6i.4xlarge gp3:size=500G,iops=6000,bw=250M
  iotax catalog gcp n2-standard-8 pd-ssd:size=500G
  iotax catalog plan --vm E16ds_v4 --disk P30 --disk P30 --caching readonly
  iotax catalog check own.csv

Limits that are not documented are shown as unknown, never guessed.")]
pub(crate) enum CatalogCommand {
    /// Show Azure VM sizes and managed disks
    Azure(CatalogLookArgs),
    /// Show AWS instance types and EBS volumes
    Aws(CatalogLookArgs),
    /// Show Google Cloud machine types and disks
    Gcp(CatalogLookArgs),
    /// Show the combined limits of a VM and its disks, and which limit is reached first
    Plan(CatalogPlanArgs),
    /// Compare your own table of limits with the catalog
    Check(CatalogCheckArgs),
}

/// `iotax catalog azure`, `aws`, `gcp`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax catalog azure Standard_E16d_v5
  iotax catalog azure disk               all tiers and kinds
  iotax catalog azure disk P30 premium-v2:size=200G,iops=20000
  iotax catalog aws r6i.4xlarge gp3:size=500G,iops=6000,bw=250M
  iotax catalog gcp n2-standard-8 pd-ssd:size=500G

Specify a disk and its provisioned values: NAME:size=...,iops=...,bw=...
G means GiB. M means MB on Azure and MiB on other clouds.")]
pub(crate) struct CatalogLookArgs {
    /// VM size, part of its name (to list all matching sizes), or `disk` to show disks
    pub name: Option<String>,
    /// Disks that are attached to the VM; if NAME is `disk`, the disks to show
    #[arg(value_name = "DISK")]
    pub disks: Vec<String>,
    #[command(flatten)]
    pub listing: ListingArgs,
}

/// `iotax catalog plan`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax catalog plan --vm DS1_v2 --disk P30 --disk P30 --caching readonly
  iotax catalog plan --vm E16ds_v4 --disk P30:caching=readonly --disk P30
  iotax catalog plan --vm E8bds_v5 --variant nvme --disk P40:burst=on
  iotax catalog plan --vm r6i.4xlarge --disk gp3:size=1T,iops=16000,bw=1000M
  iotax catalog plan --disk gp2:size=100G")]
pub(crate) struct CatalogPlanArgs {
    /// VM size; without this option, only the limits of the disks apply
    #[arg(long, value_name = "SIZE")]
    pub vm: Option<String>,
    /// Disk controller, for VM sizes whose limits depend on it: scsi or nvme
    #[arg(long, value_name = "WORD", requires = "vm")]
    pub variant: Option<String>,
    /// Disk with its provisioned size, IOPS and bandwidth; can be repeated
    #[arg(long = "disk", value_name = "DISK", required = true)]
    pub disks: Vec<String>,
    /// Host caching for disks that do not set caching=...
    #[arg(long, value_enum, default_value_t = CachingWord::None)]
    pub caching: CachingWord,
    #[command(flatten)]
    pub listing: ListingArgs,
}

/// `iotax catalog check`
#[derive(Debug, Args)]
#[command(after_help = "\
Example of a table:
  name,scope,iops,mbps,burst_iops,burst_mbps,source,as_of
  Standard_D4as_v5,uncached,6400,144,20000,600,own notes,2025-03-01
  P30,disk,5000,200,,,,

Only the name and one figure are required. The scope is one of \"disk\",
\"cached\", \"uncached\", \"temporary\", \"local nvme\" or \"instance\".
Tables with Azure's columns for VM sizes (size, cached_iops, uncached_iops ...)
or for disks (tier, provisioned_iops ...) also work. The exit code is 1
if a figure differs from the catalog.")]
pub(crate) struct CatalogCheckArgs {
    /// CSV table whose first line contains the column names
    #[arg(value_name = "FILE.csv")]
    pub file: PathBuf,
    #[command(flatten)]
    pub listing: ListingArgs,
}

/// What the host caches for a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CachingWord {
    /// Nothing
    None,
    /// Reads
    Readonly,
    /// Reads and writes
    Readwrite,
}

impl From<CachingWord> for Caching {
    fn from(word: CachingWord) -> Self {
        match word {
            CachingWord::None => Self::None,
            CachingWord::Readonly => Self::ReadOnly,
            CachingWord::Readwrite => Self::ReadWrite,
        }
    }
}
