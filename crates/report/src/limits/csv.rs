//! For spreadsheets: one line per level that was measured.

use super::Search;

/// One line per level.
pub fn limits_csv(search: Search<'_>) -> String {
    let mut out =
        "target,purpose,block_bytes,queue_depth,iops,bw_bytes,mean_latency_ns\n".to_owned();
    for level in &search.caps.levels {
        let target = search.caps.targets.get(level.target).map_or("", |target| &target.name);
        out.push_str(&format!(
            "{},{},{},{},{:.3},{:.0},{:.0}\n",
            crate::csv::field(target),
            crate::csv::field(&level.purpose),
            level.block_bytes,
            level.queue_depth,
            level.iops,
            level.bw_bytes,
            level.mean_latency_ns
        ));
    }
    out
}
