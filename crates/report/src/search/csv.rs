//! For spreadsheets: one line per level that was measured.

use iotax_wording::cap;

use crate::csv::{cell, table};
use iotax_wording::search::SearchResult;

/// The columns, in order; rates are per second, times in nanoseconds.
const COLUMNS: [&str; 7] =
    ["target", "purpose", "block_bytes", "queue_depth", "iops", "bw_bytes", "mean_latency_ns"];

/// One line per level (RFC 4180, but with `\n`).
pub fn search_csv(search: SearchResult<'_>) -> String {
    let rows = search.caps.levels.iter().map(|level| {
        let target = search.caps.targets.get(level.target).map_or("", |target| &target.name);
        [
            cell(target),
            cell(&cap::level(&level.purpose)),
            level.block_bytes.to_string(),
            level.queue_depth.to_string(),
            format!("{:.3}", level.iops),
            format!("{:.0}", level.bw_bytes),
            format!("{:.0}", level.mean_latency_ns),
        ]
    });
    table(COLUMNS, rows)
}
