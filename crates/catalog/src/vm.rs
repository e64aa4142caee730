//! Sizes of virtual machines.

use serde::{Deserialize, Serialize};

use crate::limit::{Cloud, Limit, Scope, Source};
use crate::note::{Fact, Note};

/// A size of virtual machine, or one variant of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vm {
    pub cloud: Cloud,
    /// As the provider spells it.
    pub name: String,
    /// `scsi` or `nvme`, where the disk controller changes the limits.
    pub variant: Option<String>,
    /// Virtual CPUs.
    pub vcpus: Option<u32>,
    pub memory_bytes: Option<u64>,
    /// Host cache for disks.
    pub cache_bytes: Option<u64>,
    /// Disks that can be attached.
    pub max_data_disks: Option<u32>,
    /// Whether premium disks can be attached.
    pub premium_storage: Option<bool>,
    /// Whether the host can encrypt temporary disks and caches on top of the disks' encryption.
    pub encryption_at_host_supported: Option<bool>,
    /// Storage of the host that an ephemeral OS disk can be on, as whose limit holds it then; empty
    /// where there are none.
    pub ephemeral_os_on: Vec<Scope>,
    /// Storage of the host that comes with it; empty where none is documented.
    pub local_storage: Vec<LocalStorage>,
    /// Documented limits.
    pub limits: Vec<Limit>,
    /// Documented limits of its network; empty where none were found.
    pub network: Vec<Limit>,
    /// Everything else that is documented.
    pub facts: Vec<Fact>,
    /// What sources say beside the figures, and where they disagree.
    pub notes: Vec<Note>,
    /// Figures published of this size that are not its own.
    pub conflicts: Vec<Conflict>,
    /// Where the row was read.
    pub source: Source,
    /// The provider's page about it, if one was read: of bursts, and of what notes say of pages.
    pub page: Option<Source>,
}

/// Storage of the host, which goes when the VM does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalStorage {
    /// As whose limit holds it: the temporary disk's, or that of local `NVMe` disks.
    pub scope: Scope,
    /// So many disks.
    pub disks: u32,
    /// What they hold together.
    pub size_bytes: u64,
    /// Whether it draws on the bucket of cached disks, and not on one of its own.
    pub shares_cache: bool,
}

/// Figures that somebody published and that the sources contradict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// The size they were published of.
    pub name: String,
    /// And that of the disk, if they are of one size of disk.
    pub size_bytes: Option<u64>,
    /// Which bucket.
    pub scope: String,
    /// I/Os per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bw_bytes: Option<f64>,
    /// I/Os per second in bursts.
    pub burst_iops: Option<f64>,
    /// Bytes per second in bursts.
    pub burst_bw_bytes: Option<f64>,
    /// Who published them, and when.
    pub claimed_by: Source,
    /// The size whose figures they are.
    pub belongs_to: Option<String>,
    /// What speaks against them.
    pub explanation: String,
    /// Where that was read.
    pub source: Source,
}
