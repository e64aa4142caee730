//! Published figures that the sources contradict.

use serde::Deserialize;

use crate::limit::Source;
use crate::table::CONFLICTS;
use crate::units::{GIB, MB, gib_to_bytes};
use crate::vm::Conflict;

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
pub(crate) fn of_vm(name: &str) -> Vec<Conflict> {
    rows(name).map(conflict).collect()
}

/// What was published of a kind of disk and is not so: at this size, if it has one.
pub(crate) fn of_disk(name: &str, size_bytes: Option<u64>) -> Vec<Conflict> {
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
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_another_size_of_disk_is_no_conflict() {
        let found = |gib: Option<u64>| of_disk("PD-balanced", gib.map(|gib| gib << 30)).len();
        assert_eq!([None, Some(400), Some(500)].map(found), [1, 1, 0]);
    }
}
