//! One trial: one run of the workload on one arm.

use serde::{Deserialize, Serialize};

use crate::counters::{Counters, PathEnd};
use crate::histogram::LatencyHistogram;

/// One trial, as one JSON line of `trials.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Block it belongs to, from 0.
    pub block: u32,
    /// Position in the order in which all trials ran, from 0.
    pub slot: u32,
    pub arm: String,
    /// Which of the experiment's phases it is a run of, from 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub phase: u32,
    /// How long it was, among slices.
    #[serde(default, skip_serializing_if = "is_default")]
    pub length: TrialLength,
    /// Start of the trial, nanoseconds since the start of the experiment (monotonic).
    pub started_ns: u64,
    /// Time spent on bringing the arm up before the trial (switching), in nanoseconds.
    pub switch_ns: u64,
    pub outcome: Outcome,
    /// The measurement; absent if the trial failed before any.
    pub load: Option<LoadRecord>,
    /// What the kernel counted meanwhile, once a second; `statistics` in records of format 1.
    #[serde(default, alias = "statistics", skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
}

/// How long a trial is in an experiment whose trials are slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialLength {
    /// As long as the experiment says.
    #[default]
    Planned,
    /// A longer slice: does it show the same as short ones?
    LongSlice,
    /// The usual length of trials, since it did not.
    Usual,
}

/// What came of a trial. A failed trial is data, not a reason to stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Measured as asked.
    Completed,
    /// Measured, but some I/O failed or some fact could not be gathered.
    Degraded {
        /// What went wrong, for people.
        reasons: Vec<String>,
    },
    /// Nothing usable was measured.
    Failed {
        /// What went wrong, for people.
        error: String,
    },
    /// The user interrupted it; not used in any statistic.
    Interrupted,
}

/// What the load driver measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LoadRecord {
    /// Which driver: `native`, `fio 3.33`.
    pub driver: String,
    /// Length of the measured window, in nanoseconds.
    pub window_ns: u64,
    /// One per job of the workload, in its order.
    pub jobs: Vec<JobRecord>,
    /// What was done beside the jobs, such as loads of an index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationRecord>,
    /// Counters of this machine and process over the window.
    pub system: SystemCounters,
    /// What the far end of a network path did over the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far_end: Option<FarEndRecord>,
    /// Of a network path: at each end the thread and the CPU that had the most to do in the window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busiest: Vec<Busiest>,
    /// The load generator itself was held up in the window: stopped by a signal, frozen, or with its
    /// machine. Rates and latencies then tell of that, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<PauseRecord>,
    /// What the driver said that is no failure: warnings of another tool, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl LoadRecord {
    /// If the job of this name completed nothing in its window although it was at it: the I/Os per
    /// second that it stayed below, one per window. `None` for a job that completed something,
    /// failed, or had nothing to do.
    pub fn stalled_below(&self, job: &str) -> Option<f64> {
        let job = self.jobs.iter().find(|record| record.name == job)?;
        if job.first_error.is_some() || job.errors() > 0 || job.ios() > 0 {
            return None;
        }
        // fio does not tell what is in flight, but a job of it that has nothing to do ends.
        let was_at_it = job.in_flight_io_ns > 0 || self.driver != "native";
        (was_at_it && job.active_ns > 0).then(|| 1e9 / job.active_ns as f64)
    }
}

/// Times in which a load generator did not run, though it could have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PauseRecord {
    pub count: u32,
    /// All together, in nanoseconds.
    pub total_ns: u64,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
}

impl PauseRecord {
    /// Both of one trial.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            total_ns: self.total_ns.saturating_add(other.total_ns),
            longest_ns: self.longest_ns.max(other.longest_ns),
        }
    }
}

