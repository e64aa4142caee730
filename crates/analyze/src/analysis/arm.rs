//! What the trials of an arm add up to.

use iotax_catalog::Limit;
use iotax_experiment::KnownLimit;
use iotax_record::{ReplayTimes, Slow};
use serde::Serialize;

use super::{QuantilePoint, latency_at};
use crate::counters::CounterSummary;

/// One arm over all its usable trials: I/Os over time, and summed latency over I/Os, so that rate
/// and mean latency agree by Little's law.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmSummary {
    pub name: String,
    /// Its target, as text.
    pub target: String,
    /// Trials used.
    pub trials: u32,
    /// Trials that failed or were interrupted.
    pub failed_trials: u32,
    /// Those of the used ones in which the primary job completed nothing; they count as 0 in rates.
    #[serde(skip_serializing_if = "is_zero")]
    pub stalled_trials: u32,
    /// I/Os per second of the primary job.
    pub iops: f64,
    /// Bytes per second of the primary job.
    pub bytes_per_s: f64,
    /// Requests that a replayed application answers, per second; `None` if it has no clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_s: Option<f64>,
    /// Coefficient of variation of the trials' throughput.
    pub throughput_cv: f64,
    /// CPU time of the primary job's threads per I/O, in nanoseconds.
    pub cpu_ns_per_io: f64,
    /// Mean latency of the primary job, in nanoseconds.
    pub mean_latency_ns: f64,
    /// Latency of the primary job, pooled over trials: descriptive only.
    pub latency: Vec<QuantilePoint>,
    /// I/Os behind `latency`.
    pub latency_ios: u64,
    /// The few I/Os of the primary job that take much of the time, if there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_mode: Option<SlowMode>,
    /// Syncs of the primary job, if it syncs as it goes; pooled over trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncSummary>,
    /// What passed over a network path, if the load was driven over one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkSummary>,
    /// Operations on trees of files, if that is what the primary job does: its rate is then one of
    /// operations. Those beside the jobs, such as loads of an index, follow. Pooled over trials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationSummary>,
    /// How a recording was replayed, if the load is one; sums over its trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplaySummary>,
    /// The arm's other jobs.
    pub other_jobs: Vec<JobSummary>,
    /// Of jobs that look for their queue depth: what they found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found_depths: Vec<FoundDepth>,
    /// Of an arm with several targets: each of them that some job works on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetSummary>,
    /// All jobs on all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<Rates>,
    /// Devices, CPUs, pressure and NFS, means over the windows of its trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<CounterSummary>,
}

impl ArmSummary {
    /// Its syncs, if they are what the primary job is about.
    pub fn leading_sync(&self) -> Option<&SyncSummary> {
        self.sync.as_ref().filter(|sync| sync.leads)
    }
}

impl JobSummary {
    /// Its syncs, if they are what the job is about.
    pub fn leading_sync(&self) -> Option<&SyncSummary> {
        self.sync.as_ref().filter(|sync| sync.leads)
    }
}

/// Sums over the usable trials of an arm: not shown, but signs of what made it fast or slow.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Work {
    /// Bytes of the primary job.
    pub bytes: u64,
    /// Bytes of the arm's other jobs.
    pub other_bytes: u64,
    /// Bytes that all jobs read per second.
    pub read_bytes_per_s: f64,
    /// Bytes that all jobs wrote per second.
    pub write_bytes_per_s: f64,
    /// Share of the primary job's threads' time that passed in flushes.
    pub flush_share: f64,
    /// Mean time of a flush of the primary job, in nanoseconds.
    pub flush_ns: f64,
    /// Time that all CPUs were busy, in nanoseconds; `None` if that is not known of all trials.
    pub cpu_busy_ns: Option<u64>,
    /// CPU time of the process, in nanoseconds; `None` if that is not known of all trials.
    pub process_cpu_ns: Option<u64>,
}

/// A job beside the primary one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobSummary {
    pub name: String,
    /// What it calls its target, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency in nanoseconds.
    pub mean_latency_ns: f64,
    /// 99th percentile of latency in nanoseconds, pooled.
    pub p99_latency_ns: u64,
    /// 99.9th percentile of latency in nanoseconds, pooled.
    pub p999_latency_ns: u64,
    /// Its syncs, if it syncs as it goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncSummary>,
}

/// The queue depth that a job found itself, per thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundDepth {
    pub job: String,
    /// The smallest of all trials.
    pub least: u32,
    pub most: u32,
}

