//! One latency object, and the share of latencies below fio's limits.

use std::collections::BTreeMap;

use iotax_record::LatencyHistogram;
use serde::Serialize;

use super::bins;

/// fio's default list of percentiles.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];
/// Limits of fio's distribution tables.
const LIMITS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1_000];

/// fio's `clat_ns`, `lat_ns` and so on; all in nanoseconds.
#[derive(Serialize)]
pub(super) struct Latency {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    n: u64,
    /// By percentile as C's `%f` writes it; absent without I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Ordered<u64>>,
    /// By the middle of the bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<BTreeMap<u64, u64>>,
}

/// In fio's order, which no sorted map keeps: `"5.000000"` is before `"10.000000"`.
pub(super) struct Ordered<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Latency {
    pub(super) fn of(histogram: &LatencyHistogram) -> Self {
        let recorded = histogram.count() > 0;
        let percentiles =
            PERCENTILES.iter().map(|p| (format!("{p:.6}"), histogram.quantile_ns(p / 100.0)));
        Self {
            min: histogram.min_ns(),
            max: histogram.max_ns(),
            mean: histogram.mean_ns(),
            stddev: histogram.stdev_ns(),
            n: histogram.count(),
            percentile: recorded.then(|| Ordered(percentiles.collect())),
            bins: recorded.then(|| bins::of(histogram)),
        }
    }
}

/// Shares in percent by upper limit: fio's `latency_ns`, `latency_us`, `latency_ms`.
pub(super) type Distribution = Ordered<f64>;

/// The three tables for nanoseconds, microseconds and milliseconds.
pub(super) fn distributions(histogram: &LatencyHistogram) -> [Distribution; 3] {
    let mut ns = [0u64; LIMITS.len()];
    let mut us = [0u64; LIMITS.len()];
    // Two more: below two seconds, and the rest.
    let mut ms = [0u64; LIMITS.len() + 2];
    let slot = |value: u64| LIMITS.iter().position(|limit| value < *limit);
    for (latency_ns, count) in histogram.buckets() {
        match latency_ns {
            0..1_000 => ns[slot(latency_ns).unwrap_or(LIMITS.len() - 1)] += count,
            1_000..1_000_000 => us[slot(latency_ns / 1_000).unwrap_or(LIMITS.len() - 1)] += count,
            _ => {
                let long = usize::from(latency_ns >= 2_000_000_000);
                ms[slot(latency_ns / 1_000_000).unwrap_or(LIMITS.len() + long)] += count;
            }
        }
    }
    let names = LIMITS.map(|limit| limit.to_string());
    let long_names = names.iter().cloned().chain(["2000".to_owned(), ">=2000".to_owned()]);
    let total = histogram.count();
    [
        shares(&ns, names.iter().cloned(), total),
        shares(&us, names.iter().cloned(), total),
        shares(&ms, long_names, total),
    ]
}

fn shares(counts: &[u64], names: impl Iterator<Item = String>, total: u64) -> Distribution {
    let share = |n: u64| if total == 0 { 0.0 } else { 100.0 * n as f64 / total as f64 };
    Ordered(names.zip(counts.iter().map(|n| share(*n))).collect())
}

/// fio's `iodepth_*` tables: all of it at one name, or nothing.
pub(super) fn all_at(names: &[&str], chosen: Option<&str>) -> Distribution {
    let share = |name: &str| if chosen == Some(name) { 100.0 } else { 0.0 };
    Ordered(names.iter().map(|name| ((*name).to_owned(), share(name))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_a_hundred() {
        let mut histogram = LatencyHistogram::new();
        for ns in [1, 1_999, 2_500, 990_000, 1_000_000, 1_500_000_000, 7_000_000_000] {
            histogram.record(ns);
        }
        let tables = distributions(&histogram);
        let all: f64 = tables.iter().flat_map(|t| &t.0).map(|(_, share)| share).sum();
        assert!((all - 100.0).abs() < 1e-9);
        let at = |table: usize, name: &str| {
            tables[table].0.iter().find(|(n, _)| n == name).map(|(_, share)| *share > 0.0)
        };
        assert_eq!(at(0, "2"), Some(true));
        assert_eq!([at(1, "2"), at(1, "4"), at(1, "1000")], [Some(true); 3]);
        assert_eq!([at(2, "2"), at(2, "2000"), at(2, ">=2000")], [Some(true); 3]);
    }
}