/// What one job did in the window; its threads are merged.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JobRecord {
    pub name: String,
    /// Engine really used.
    pub engine: String,
    /// The engine that was asked for, where a sandbox forbids that and `engine` stands in for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    pub threads: u32,
    /// Queue depth of each thread.
    pub queue_depth: u32,
    /// The depth at which a job that looked for one ended; the most of its threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_depth: Option<u32>,
    /// Time in the window during which the job ran, in nanoseconds (shorter than the window for a
    /// size-bound job that finished).
    pub active_ns: u64,
    pub read: DirectionRecord,
    pub write: DirectionRecord,
    /// Trims, of a job that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<DirectionRecord>,
    /// Latencies of reads and writes together, where another tool sums them up and gave no
    /// distribution: percentiles of two directions have no sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub both: Option<LatencySummary>,
    /// `fsync` / `fdatasync` latencies.
    pub sync: LatencyHistogram,
    /// Syncs of which another tool gave no distribution: how many, and what it said of them.
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
    /// Time that the job's threads had nothing to do but to wait for completions, where the loop counts
    /// it; whatever an engine computes while it waits is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_ns: Option<u64>,
    /// Time that the job's threads were ready to run and had to wait for a CPU, if the kernel counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_wait_ns: Option<u64>,
    /// Open loop: I/Os that should have started in the window.
    pub offered_ios: Option<u64>,
    /// Open loop: the longest an I/O started after its intended time, in nanoseconds.
    pub max_slip_ns: u64,
    /// I/Os in flight summed over the window, in I/O-nanoseconds, counted independently of the
    /// latencies: divided by `active_ns` it is the mean number in flight, for Little's law. A
    /// sync is none of them: it takes a place in the queue, but is counted in `sync` alone.
    pub in_flight_io_ns: u64,
    /// Blocks that did not read back as written; only with `verify`.
    pub verify_mismatches: Option<u64>,
    /// First error, for people: operation, offset, reason.
    pub first_error: Option<String>,
    /// What the kernel knows of its TCP connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpRecord>,
    /// What became of its datagrams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp: Option<UdpRecord>,
    /// Latencies of each operation on trees of files; `read` and `write` have them all together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationRecord>,
}

/// The host at the far end of a network path over the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FarEndRecord {
    /// CPU time of the process that is the peer, in nanoseconds.
    pub cpu_ns: u64,
    /// Time all CPUs of its host were busy, in nanoseconds, summed over CPUs.
    pub cpu_busy_ns: Option<u64>,
    /// It runs on the near end's kernel: [`LoadRecord::system`] has its CPU time, too.
    pub same_host: bool,
    /// How many CPUs its host has; 0 if that is not known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cpus: u32,
}

/// What had the most to do at one end of a network path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Busiest {
    pub end: PathEnd,
    pub one: BusyOne,
    /// How long it was busy in the window, in nanoseconds.
    pub busy_ns: u64,
}

/// One of several that can do one thing at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BusyOne {
    /// The thread that used the most CPU time, of load, of the peer, or of a layer's program.
    Thread {
        /// What the kernel calls it.
        name: String,
    },
    /// The CPU that had the most to do with interrupts.
    Cpu {
        number: u32,
        /// Time that it spent on interrupts, soft ones among them.
        interrupts_ns: u64,
    },
}

impl FarEndRecord {
    /// What was counted after `earlier`.
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

/// TCP connections of one job, as the near end's kernel sees them when the trial is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TcpRecord {
    pub connections: u64,
    /// Segments that the near end sent again, of all connections, ramp included.
    pub retransmits: u64,
    /// The kernel's smoothed estimate of a round trip, in nanoseconds; the longest of all
    /// connections.
    pub rtt_ns: u64,
    /// The congestion window in bytes, of all connections together.
    pub cwnd_bytes: u64,
    /// Bytes that a segment holds at most; the least of all connections.
    pub mss_bytes: u64,
    /// Bytes of a full segment's headers: IP's, TCP's, and TCP's options in it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub header_bytes: u64,
    /// Sends from load's own memory, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zero_copy: Option<ZeroCopyRecord>,
}

