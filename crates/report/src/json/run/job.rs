//! One job, over all trials.

use std::collections::BTreeMap;

use iotax_experiment::{self as spec, BlockSizes, Pace, Trims, Workload};
use iotax_record::{JobRecord, LatencyHistogram, LoadRecord};
use serde::Serialize;

use super::{Direction, Sums};
use super::{Distribution, Latency, all_at, distributions};

/// `EIO`. The actual error is in `first_error`, as text.
const EIO: i32 = 5;
const LEVELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// fio's entry of `jobs`.
#[derive(Serialize)]
pub(super) struct Job {
    jobname: String,
    groupid: u32,
    error: i32,
    eta: u32,
    /// Seconds, ramps included.
    elapsed: u64,
    #[serde(rename = "job options")]
    options: BTreeMap<&'static str, String>,
    read: Direction,
    write: Direction,
    trim: Direction,
    sync: Sync,
    /// Milliseconds, summed over threads.
    #[serde(rename = "job_runtime")]
    thread_runtime: u64,
    /// Percent of `job_runtime`.
    usr_cpu: f64,
    sys_cpu: f64,
    ctx: u64,
    majf: u64,
    minf: u64,
    /// At the mean number in flight per thread.
    iodepth_level: Distribution,
    /// Not measured: all zero.
    iodepth_submit: Distribution,
    iodepth_complete: Distribution,
    latency_ns: Distribution,
    latency_us: Distribution,
    latency_ms: Distribution,
    latency_depth: u32,
    latency_target: u32,
    latency_percentile: f64,
    latency_window: u32,
    /// Not in fio: maximum delay of the start of an I/O, in nanoseconds (open loop).
    max_slip_ns: u64,
    /// Not in fio: name of its target, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// Not in fio: the first error as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_error: Option<String>,
}

#[derive(Serialize)]
struct Sync {
    total_ios: u64,
    lat_ns: Latency,
}

