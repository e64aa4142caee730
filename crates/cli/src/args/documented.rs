use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// What targets are, in the words of the catalog of documented limits.
#[derive(Debug, Args)]
pub(crate) struct DocumentedArgs {
    /// VM size it runs on, as in the catalog: what was measured is set beside
    /// its limits
    #[arg(long, value_name = "NAME", help_heading = "Documented limits")]
    pub vm: Option<String>,
    /// Kind of disk, once for all targets or once for each: P30,
    /// gp3:size=500G,iops=6000
    #[arg(long, value_name = "DISK", help_heading = "Documented limits")]
    pub disk: Vec<String>,
    /// Host caching of the disks: none, readonly, readwrite [default: none]
    #[arg(long, value_name = "MODE", help_heading = "Documented limits")]
    pub caching: Option<String>,
    /// Disk controller, for VM sizes whose limits depend on it: scsi, nvme
    #[arg(long, value_name = "KIND", help_heading = "Documented limits")]
    pub variant: Option<String>,
    /// Do not ask the cloud's metadata service which VM this is
    #[arg(long, help_heading = "Documented limits")]
    pub no_metadata: bool,
    /// Ask the metadata service here, in tests
    #[arg(long, value_name = "ADDRESS", hide = true)]
    pub metadata_address: Option<SocketAddr>,
    /// Look for links to disks here, in tests
    #[arg(long, value_name = "DIR", hide = true)]
    pub disk_links: Option<PathBuf>,
}
