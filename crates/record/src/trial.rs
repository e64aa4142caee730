//! One trial: one run of the workload on one arm.

use serde::{Deserialize, Serialize};

use crate::counters::{Counters, PathEnd};
use crate::histogram::LatencyHistogram;

/// One trial, as one JSON line of `trials.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Block number, from 0.
    pub block: u32,
    /// Position in the order in which all trials ran, from 0.
    pub slot: u32,
    pub arm: String,
    /// Index of its phase in the experiment, from 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub phase: u32,
    /// Its length, if trials are slices.
    #[serde(default, skip_serializing_if = "is_default")]
    pub length: TrialLength,
    /// Start of the trial, nanoseconds since the start of the experiment (monotonic).
    pub started_ns: u64,
    /// Time to bring up the arm before the trial (switching), in nanoseconds.
    pub switch_ns: u64,
    pub outcome: Outcome,
    /// The measurement; absent if the trial failed before it.
    pub load: Option<LoadRecord>,
    /// Kernel counters during the trial, sampled once per second; `statistics` in records of format
    /// 1.
    #[serde(default, alias = "statistics", skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
}

/// Length of a trial in an experiment with slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialLength {
    /// The length from the experiment.
    #[default]
    Planned,
    /// A longer slice, to check whether it shows the same as short ones.
    LongSlice,
    /// The usual length of trials, because slices did not work.
    Usual,
}

/// Result of a trial. A failed trial is data, not a reason to stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Measured as requested.
    Completed,
    /// Measured, but some I/O failed or some facts could not be collected.
    Degraded {
        /// What went wrong, for users.
        reasons: Vec<String>,
    },
    /// Nothing usable was measured.
    Failed {
        /// What went wrong, for users.
        error: String,
    },
    /// The user interrupted it; not used in any statistic.
    Interrupted,
}

/// What the load driver measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LoadRecord {
    /// The driver: `native`, `fio 3.33`.
    pub driver: String,
    /// Length of the measured window, in nanoseconds.
    pub window_ns: u64,
    /// One per job of the workload, in order.
    pub jobs: Vec<JobRecord>,
    /// Operations beside the jobs, such as loads of an index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationRecord>,
    /// Counters of this machine and process over the window.
    pub system: SystemCounters,
    /// Activity of the far end of a network path in the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far_end: Option<FarEndRecord>,
    /// For a network path: the busiest thread and CPU at each end in the window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busiest: Vec<Busiest>,
    /// The load generator did not run for part of the window: stopped by a signal, frozen, or
    /// stopped with its machine. Rates and latencies include that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<PauseRecord>,
    /// How a recorded application was replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayRecord>,
    /// Messages of the driver that are not failures, such as warnings of another tool, for users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl LoadRecord {
    /// If the job of this name completed nothing although it was active: the rate in I/Os per
    /// second that it stayed below, one per window. `None` for a job that completed something,
    /// failed, or had nothing to do.
    pub fn stalled_below(&self, job: &str) -> Option<f64> {
        // A recording may have neither reads nor writes.
        if self.replay.is_some() {
            return None;
        }
        let job = self.jobs.iter().find(|record| record.name == job)?;
        if job.first_error.is_some() || job.errors() > 0 || job.ios() > 0 {
            return None;
        }
        // fio does not report I/Os in flight, but its jobs end when they have nothing to do.
        let was_at_it = job.in_flight_io_ns > 0 || self.driver != "native";
        (was_at_it && job.active_ns > 0).then(|| 1e9 / job.active_ns as f64)
    }
}

/// How faithfully the operations of a recorded application were replayed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ReplayRecord {
    /// How much later each I/O started than its think time and the threads it waited for allowed.
    pub lateness: LatencyHistogram,
    /// The lateness is so large that the result describes the load generator, as
    /// `iotax_load::Replay` defines it.
    pub is_too_late: bool,
    /// Length of the recording, in nanoseconds.
    pub recorded_ns: u64,
    /// Mean think time and latency of an I/O in the recording, in nanoseconds.
    pub recorded_cycle_ns: u64,
    /// How long the thread of a recorded I/O had waited for a CPU since its previous I/O: the mean
    /// and the 99th percentile, in nanoseconds.
    #[serde(default)]
    pub recorded_run_delay_ns: [u64; 2],
    /// Operations that were executed, without waits and wake-ups.
    pub operations: u64,
    /// Waits for other threads, whether or not these had come first.
    pub waits: u64,
    /// Waits for a thread that lives by timers, bounded by the recorded wait.
    pub bounded_waits: u64,
    /// Syncs that were not issued because a sync of another thread covered them.
    pub shared_syncs: u64,
    /// Syncs that are not in the recording: there, a sync of another thread covered their thread.
    #[serde(default)]
    pub added_syncs: u64,
    /// Threads that started their operations by the clock.
    pub clocked_threads: u32,
    /// Operations that the trial did not get to: those of these threads that were left when all
    /// others had finished, and all after the end of a shorter trial.
    pub left_over: u64,
    /// Operations that failed as they did in the recording.
    pub failed_as_recorded: u64,
    /// Bytes of files that were read into the page cache before the trial, because the recording
    /// began with them there.
    pub warmed_bytes: u64,
    /// What the threads spent their time on, except those that live by timers.
    #[serde(default)]
    pub times: ReplayTimes,
}

