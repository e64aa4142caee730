//! The table of Persistent Disk.

use serde::Deserialize;

use crate::limit::Source;
use crate::table::GCP_DISKS;
use crate::units::{MB, MIB};

/// A row: what it holds depends on its first column.
#[derive(Deserialize)]
pub(super) struct GcpRow {
    pub(super) family: Option<String>,
    pub(super) vm_bracket_kind: Option<String>,
    pub(super) vm_bracket: Option<String>,
    pub(super) disk_type: String,
    pub(super) max_read_iops: Option<f64>,
    pub(super) max_write_iops: Option<f64>,
    pub(super) max_read_mib: Option<f64>,
    pub(super) max_write_mib: Option<f64>,
    throughput_unit: Option<String>,
    pub(super) read_iops_per_gib: Option<f64>,
    pub(super) write_iops_per_gib: Option<f64>,
    pub(super) mib_per_gib: Option<f64>,
    pub(super) baseline_iops_per_vm: Option<f64>,
    pub(super) baseline_mib_per_vm: Option<f64>,
    pub(super) source: String,
    pub(super) as_of: String,
    pub(super) notes: String,
}

impl GcpRow {
    pub(super) fn all(scope: &str) -> Vec<Self> {
        GCP_DISKS.rows(|found| found == scope)
    }

    pub(super) fn source(&self) -> Source {
        Source { text: self.source.clone(), as_of: self.as_of.clone() }
    }

    /// Bytes in a unit of throughput, as the source labels it.
    pub(super) fn throughput_bytes(&self) -> f64 {
        if self.throughput_unit.as_deref() == Some("MB/s") { MB } else { MIB }
    }
}
