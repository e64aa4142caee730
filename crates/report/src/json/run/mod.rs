//! `run --format json`: a superset of the output of `fio --output-format=json+`, so that programs
//! that read fio's output can read it.
//!
//! All figures are sums over the trials, divided by their time. fio's format requires rates and
//! means, which need no estimation.

mod job;

use std::collections::BTreeMap;

use iotax_analyze::{Analysis, Spread};
use iotax_record::{DirectionRecord, ExperimentHead, LatencyHistogram, LoadRecord, Outcome, Trial};
use jiff::Timestamp;
use serde::Serialize;

use self::job::Job;
use super::compare::Output;
use super::text::json_text;

/// fio's root object, with iotax's object inside.
#[derive(Serialize)]
pub(crate) struct Root<T> {
    #[serde(rename = "fio version")]
    version: String,
    /// End of the experiment, in seconds since 1970.
    timestamp: i64,
    timestamp_ms: i64,
    /// The same in the format of C's `asctime`, in UTC.
    time: String,
    #[serde(rename = "global options")]
    global_options: BTreeMap<&'static str, String>,
    jobs: Vec<Job>,
    /// Everything that is not in fio: see `compare`.
    iotax: T,
}

impl<T> Root<T> {
    pub(crate) fn new(
        experiment: &ExperimentHead,
        analysis: &Analysis,
        trials: &[&Trial],
        iotax: T,
    ) -> Self {
        let workload = experiment.spec.workload();
        let loads: Vec<&LoadRecord> = trials
            .iter()
            .filter(|t| matches!(t.outcome, Outcome::Completed | Outcome::Degraded { .. }))
            .filter_map(|t| t.load.as_ref())
            .collect();
        let started: Timestamp = experiment.started.parse().unwrap_or(Timestamp::UNIX_EPOCH);
        let wall = i64::try_from(analysis.ending.wall_ns).unwrap_or(i64::MAX);
        let wall = jiff::SignedDuration::from_nanos(wall);
        let end = started.checked_add(wall).unwrap_or(Timestamp::MAX);
        Self {
            version: format!("iotax-{}", experiment.iotax_version),
            timestamp: end.as_second(),
            timestamp_ms: end.as_millisecond(),
            time: end.strftime("%a %b %e %H:%M:%S %Y").to_string(),
            global_options: BTreeMap::from([
                ("ramp_time", job::milliseconds(workload.ramp_ns)),
                ("randseed", experiment.spec.seed.to_string()),
                ("runtime", job::milliseconds(workload.time_ns)),
            ]),
            jobs: workload.jobs.iter().map(|job| Job::new(job, workload, &loads)).collect(),
            iotax,
        }
    }

    /// Appends the jobs of a later phase. Options that differ are no longer global.
    pub(crate) fn followed_by(mut self, later: Self) -> Self {
        self.global_options.retain(|name, value| later.global_options.get(name) == Some(value));
        self.jobs.extend(later.jobs);
        self
    }

    /// Replaces iotax's object.
    pub(crate) fn with<U>(self, iotax: U) -> Root<U> {
        let Self { version, timestamp, timestamp_ms, time, global_options, jobs, iotax: _ } = self;
        Root { version, timestamp, timestamp_ms, time, global_options, jobs, iotax }
    }
}

/// One JSON object in the format of fio's JSON+, indented, ending in a newline: one job per job of
/// the workload, over all usable trials. Format and differences: `docs/json.md`.
pub fn json_run(experiment: &ExperimentHead, analysis: &Analysis, trials: &[Trial]) -> String {
    let trials: Vec<&Trial> = trials.iter().collect();
    let iotax = Output::new(experiment, analysis);
    json_text(&Root::new(experiment, analysis, &trials, iotax))
}

// Latency histograms in fio's layout.
//
// fio (`stat.c`, `plat_val_to_idx` and `plat_idx_to_val`): 29 groups of 64 buckets. Values below
// 128 have one bucket each; above, each power of two has 64. A bucket is named after its middle.
// The last group contains all larger values. `HdrHistogram` with three digits has 1,024 buckets per
// power of two, so each of its buckets is within one of fio's, and only detail is lost.