/// One of several targets of an arm: what the jobs on it did there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetSummary {
    /// What jobs call it.
    pub name: String,
    /// What it is, as text.
    pub target: String,
    /// The block device it lies on, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The jobs that work on it.
    pub jobs: Vec<String>,
    /// Rates of all of them together.
    pub rates: Rates,
    /// Mean latency, in nanoseconds.
    pub mean_latency_ns: f64,
    /// 99th percentile of latency, in nanoseconds, pooled over jobs and trials.
    pub p99_latency_ns: u64,
    /// 99.9th percentile of latency, in nanoseconds, pooled.
    pub p999_latency_ns: u64,
    /// Limits that are known of it: of throttles in its stack, of groups that the process is in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<KnownLimit>,
    /// Limits that are documented of it, on I/O in the direction of its jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub documented: Vec<Limit>,
}

/// I/Os and bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Rates {
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
}

/// The replays of a recording on one arm.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ReplaySummary {
    /// Operations that were executed, without waits and wake-ups.
    pub operations: u64,
    /// Operations that the trials did not get to.
    pub left_over: u64,
    /// Operations that failed as they did in the recording.
    pub failed_as_recorded: u64,
    /// Syncs that were not issued because a sync of another thread covered them.
    pub shared_syncs: u64,
    /// Syncs that are not in the recording: there, a sync of another thread covered their thread.
    pub added_syncs: u64,
    /// How much later operations started than their think time and the threads that they waited for
    /// allowed, in nanoseconds.
    pub late_mean_ns: f64,
    pub late_p50_ns: u64,
    pub late_p99_ns: u64,
    pub late_max_ns: u64,
    /// Mean think time and latency of an I/O in the recording, in nanoseconds.
    pub recorded_cycle_ns: u64,
    /// What the threads spent their time on, except those that live by timers.
    pub times: ReplayTimes,
}

/// The syncs (`fsync`, `fdatasync`) of a job on one arm.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SyncSummary {
    /// Whether they are what the job is about, rather than its writes: it syncs after every few of
    /// them. What is shown of the job is then led by its syncs.
    pub leads: bool,
    pub count: u64,
    /// Mean time of one over the trials, in nanoseconds.
    pub mean_ns: f64,
    /// Percentiles, pooled over trials: descriptive only.
    pub latency: Vec<QuantilePoint>,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
}

impl SyncSummary {
    /// One percentile, if enough syncs lie beyond it.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        latency_at(&self.latency, q)
    }
}

/// What load over a network path is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkLoad {
    /// How much passes.
    Stream,
    /// How long a request waits for its answer.
    RoundTrips,
    /// How many connections are made, each for a request and its answer.
    Connections,
    /// How much is lost on the way.
    Datagrams,
}

impl NetworkLoad {
    /// Whether it is bytes that count, and no single one has a latency to speak of.
    pub fn moves_bytes(self) -> bool {
        matches!(self, Self::Stream | Self::Datagrams)
    }
}

/// The primary job of an arm that is a network path, over all trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NetworkSummary {
    pub load: NetworkLoad,
    /// Bits per second that came, both ways together.
    pub bits_per_s: f64,
    /// To the peer and from it, where streams go both ways at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each_way: Option<[f64; 2]>,
    /// CPU time of both ends, in nanoseconds: per request or connection, else per MiB.
    pub cpu_ns: f64,
    /// TCP segments that were sent again, per GiB, ramp included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits_per_gib: Option<f64>,
    /// What the kernel took a round trip to be at the end, in nanoseconds: under a stream the queue
    /// that it makes is part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ns: Option<f64>,
    /// Share of the datagrams that did not come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<f64>,
    /// Share of those that came after a later one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordered: Option<f64>,
    /// How unevenly they came (RFC 3550, 6.4.1), in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_ns: Option<f64>,
    /// Share of the sends without a copy that the kernel copied all the same; only where that was
    /// asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copied: Option<f64>,
}

/// One kind of operation on one arm: on trees of files, or beside the jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperationSummary {
    /// Its name: `create`, `stat`, ...; `publish`, `load` and `query` of an index.
    pub name: String,
    /// How often it was done.
    pub count: u64,
    /// Share of the primary job's operations; `None` beside the jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// How often it failed.
    pub errors: u64,
    /// Mean latency, in nanoseconds.
    pub mean_ns: f64,
    /// 99th percentile, in nanoseconds.
    pub p99_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    /// Percentiles, pooled over trials: descriptive only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub latency: Vec<QuantilePoint>,
    /// Those that took too long, where that is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow: Option<Slow>,
    /// Those that waited for another to end, where they can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited: Option<u64>,
}

/// I/Os that take many times as long as the others, with next to none in between, and that have a
/// large share of all time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SlowMode {
    /// Whether they are writes; reads else.
    pub writes: bool,
    pub ios: u64,
    /// Their share of the I/Os of their direction.
    pub share_of_ios: f64,
    /// Their share of the time of all I/Os of the job.
    pub share_of_time: f64,
    /// Median of their latencies, in nanoseconds.
    pub median_ns: u64,
    /// Median of the others of their direction, in nanoseconds.
    pub others_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
