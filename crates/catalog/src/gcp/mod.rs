//! Google Cloud.

pub(crate) mod disks;
pub(crate) mod machines;

use serde::Deserialize;

use crate::limit::Source;
use crate::table::GCP_DISKS;
use crate::units::{MB, MIB};

/// A row of the table of Persistent Disk; its first column determines what it contains.
#[derive(Deserialize)]
struct GcpRow {
    family: Option<String>,
    vm_bracket_kind: Option<String>,
    vm_bracket: Option<String>,
    disk_type: String,
    max_read_iops: Option<f64>,
    max_write_iops: Option<f64>,
    max_read_mib: Option<f64>,
    max_write_mib: Option<f64>,
    throughput_unit: Option<String>,
    read_iops_per_gib: Option<f64>,
    write_iops_per_gib: Option<f64>,
    mib_per_gib: Option<f64>,
    baseline_iops_per_vm: Option<f64>,
    baseline_mib_per_vm: Option<f64>,
    source: String,
    as_of: String,
    notes: String,
}

impl GcpRow {
    fn all(scope: &str) -> Vec<Self> {
        GCP_DISKS.rows(|found| found == scope)
    }

    fn source(&self) -> Source {
        Source { text: self.source.clone(), as_of: self.as_of.clone() }
    }

    /// Bytes per unit of throughput, as labelled in the source.
    fn throughput_bytes(&self) -> f64 {
        if self.throughput_unit.as_deref() == Some("MB/s") { MB } else { MIB }
    }
}