/// What threads of a replay spent their time on, apart from delays, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplayTimes {
    /// I/O, including the wait for a sync that another thread issued.
    pub io_ns: u64,
    /// CPU time that the recorded threads had used.
    pub cpu_ns: u64,
    /// Sleep for the rest of the recorded think time.
    pub think_ns: u64,
    /// Waits for other threads.
    pub threads_ns: u64,
    /// Waits for threads that live by timers.
    pub timers_ns: u64,
}

impl ReplayTimes {
    /// Adds those of another thread or trial.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.io_ns, other.io_ns),
            (&mut self.cpu_ns, other.cpu_ns),
            (&mut self.think_ns, other.think_ns),
            (&mut self.threads_ns, other.threads_ns),
            (&mut self.timers_ns, other.timers_ns),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

impl ReplayRecord {
    /// Adds a later trial of the same recording.
    pub fn add(&mut self, later: &Self) {
        self.lateness.merge(&later.lateness);
        self.is_too_late |= later.is_too_late;
        self.times.add(&later.times);
        for (sum, more) in [
            (&mut self.operations, later.operations),
            (&mut self.waits, later.waits),
            (&mut self.bounded_waits, later.bounded_waits),
            (&mut self.shared_syncs, later.shared_syncs),
            (&mut self.added_syncs, later.added_syncs),
            (&mut self.left_over, later.left_over),
            (&mut self.failed_as_recorded, later.failed_as_recorded),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// Times for which a load generator did not run although it could have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PauseRecord {
    pub count: u32,
    /// Total time, in nanoseconds.
    pub total_ns: u64,
    /// Longest time, in nanoseconds.
    pub longest_ns: u64,
}

impl PauseRecord {
    /// Both from the same trial.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            total_ns: self.total_ns.saturating_add(other.total_ns),
            longest_ns: self.longest_ns.max(other.longest_ns),
        }
    }
}

/// Results of one job in the window, merged over its threads.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JobRecord {
    pub name: String,
    /// Engine actually used.
    pub engine: String,
    /// The requested engine, if a sandbox forbids it and `engine` replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    pub threads: u32,
    /// Queue depth of each thread.
    pub queue_depth: u32,
    /// The depth that a job with a latency target ended at; the maximum over its threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_depth: Option<u32>,
    /// Time for which the job ran in the window, in nanoseconds (shorter than the window for a
    /// size-bound job that finished).
    pub active_ns: u64,
    pub read: DirectionRecord,
    pub write: DirectionRecord,
    /// Trims, if the job has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<DirectionRecord>,
    /// Latencies of reads and writes together, if another tool reports them without a distribution,
    /// because percentiles of two directions cannot be added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub both: Option<LatencySummary>,
    /// `fsync` / `fdatasync` latencies.
    pub sync: LatencyHistogram,
    /// Syncs without a distribution from another tool: their number and summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_summary: Option<(u64, LatencySummary)>,
    /// CPU time of the job's threads in user mode.
    pub cpu_user_ns: u64,
    /// CPU time of the job's threads in the kernel.
    pub cpu_system_ns: u64,
    /// Minor page faults of the job's threads.
    pub minor_faults: u64,
    /// Major page faults (those that waited for a device).
    pub major_faults: u64,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Time for which the job's threads only waited for completions, if the loop measures it;
    /// includes computation by an engine while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_ns: Option<u64>,
    /// Time for which the job's threads were ready but waited for a CPU, if the kernel measures it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_wait_ns: Option<u64>,
    /// Open loop: I/Os that should have started in the window.
    pub offered_ios: Option<u64>,
    /// Open loop: the longest delay of an I/O after its intended start, in nanoseconds.
    pub max_slip_ns: u64,
    /// I/Os in flight integrated over the window, in I/O-nanoseconds, counted independently of the
    /// latencies. Divided by `active_ns` it is the mean number in flight, for Little's law. Syncs
    /// are not included: a sync takes a place in the queue, but is counted only in `sync`.
    pub in_flight_io_ns: u64,
    /// Blocks that did not read back as written; only with `verify`.
    pub verify_mismatches: Option<u64>,
    /// First error, for users: operation, offset, reason.
    pub first_error: Option<String>,
    /// Kernel statistics of its TCP connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpRecord>,
    /// Statistics of its datagrams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp: Option<UdpRecord>,
    /// Latencies of each operation on trees of files; `read` and `write` have all of them together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationRecord>,
}

