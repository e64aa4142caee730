//! Published figures that the sources contradict.

use serde::Deserialize;

use crate::limit::Source;
use crate::table::CONFLICTS;
use crate::units::MB;
use crate::vm::Conflict;

#[derive(Deserialize)]
struct Row {
    name: String,
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

/// What was published of a size and is not so.
pub(crate) fn of(name: &str) -> Vec<Conflict> {
    let conflict = |row: Row| Conflict {
        name: row.name,
        scope: row.scope,
        iops: row.iops,
        bw_bytes: row.mbps.map(|mb| mb * MB),
        burst_iops: row.burst_iops,
        burst_bw_bytes: row.burst_mbps.map(|mb| mb * MB),
        claimed_by: Source { text: row.claimed_by, as_of: row.claimed_as_of },
        belongs_to: row.belongs_to,
        explanation: row.explanation,
        source: Source { text: row.source, as_of: row.as_of },
    };
    CONFLICTS.rows(|known| known == name).into_iter().map(conflict).collect()
}
