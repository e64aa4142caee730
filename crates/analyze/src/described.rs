//! Latencies of which another tool gave figures, but no distribution.

use iotax_record::{DirectionRecord, JobRecord, LatencySummary};

/// What can be said of a job, reads and writes together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Described {
    pub mean_ns: f64,
    /// Only where the job did reads or writes alone, or the tool gave it of both: two percentiles
    /// have no sum.
    pub p99_ns: Option<u64>,
    pub max_ns: u64,
    pub ios: u64,
}

/// The syncs of a job, by their histogram or else as another tool sums them up.
pub(crate) struct Syncs {
    pub count: u64,
    pub mean_ns: f64,
    /// 0 if nobody knows.
    pub p99_ns: u64,
    pub max_ns: u64,
}

pub(crate) fn syncs(record: &JobRecord) -> Syncs {
    let JobRecord { sync, sync_summary, .. } = record;
    match sync_summary {
        Some((count, summary)) if sync.count() == 0 => Syncs {
            count: *count,
            mean_ns: summary.mean_ns,
            p99_ns: at(&summary.quantiles, 0.99).unwrap_or(0),
            max_ns: summary.max_ns.unwrap_or(0),
        },
        _ if sync.count() == 0 => Syncs { count: 0, mean_ns: 0.0, p99_ns: 0, max_ns: 0 },
        _ => Syncs {
            count: sync.count(),
            mean_ns: sync.mean_ns(),
            p99_ns: sync.quantile_ns(0.99),
            max_ns: sync.max_ns(),
        },
    }
}

fn at(quantiles: &[(f64, u64)], q: f64) -> Option<u64> {
    quantiles.iter().find(|(p, _)| (p - q).abs() < 1e-9).map(|(_, ns)| *ns)
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
        p99_ns: at(quantiles(record), 0.99),
        max_ns: summaries.iter().filter_map(|(s, _)| s.max_ns).max().unwrap_or(0),
        ios,
    })
}

/// Quantiles of a job that has no histogram: of what it did alone, or of reads and writes together
/// where the tool gave these; else none.
pub(crate) fn quantiles(record: &JobRecord) -> &[(f64, u64)] {
    let used = used(record);
    let summary = match used.as_slice() {
        _ if used.iter().any(|direction| direction.service.count() > 0) => None,
        [one] => one.summary.as_ref(),
        _ => record.both.as_ref(),
    };
    summary.map_or(&[], |summary| summary.quantiles.as_slice())
}

fn used(record: &JobRecord) -> Vec<&DirectionRecord> {
    [&record.read, &record.write].into_iter().filter(|direction| direction.ios > 0).collect()
}