/// The host at the far end of a network path over the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FarEndRecord {
    /// CPU time of the peer process, in nanoseconds.
    pub cpu_ns: u64,
    /// Time for which all CPUs of its host were busy, in nanoseconds, summed over CPUs.
    pub cpu_busy_ns: Option<u64>,
    /// It runs on the same kernel as the near end: [`LoadRecord::system`] includes its CPU time.
    pub same_host: bool,
    /// Number of CPUs of its host; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cpus: u32,
}

/// The busiest resource at one end of a network path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Busiest {
    pub end: PathEnd,
    pub one: BusyOne,
    /// Time for which it was busy in the window, in nanoseconds.
    pub busy_ns: u64,
}

/// A resource that can do one thing at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BusyOne {
    /// The thread that used the most CPU time: of the load generator, the peer, or a layer's
    /// program.
    Thread {
        /// Name in the kernel.
        name: String,
    },
    /// The CPU with the most interrupt time.
    Cpu {
        number: u32,
        /// Time spent on interrupts, including soft ones.
        interrupts_ns: u64,
    },
}

impl FarEndRecord {
    /// The difference from `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            cpu_busy_ns: self
                .cpu_busy_ns
                .zip(earlier.cpu_busy_ns)
                .map(|(b, a)| b.saturating_sub(a)),
            same_host: self.same_host,
            cpus: self.cpus,
        }
    }
}

/// TCP connections of one job, according to the near end's kernel at the end of the trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TcpRecord {
    pub connections: u64,
    /// Segments that the near end retransmitted, over all connections, including the ramp.
    pub retransmits: u64,
    /// The kernel's smoothed round-trip time, in nanoseconds; the longest of all connections.
    pub rtt_ns: u64,
    /// The congestion window in bytes, of all connections together.
    pub cwnd_bytes: u64,
    /// Maximum bytes per segment; the minimum of all connections.
    pub mss_bytes: u64,
    /// Header bytes of a full segment: IP, TCP and TCP options.
    #[serde(default, skip_serializing_if = "is_default")]
    pub header_bytes: u64,
    /// Zero-copy sends, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zero_copy: Option<ZeroCopyRecord>,
}

/// Sends with `MSG_ZEROCOPY`, including the ramp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ZeroCopyRecord {
    /// Sends that the kernel reported as complete.
    pub sends: u64,
    /// Those of them that the kernel copied anyway, as it does on paths within this machine.
    pub copied: u64,
}

impl TcpRecord {
    /// Adds other connections.
    pub fn add(&mut self, more: &Self) {
        self.connections += more.connections;
        self.retransmits += more.retransmits;
        self.rtt_ns = self.rtt_ns.max(more.rtt_ns);
        self.cwnd_bytes += more.cwnd_bytes;
        self.mss_bytes = self.mss_bytes.min(more.mss_bytes);
        self.header_bytes = self.header_bytes.max(more.header_bytes);
        if let Some(more) = more.zero_copy {
            let sum = self.zero_copy.get_or_insert_default();
            sum.sends += more.sends;
            sum.copied += more.copied;
        }
    }
}

/// Datagrams of one job in the window, as counted by both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UdpRecord {
    /// Sent by the near end.
    pub sent: u64,
    /// Those of them that arrived at the far end.
    pub received: u64,
    /// Those of them that arrived after a later one.
    pub reordered: u64,
    /// Duplicates of datagrams that had already arrived, including the ramp.
    pub duplicates: u64,
    /// Jitter (RFC 3550, 6.4.1), in nanoseconds; the maximum of all flows.
    pub jitter_ns: u64,
}

impl UdpRecord {
    /// Adds other flows.
    pub fn add(&mut self, more: &Self) {
        self.sent += more.sent;
        self.received += more.received;
        self.reordered += more.reordered;
        self.duplicates += more.duplicates;
        self.jitter_ns = self.jitter_ns.max(more.jitter_ns);
    }
}

