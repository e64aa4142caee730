//! Sizes of virtual machines.

use serde::{Deserialize, Serialize};

use crate::limit::{Cloud, Limit, Scope, Source};
use crate::note::{Fact, Note};
use crate::table::CONFLICTS;
use crate::units::{GIB, MB, gib_to_bytes};

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

#[derive(Deserialize)]
struct ConflictRow {
    name: String,
    size_gib: Option<f64>,
    scope: String,
    iops: Option<f64>,
    mbps: Option<f64>,
    burst_iops: Option<f64>,
    burst_mbps: Option<f64>,
    claimed_by: String,
    claimed_as_of: String,
    belongs_to: Option<String>,
    explanation: String,
    source: String,
    as_of: String,
}

/// What was published of a VM size and is not so.
pub(crate) fn conflicts_of_vm(name: &str) -> Vec<Conflict> {
    rows(name).map(conflict).collect()
}

/// What was published of a kind of disk and is not so: at this size, if it has one.
pub(crate) fn conflicts_of_disk(name: &str, size_bytes: Option<u64>) -> Vec<Conflict> {
    let size_gib = size_bytes.map(|bytes| bytes as f64 / GIB);
    let is_it =
        |row: &ConflictRow| size_gib.is_none_or(|gib| row.size_gib.is_none_or(|its| its == gib));
    rows(name).filter(is_it).map(conflict).collect()
}

fn rows(name: &str) -> impl Iterator<Item = ConflictRow> {
    CONFLICTS.rows(|known| known.eq_ignore_ascii_case(name)).into_iter()
}

fn conflict(row: ConflictRow) -> Conflict {
    Conflict {
        name: row.name,
        size_bytes: row.size_gib.map(gib_to_bytes),
        scope: row.scope,
        iops: row.iops,
        bw_bytes: row.mbps.map(|mb| mb * MB),
        burst_iops: row.burst_iops,
        burst_bw_bytes: row.burst_mbps.map(|mb| mb * MB),
        claimed_by: Source { text: row.claimed_by, as_of: row.claimed_as_of },
        belongs_to: row.belongs_to,
        explanation: row.explanation,
        source: Source { text: row.source, as_of: row.as_of },
    }
}

#[cfg(test)]
mod conflicts_tests {
    use super::*;

    #[test]
    fn a_figure_of_another_size_of_disk_is_no_conflict() {
        let found =
            |gib: Option<u64>| conflicts_of_disk("PD-balanced", gib.map(|gib| gib << 30)).len();
        assert_eq!([None, Some(400), Some(500)].map(found), [1, 1, 0]);
    }
}