const BITS: u32 = 6;
const PER_GROUP: u64 = 1 << BITS;
const BUCKETS: u64 = 29 * PER_GROUP;

/// Non-empty buckets: middle in nanoseconds, count.
fn of(histogram: &LatencyHistogram) -> BTreeMap<u64, u64> {
    let mut bins = BTreeMap::new();
    for (ns, count) in histogram.buckets() {
        *bins.entry(middle(index(ns))).or_default() += count;
    }
    bins
}

fn index(ns: u64) -> u64 {
    let Some(most_significant) = ns.checked_ilog2().filter(|bit| *bit > BITS) else { return ns };
    let dropped = most_significant - BITS;
    let base = u64::from(dropped + 1) << BITS;
    let offset = (ns >> dropped) & (PER_GROUP - 1);
    (base + offset).min(BUCKETS - 1)
}

fn middle(index: u64) -> u64 {
    if index < 2 * PER_GROUP {
        return index;
    }
    let dropped = (index >> BITS) - 1;
    let base = 1 << (dropped + u64::from(BITS));
    base + (index % PER_GROUP) * (1 << dropped) + (1 << (dropped - 1))
}

// Reads or writes of one job, over all trials.

/// fio's `read`, `write` and `trim`.
#[derive(Serialize)]
struct Direction {
    io_bytes: u64,
    io_kbytes: u64,
    /// Bytes per second.
    bw_bytes: u64,
    /// KiB per second.
    bw: u64,
    iops: f64,
    /// Milliseconds.
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    /// Submission is not measured separately: N is 0, as in fio with a synchronous engine.
    slat_ns: Latency,
    /// From submission.
    clat_ns: Latency,
    /// From the intended start; in a closed loop, the same as `clat_ns`.
    lat_ns: Latency,
    bw_min: u64,
    bw_max: u64,
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: u64,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
    /// Not in fio: I/Os that failed.
    errors: u64,
    /// Not in fio: CPU time of the job's threads per I/O, in nanoseconds; `null` without I/O. The
    /// threads of a job do both directions, so a mixed job has the same value in both.
    cpu_ns_per_io: Option<f64>,
}

/// Sums before division.
#[derive(Default)]
struct Sums {
    ios: u64,
    bytes: u64,
    errors: u64,
    short_ios: u64,
    active_ns: u64,
    service: LatencyHistogram,
    response: LatencyHistogram,
    per_second_ios: Vec<u64>,
    per_second_kib: Vec<u64>,
}

impl Sums {
    fn add(&mut self, direction: &DirectionRecord, active_ns: u64) {
        self.ios += direction.ios;
        self.bytes += direction.bytes;
        self.errors += direction.errors;
        self.short_ios += direction.short_ios;
        self.active_ns += active_ns;
        self.service.merge(&direction.service);
        self.response.merge(direction.latency());
        self.per_second_ios.extend(direction.per_second_ios.iter().map(|n| u64::from(*n)));
        self.per_second_kib.extend(direction.per_second_bytes.iter().map(|n| n / 1024));
    }

    fn ios(&self) -> u64 {
        self.ios
    }

