//! Latencies of which another tool gave figures, but no distribution.

use iotax_record::{DirectionRecord, JobRecord, LatencySummary};

/// What can be said of a job, reads and writes together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Described {
    pub mean_ns: f64,
    /// Only where the job did reads or writes alone: two percentiles have no sum.
    pub p99_ns: Option<u64>,
    pub max_ns: u64,
    pub ios: u64,
}

/// `None` unless each direction with I/O has a summary and no histogram.
pub(crate) fn of(record: &JobRecord) -> Option<Described> {
    let used = used(record);
    let summaries: Vec<(&LatencySummary, u64)> =
        used.iter().map(|d| Some((d.summary.as_ref()?, d.ios))).collect::<Option<_>>()?;
    let ios: u64 = summaries.iter().map(|(_, ios)| ios).sum();
    if ios == 0 || used.iter().any(|direction| direction.service.count() > 0) {
        return None;
    }
    let sum_ns: f64 = summaries.iter().map(|(s, ios)| s.mean_ns * *ios as f64).sum();
    Some(Described {
        mean_ns: sum_ns / ios as f64,
        p99_ns: quantiles(record).iter().find(|(q, _)| (q - 0.99).abs() < 1e-9).map(|(_, ns)| *ns),
        max_ns: summaries.iter().filter_map(|(s, _)| s.max_ns).max().unwrap_or(0),
        ios,
    })
}

/// Quantiles of a job that did reads or writes alone, and has no histogram; else none.
pub(crate) fn quantiles(record: &JobRecord) -> &[(f64, u64)] {
    match used(record).as_slice() {
        [one] if one.service.count() == 0 => {
            one.summary.as_ref().map_or(&[], |summary| summary.quantiles.as_slice())
        }
        _ => &[],
    }
}

fn used(record: &JobRecord) -> Vec<&DirectionRecord> {
    [&record.read, &record.write].into_iter().filter(|direction| direction.ios > 0).collect()
}
