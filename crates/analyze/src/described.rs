//! Latencies of which another tool gave figures, but no distribution.

use iotax_experiment::rule::{Statistic, TimeKind};
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

/// A figure of one kind of times that have no histogram, and of how many; `None` if nobody gave it.
pub(crate) fn time(
    record: &JobRecord,
    kind: &TimeKind,
    statistic: Statistic,
) -> Option<(f64, u64)> {
    let of_direction = |direction: &DirectionRecord| {
        let summary = direction.summary.as_ref().filter(|_| direction.service.count() == 0)?;
        Some((figure(summary, statistic)?, direction.ios))
    };
    match (kind, statistic) {
        (TimeKind::Latency, Statistic::Mean) => of(record).map(|all| (all.mean_ns, all.ios)),
        (TimeKind::Latency, Statistic::Quantile(q)) => {
            Some((at(quantiles(record), q)? as f64, record.ios()))
        }
        (TimeKind::Read, _) => of_direction(&record.read),
        (TimeKind::Write, _) => of_direction(&record.write),
        (TimeKind::Trim, _) => record.trim.as_ref().and_then(of_direction),
        (TimeKind::Sync, _) => {
            let (count, summary) = record.sync_summary.as_ref()?;
            Some((figure(summary, statistic)?, *count))
        }
        (TimeKind::Operation(_), _) => None,
    }
}

fn figure(summary: &LatencySummary, statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Mean => Some(summary.mean_ns),
        Statistic::Quantile(q) => at(&summary.quantiles, q).map(|ns| ns as f64),
    }
}

fn used(record: &JobRecord) -> Vec<&DirectionRecord> {
    record.directions().filter(|direction| direction.ios > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_see_what_the_tool_summed_up() {
        let summary = |mean_ns, p99| LatencySummary {
            mean_ns,
            quantiles: vec![(0.99, p99)],
            ..LatencySummary::default()
        };
        let read =
            DirectionRecord { ios: 900, summary: Some(summary(10.0, 70)), ..Default::default() };
        let sync_summary = Some((30, summary(500.0, 800)));
        let record = JobRecord { read, sync_summary, ..JobRecord::default() };
        let p99 = Statistic::Quantile(0.99);
        assert_eq!(time(&record, &TimeKind::Latency, p99), Some((70.0, 900)));
        assert_eq!(time(&record, &TimeKind::Read, Statistic::Mean), Some((10.0, 900)));
        assert_eq!(time(&record, &TimeKind::Sync, p99), Some((800.0, 30)));
        assert_eq!(time(&record, &TimeKind::Sync, Statistic::Quantile(0.9)), None, "nobody says");
        assert_eq!(time(&record, &TimeKind::Write, p99), None);
    }
}