    /// `cpu_ns_per_io`: of the whole job.
    fn finish(&self, cpu_ns_per_io: Option<f64>) -> Direction {
        let idle = self.ios == 0;
        let seconds = self.active_ns as f64 / 1e9;
        let per_second = |amount: u64| {
            if idle || seconds == 0.0 { 0.0 } else { amount as f64 / seconds }
        };
        let none: &[u64] = &[];
        let rates = Spread::of(if idle { none } else { &self.per_second_ios });
        let bandwidths = Spread::of(if idle { none } else { &self.per_second_kib });
        Direction {
            io_bytes: self.bytes,
            io_kbytes: self.bytes / 1024,
            bw_bytes: whole(per_second(self.bytes)),
            bw: whole(per_second(self.bytes)) / 1024,
            iops: per_second(self.ios),
            runtime: if idle { 0 } else { self.active_ns / 1_000_000 },
            total_ios: self.ios,
            short_ios: self.short_ios,
            drop_ios: 0,
            slat_ns: Latency::of(&LatencyHistogram::new()),
            clat_ns: Latency::of(&self.service),
            lat_ns: Latency::of(&self.response),
            bw_min: bandwidths.min,
            bw_max: bandwidths.max,
            bw_agg: if bandwidths.samples > 0 { 100.0 } else { 0.0 },
            bw_mean: bandwidths.mean,
            bw_dev: bandwidths.stddev,
            bw_samples: bandwidths.samples,
            iops_min: rates.min,
            iops_max: rates.max,
            iops_mean: rates.mean,
            iops_stddev: rates.stddev,
            iops_samples: rates.samples,
            errors: self.errors,
            cpu_ns_per_io: cpu_ns_per_io.filter(|_| !idle),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates are positive")]
fn whole(value: f64) -> u64 {
    value as u64
}

// Latency objects, and shares of latencies below fio's limits.

/// fio's default list of percentiles.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];
/// Limits of fio's distribution tables.
const LIMITS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1_000];

/// fio's `clat_ns`, `lat_ns` and so on; all in nanoseconds.
#[derive(Serialize)]
struct Latency {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    n: u64,
    /// By percentile in C's `%f` format; absent without I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Ordered<u64>>,
    /// By the middle of the bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<BTreeMap<u64, u64>>,
}

/// In fio's order, which a sorted map would not keep: `"5.000000"` is before `"10.000000"`.
struct Ordered<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Latency {
    fn of(histogram: &LatencyHistogram) -> Self {
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
            bins: recorded.then(|| of(histogram)),
        }
    }
}

/// Shares in percent by upper limit: fio's `latency_ns`, `latency_us`, `latency_ms`.
type Distribution = Ordered<f64>;

/// The three tables for nanoseconds, microseconds and milliseconds.
fn distributions(histogram: &LatencyHistogram) -> [Distribution; 3] {
    let mut ns = [0u64; LIMITS.len()];
    let mut us = [0u64; LIMITS.len()];
    // Two more entries: below two seconds, and the rest.
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

/// fio's `iodepth_*` tables: 100 % in one entry, or nothing.
fn all_at(names: &[&str], chosen: Option<&str>) -> Distribution {
    let share = |name: &str| if chosen == Some(name) { 100.0 } else { 0.0 };
    Ordered(names.iter().map(|name| ((*name).to_owned(), share(name))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_named_as_fio_names_them() {
        // Names that fio 3.33 printed, with a value that belongs there.
        for (ns, name) in [(127, 127), (190, 191), (501, 502), (621, 620), (1_000, 1_004)] {
            assert_eq!(middle(index(ns)), name, "{ns}");
        }
        assert_eq!(middle(index(4_062_252)), 4_046_848);
    }

    #[test]
    fn what_exceeds_fios_range_lands_in_its_last_bucket() {
        assert_eq!(index(u64::MAX), BUCKETS - 1);
        assert_eq!(middle(index(1 << 40)), middle(BUCKETS - 1));
    }

    #[test]
    fn a_bucket_is_within_a_hundredth_of_what_it_holds() {
        for ns in (0..34).flat_map(|bit| [1u64 << bit, (1 << bit) + (1 << bit) / 3]) {
            let off = middle(index(ns)).abs_diff(ns);
            assert!(off as f64 <= 0.008 * ns as f64, "{ns}: {off}");
        }
    }

    #[test]
    fn no_latency_is_lost() {
        let mut histogram = LatencyHistogram::new();
        (1..5_000u64).for_each(|i| histogram.record(i * i * 97));
        assert_eq!(of(&histogram).values().sum::<u64>(), histogram.count());
    }

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