/// Sends with `MSG_ZEROCOPY`, ramp included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ZeroCopyRecord {
    /// Those of which the kernel said that it is done.
    pub sends: u64,
    /// Of these, those that it copied all the same, as it does on the way to this machine itself.
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

/// Datagrams of one job in the window, as both ends counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UdpRecord {
    /// Sent by the near end.
    pub sent: u64,
    /// Of these, those that came to the far end.
    pub received: u64,
    /// Of these, those that came after a later one.
    pub reordered: u64,
    /// Copies of one that had come already, ramp included.
    pub duplicates: u64,
    /// How unevenly they came (RFC 3550, 6.4.1), in nanoseconds; the most of all flows.
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
    /// Its name: that of an `iotax_experiment::Operation`; `publish`, `load`, `query` of an index.
    pub name: String,
    /// Its latencies.
    pub latency: LatencyHistogram,
    /// Those that failed.
    pub errors: u64,
    /// First error beside the jobs, for people; a job's own is with the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
    /// Those that took too long, where that is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<Slow>,
    /// Those that came while another was under way, and waited for it, where they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<u64>,
}

/// Operations that took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slow {
    /// Longer than this is too long, in nanoseconds.
    pub above_ns: u64,
    pub count: u64,
}

impl OperationRecord {
    /// Adds this one to the one of its name.
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
    /// I/Os completed in the window, short ones included, failed ones not.
    pub ios: u64,
    /// Bytes moved in the window.
    pub bytes: u64,
    /// I/Os that failed, or moved nothing at all; neither in `ios` nor in the latencies.
    pub errors: u64,
    /// I/Os that moved fewer bytes than asked.
    pub short_ios: u64,
    /// Completion minus submission: service time.
    pub service: LatencyHistogram,
    /// Completion minus intended start. `None` in a closed loop, where it equals `service`.
    pub response: Option<LatencyHistogram>,
    /// Completions per whole second of the window.
    pub per_second_ios: Vec<u32>,
    /// Bytes per whole second of the window.
    pub per_second_bytes: Vec<u64>,
    /// The bins of fio's JSON+ as it wrote them, middle in nanoseconds and count; `service` is
    /// made of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fio_bins: Vec<(u64, u64)>,
    /// What another tool said of its latencies; where it gave no distribution, all there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<LatencySummary>,
}

/// Latencies as another tool sums them up.
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
    /// Which they are, where the tool has several kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<FioLatency>,
}

/// A kind of latency, as fio calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FioLatency {
    /// From submission to completion.
    Clat,
    /// With the time that submission took.
    Lat,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl DirectionRecord {
    /// The histogram for verdicts: from the intended start if there was one.
    pub fn latency(&self) -> &LatencyHistogram {
        self.response.as_ref().unwrap_or(&self.service)
    }

    /// The same, unless all must count from submission since some of them know nothing else.
    pub fn latency_from(&self, submission: bool) -> &LatencyHistogram {
        if submission { &self.service } else { self.latency() }
    }
}

/// Counters over the measured window. `None` means this system does not tell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SystemCounters {
    /// CPU time of the whole process (its kernel worker threads included), in nanoseconds.
    pub process_cpu_ns: Option<u64>,
    /// Bytes this process caused to be fetched from devices.
    pub device_read_bytes: Option<u64>,
    /// Bytes this process caused to be sent to devices.
    pub device_write_bytes: Option<u64>,
    /// Time all CPUs were busy, in nanoseconds, summed over CPUs.
    pub cpu_busy_ns: Option<u64>,
    /// Time stolen by the hypervisor, in nanoseconds, summed over CPUs.
    pub cpu_steal_ns: Option<u64>,
    /// CPU time of all kernel threads, in nanoseconds: layers such as dm-crypt and loop devices
    /// work in them. `None` also where they cannot be seen, as in a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_threads_cpu_ns: Option<u64>,
}