/// One kind of operation: on a tree of files, or beside the jobs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OperationRecord {
    /// Its name: that of an `iotax_experiment::Operation`; `publish`, `load`, `query` for an index;
    /// [`Self::REQUEST`]; or another operation of a replayed application.
    pub name: String,
    /// Its latencies.
    pub latency: LatencyHistogram,
    /// Failed operations.
    pub errors: u64,
    /// First error of an operation beside the jobs, for users; the job has its own errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
    /// Operations that took too long, if there is a threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<Slow>,
    /// Operations that waited for an earlier one, if they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<u64>,
}

impl OperationRecord {
    /// Name of the requests that a replayed application answers: their latency is the time until
    /// the answer begins.
    pub const REQUEST: &'static str = "request";
}

/// Operations that took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slow {
    /// Threshold, in nanoseconds.
    pub above_ns: u64,
    pub count: u64,
}

impl OperationRecord {
    /// Adds it to the entry with its name.
    pub fn add_to(&self, sums: &mut Vec<Self>) {
        let Some(sum) = sums.iter_mut().find(|sum| sum.name == self.name) else {
            sums.push(self.clone());
            return;
        };
        sum.latency.merge(&self.latency);
        sum.errors = sum.errors.saturating_add(self.errors);
        sum.first_error = sum.first_error.take().or_else(|| self.first_error.clone());
        let slow = [sum.slow, self.slow].into_iter().flatten();
        sum.slow =
            slow.reduce(|one, more| Slow { count: one.count.saturating_add(more.count), ..one });
        sum.waited = [sum.waited, self.waited].into_iter().flatten().reduce(u64::saturating_add);
    }
}

/// Reads, writes or trims of one job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DirectionRecord {
    /// I/Os completed in the window, including short ones and excluding failed ones.
    pub ios: u64,
    /// Bytes moved in the window.
    pub bytes: u64,
    /// I/Os that failed or moved nothing; not included in `ios` or in the latencies.
    pub errors: u64,
    /// I/Os that moved fewer bytes than requested.
    pub short_ios: u64,
    /// Completion minus submission: service time.
    pub service: LatencyHistogram,
    /// Completion minus intended start. `None` in a closed loop, where it equals `service`.
    pub response: Option<LatencyHistogram>,
    /// Completions per whole second of the window.
    pub per_second_ios: Vec<u32>,
    /// Bytes per whole second of the window.
    pub per_second_bytes: Vec<u64>,
    /// The bins of fio's JSON+ as written: middle in nanoseconds and count; `service` is computed
    /// from them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fio_bins: Vec<(u64, u64)>,
    /// Latency summary of another tool, the only data if it gave no distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<LatencySummary>,
}

/// Latency summary of another tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Mean, in nanoseconds.
    pub mean_ns: f64,
    /// Standard deviation, in nanoseconds.
    pub stddev_ns: Option<f64>,
    /// Shortest, in nanoseconds.
    pub min_ns: Option<u64>,
    /// Longest, in nanoseconds.
    pub max_ns: Option<u64>,
    /// Quantile in 0..1, and latency in nanoseconds.
    pub quantiles: Vec<(f64, u64)>,
    /// Kind of latency, if the tool has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<FioLatency>,
}

/// A kind of latency in fio's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FioLatency {
    /// From submission to completion.
    Clat,
    /// Including the time of the submission.
    Lat,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl DirectionRecord {
    /// The histogram for verdicts: from the intended start if there is one.
    pub fn latency(&self) -> &LatencyHistogram {
        self.response.as_ref().unwrap_or(&self.service)
    }

    /// The same, unless all must count from submission because some have nothing else.
    pub fn latency_from(&self, submission: bool) -> &LatencyHistogram {
        if submission { &self.service } else { self.latency() }
    }
}

/// Counters over the measured window. `None` means that this system does not report them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SystemCounters {
    /// CPU time of the whole process (including its kernel worker threads), in nanoseconds.
    pub process_cpu_ns: Option<u64>,
    /// Bytes this process caused to be fetched from devices.
    pub device_read_bytes: Option<u64>,
    /// Bytes this process caused to be sent to devices.
    pub device_write_bytes: Option<u64>,
    /// Time for which all CPUs were busy, in nanoseconds, summed over CPUs.
    pub cpu_busy_ns: Option<u64>,
    /// Steal time, in nanoseconds, summed over CPUs.
    pub cpu_steal_ns: Option<u64>,
    /// CPU time of all kernel threads, in nanoseconds: layers such as dm-crypt and loop devices
    /// work in them. `None` also if they cannot be seen, as in a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_threads_cpu_ns: Option<u64>,
}