impl Job {
    pub(super) fn new(job: &spec::Job, workload: &Workload, loads: &[&LoadRecord]) -> Self {
        let of_job = |load: &'_ &LoadRecord| load.jobs.iter().position(|r| r.name == job.name);
        let records: Vec<&JobRecord> =
            loads.iter().filter_map(|load| Some(&load.jobs[of_job(load)?])).collect();
        let sum = |value: fn(&JobRecord) -> u64| records.iter().map(|r| value(r)).sum::<u64>();
        let [mut read, mut write, mut trim]: [Sums; 3] = Default::default();
        let mut sync = LatencyHistogram::new();
        for record in &records {
            read.add(&record.read, record.active_ns);
            write.add(&record.write, record.active_ns);
            if let Some(trims) = &record.trim {
                trim.add(trims, record.active_ns);
            }
            sync.merge(&record.sync);
        }
        let mut service = read.service.clone();
        service.merge(&write.service);
        service.merge(&trim.service);
        let [nanoseconds, microseconds, milliseconds] = distributions(&service);
        let thread_ns = sum(|r| r.active_ns * u64::from(r.threads));
        let percent = |ns: u64| 100.0 * ratio(ns, thread_ns).unwrap_or(0.0);
        let cpu_ns = sum(|r| r.cpu_user_ns + r.cpu_system_ns);
        let cpu_ns_per_io = ratio(cpu_ns, read.ios() + write.ios() + trim.ios());
        let elapsed_ns: u64 = loads.iter().map(|load| load.window_ns + workload.ramp_ns).sum();
        let first_error = records.iter().find_map(|r| r.first_error.clone());
        Self {
            jobname: job.name.clone(),
            groupid: 0,
            error: if sum(JobRecord::errors) > 0 { EIO } else { 0 },
            eta: 0,
            elapsed: elapsed_ns.div_ceil(1_000_000_000),
            options: options(job),
            read: read.finish(cpu_ns_per_io),
            write: write.finish(cpu_ns_per_io),
            trim: trim.finish(cpu_ns_per_io),
            sync: Sync { total_ios: sync.count(), lat_ns: Latency::of(&sync) },
            thread_runtime: thread_ns / 1_000_000,
            usr_cpu: percent(sum(|r| r.cpu_user_ns)),
            sys_cpu: percent(sum(|r| r.cpu_system_ns)),
            ctx: sum(|r| r.context_switches),
            majf: sum(|r| r.major_faults),
            minf: sum(|r| r.minor_faults),
            iodepth_level: all_at(
                &LEVELS,
                depth_level(ratio(sum(|r| r.in_flight_io_ns), thread_ns)),
            ),
            iodepth_submit: all_at(&BATCHES, None),
            iodepth_complete: all_at(&BATCHES, None),
            latency_ns: nanoseconds,
            latency_us: microseconds,
            latency_ms: milliseconds,
            latency_depth: job.queue_depth,
            latency_target: 0,
            latency_percentile: 100.0,
            latency_window: 0,
            max_slip_ns: records.iter().map(|r| r.max_slip_ns).max().unwrap_or(0),
            target: job.target.clone(),
            first_error,
        }
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The table entry for a mean depth: the largest power of two not above it.
fn depth_level(depth: Option<f64>) -> Option<&'static str> {
    let depth = depth.filter(|d| *d > 0.0)?;
    // Up to 1 % below an integer counts as that integer, because the last I/Os of a trial end one
    // by one.
    let limits = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    Some(LEVELS[limits.iter().filter(|limit| depth >= 0.99 * **limit).count()])
}

/// The job as fio options, if fio has such options.
fn options(job: &spec::Job) -> BTreeMap<&'static str, String> {
    let mut options = BTreeMap::from([
        ("name", job.name.clone()),
        ("ioengine", job.engine.name().to_owned()),
        ("rw", direction(job)),
        ("iodepth", job.queue_depth.to_string()),
        ("numjobs", job.threads.to_string()),
        ("size", job.size_bytes.to_string()),
        ("direct", u8::from(job.direct).to_string()),
        ("invalidate", u8::from(job.invalidate).to_string()),
    ]);
    if job.reads() && job.writes() {
        options.insert("rwmixread", job.read_percent.to_string());
    }
    // Read sizes and, after a comma, write sizes if they differ.
    for sizes in job.all_block_sizes() {
        let (name, sizes) = block_sizes(sizes);
        options.entry(name).and_modify(|all| *all = format!("{all},{sizes}")).or_insert(sizes);
    }
    if let Some(iops) = job.pace.offered_iops() {
        // fio's limit is per thread.
        options.insert("rate_iops", format!("{}", iops / f64::from(job.threads.max(1))));
    }
    if matches!(job.pace, Pace::Poisson { .. }) {
        options.insert("rate_process", "poisson".to_owned());
    }
    if let Some(every) = job.fsync_every {
        options.insert("fdatasync", every.to_string());
    }
    options
}

fn block_sizes(sizes: &BlockSizes) -> (&'static str, String) {
    match sizes {
        BlockSizes::Fixed(size) => ("bs", size.to_string()),
        BlockSizes::Range { min, max } => ("bsrange", format!("{min}-{max}")),
        BlockSizes::Split(shares) => {
            let shares = shares.iter().map(|s| format!("{}/{}", s.bytes, s.percent));
            ("bssplit", shares.collect::<Vec<_>>().join(":"))
        }
    }
}

fn direction(job: &spec::Job) -> String {
    let random = if job.pattern.is_random() { "rand" } else { "" };
    let direction = match (job.reads(), job.writes(), job.trims) {
        (_, _, Some(Trims::Only)) => "trim",
        (_, _, Some(Trims::First)) => "trimwrite",
        (true, false, None) => "read",
        (false, _, None) => "write",
        (true, true, None) => "rw",
    };
    format!("{random}{direction}")
}

/// A time in the syntax of fio options: whole seconds, otherwise milliseconds.
pub(super) fn milliseconds(ns: u64) -> String {
    if ns.is_multiple_of(1_000_000_000) {
        format!("{}s", ns / 1_000_000_000)
    } else {
        format!("{}ms", ns / 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_depth_finds_its_level() {
        let levels = [0.2, 1.0, 1.99, 31.9, 63.9, 500.0].map(|d| depth_level(Some(d)));
        assert_eq!(levels, ["1", "1", "2", "32", ">=64", ">=64"].map(Some));
        assert_eq!(depth_level(None), None);
    }

    #[test]
    fn times_are_written_as_fio_reads_them() {
        assert_eq!([milliseconds(5_000_000_000), milliseconds(250_000_000)], ["5s", "250ms"]);
    }
}
