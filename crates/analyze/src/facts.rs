//! What the analysis keeps of a trial: a few hundred bytes instead of its histograms.

use std::collections::BTreeSet;

use iotax_experiment::{Job, Spec, Workload};
use iotax_record::{
    Busiest, DirectionRecord, FarEndRecord, JobRecord, LatencyHistogram, LoadRecord,
    OperationRecord, Outcome, PauseRecord, ReplayRecord, SystemCounters, TcpRecord, Trial,
    TrialLength, UdpRecord,
};
use serde::Serialize;

use crate::counters::{self, CounterSeries, CounterSummary};
use crate::described::{self, Described};
use crate::spread::LatencySpread;
use crate::taken::{Taken, taken};
use crate::typical::Typical;

/// What became of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    Completed,
    Degraded,
    /// The primary job completed nothing.
    Stalled,
    /// The load generator itself was held up.
    Paused,
    Failed,
    Interrupted,
}

impl TrialOutcome {
    /// In records, JSON and tables.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Degraded => "degraded",
            Self::Stalled => "stalled",
            Self::Paused => "paused",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "the fields are independent of each other")]
#[derive(Debug, Clone)]
pub(crate) struct TrialFacts {
    pub block: u32,
    pub slot: u32,
    /// Its place in the order of all trials; `None` where several run at the same time.
    pub place: Option<u32>,
    /// Index of the arm in the spec; `None` if the spec has no arm of this name.
    pub arm: Option<usize>,
    pub arm_name: String,
    pub started_ns: u64,
    pub switch_ns: u64,
    /// `completed`, `degraded`, `stalled`, `paused`, `failed` or `interrupted`.
    pub outcome: TrialOutcome,
    pub why: Option<String>,
    pub window_ns: u64,
    pub length: TrialLength,
    /// Slices that it is made of; 1 unless it is a stretch of them.
    pub slices: u32,
    /// Whether it is so short that counters of the kernel's clock are coarse in it.
    pub is_slice: bool,
    /// Whether it is a part of a recording, and all arms had the same to do.
    pub is_part: bool,
    /// In the order of the workload's jobs; a job without a record is absent.
    pub jobs: Vec<JobFacts>,
    /// What was done beside the jobs, and its mean time in nanoseconds; 0 if none was done.
    pub beside: Vec<(String, f64)>,
    /// Of a job, or else of what was done beside the jobs.
    pub first_error: Option<String>,
    pub system: SystemCounters,
    /// CPU time at the far end of a network path, if that is another machine.
    pub far_cpu_ns: u64,
    /// The far end of a network path.
    pub far_end: Option<FarEndRecord>,
    /// What had the most to do at either end of one.
    pub busiest: Vec<Busiest>,
    /// How what the primary job is about is spread, for as many trials as charts show.
    pub spread: Option<LatencySpread>,
    /// Reads and writes of the primary job in each second.
    pub per_second_ios: Vec<u32>,
    /// The machine over the window.
    pub counters: Option<CounterSummary>,
    /// The machine from sample to sample; dropped again where there is no room for it.
    pub series: Option<CounterSeries>,
    /// Intervals that `series` has, or had.
    pub intervals: usize,
    /// What the rules are about, one for each.
    pub taken: Vec<Option<Taken>>,
    /// Whether its figures may enter a statistic.
    pub usable: bool,
    /// If its primary job completed nothing although it was at it: the I/Os per second that it
    /// stayed below. Slower than could be measured, and no failure.
    pub stalled_below: Option<f64>,
    /// How long the load generator was held up in its window, which is no fact about storage.
    pub paused: Option<PauseRecord>,
    /// If the replay of a recording could not keep up.
    pub replay_late: Option<ReplayLate>,
    /// Streams that go both ways count together.
    pub both_ways: bool,
    /// Some arm of the experiment has layers of the system.
    pub in_system: bool,
}

/// How late the I/Os of a replay started.
#[expect(clippy::struct_field_names, reason = "the postfix is the unit")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ReplayLate {
    pub mean_ns: f64,
    pub p99_ns: u64,
    /// Mean think time and latency of an I/O in the recording.
    pub recorded_ns: u64,
}

impl ReplayLate {
    fn of(replay: &ReplayRecord) -> Option<Self> {
        replay.is_too_late.then(|| Self {
            mean_ns: replay.lateness.mean_ns(),
            p99_ns: replay.lateness.quantile_ns(0.99),
            recorded_ns: replay.recorded_cycle_ns,
        })
    }
}

/// One job of a trial, its threads and directions together.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobFacts {
    /// Index of the job in the workload.
    pub job: usize,
    pub is_primary: bool,
    pub engine: String,
    /// It stood in for another, which a sandbox forbids.
    pub stands_in: bool,
    pub threads: u32,
    pub queue_depth: u32,
    /// The depth that it found itself.
    pub found_depth: Option<u32>,
    pub active_ns: u64,
    pub ios: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub trim_bytes: u64,
    pub errors: u64,
    pub short_ios: u64,
    pub cpu_ns: u64,
    pub offered_ios: Option<u64>,
    pub max_slip_ns: u64,
    /// Windows that it ran in beyond one: those of the other slices of a stretch.
    pub more_windows: u32,
    pub in_flight_io_ns: u64,
    pub mismatches: u64,
    /// What became of its datagrams.
    pub udp: Option<UdpRecord>,
    /// Of its TCP connections.
    pub tcp: Option<TcpRecord>,
    /// From the intended start in an open loop, else from submission; in both if fio drives an arm.
    pub mean_latency_ns: f64,
    pub p99_latency_ns: u64,
    /// Latencies behind the two above.
    pub latency_ios: u64,
    /// The median of the leading kind of operation; of the primary job alone.
    pub typical: Option<Typical>,
    /// From submission: mean times I/Os, so that I/Os counted without a latency, or the other way
    /// round, break Little's law.
    pub service_sum_ns: f64,
    /// The longest from submission.
    pub service_max_ns: u64,
    /// Flushes: `fsync`, `fdatasync`.
    pub syncs: u64,
    /// Time in them.
    pub sync_sum_ns: f64,
    pub sync_p99_ns: u64,
    pub sync_max_ns: u64,
    /// They are what the job is about.
    pub waits_for_syncs: bool,
    /// Requests of clients that a replayed application answered.
    pub requests: u64,
    /// Time in them.
    pub request_sum_ns: f64,
}

/// Trials whose spread of latencies is kept, the first ones of all phases.
const MAX_SPREADS: u32 = 480;

impl TrialFacts {
    pub(crate) fn of(trial: &Trial, spec: &Spec, arm: Option<usize>) -> Self {
        let workload = spec.workload();
        let nothing = LoadRecord::default();
        let load = trial.load.as_ref().unwrap_or(&nothing);
        let from_submission = spec.counts_from_submission();
        let jobs = jobs(load, workload, from_submission);
        let (outcome, why, measured) = outcome(&trial.outcome);
        let primary = load.jobs.iter().find(|job| job.name == workload.primary);
        let series = trial.counters.as_ref().and_then(counters::series);
        let far_end = load.far_end.filter(|far| !far.same_host);
        let is_slice = workload.is_sliced() && trial.length == TrialLength::Planned;
        let mut facts = Self {
            block: trial.block,
            slot: trial.slot,
            place: (spec.at_once <= 1).then_some(trial.slot),
            arm,
            arm_name: trial.arm.clone(),
            started_ns: trial.started_ns,
            switch_ns: trial.switch_ns,
            outcome,
            why,
            window_ns: load.window_ns,
            length: trial.length,
            slices: 1,
            is_slice,
            is_part: is_slice && workload.recording().is_some(),
            beside: beside(load),
            first_error: first_error(load),
            far_cpu_ns: far_end.map_or(0, |far| far.cpu_busy_ns.unwrap_or(far.cpu_ns)),
            far_end: load.far_end,
            busiest: load.busiest.clone(),
            system: load.system.clone(),
            spread: primary.filter(|_| trial.slot < MAX_SPREADS).and_then(|record| {
                if jobs.iter().any(|job| job.is_primary && job.waits_for_syncs) {
                    LatencySpread::of(&record.sync)
                } else {
                    LatencySpread::of(&record.latency_from(from_submission))
                }
            }),
            jobs,
            per_second_ios: primary.map(JobRecord::per_second_ios).unwrap_or_default(),
            counters: trial.counters.as_ref().and_then(counters::of_trial),
            intervals: series.as_ref().map_or(0, CounterSeries::intervals),
            series,
            in_system: spec.arms.iter().any(|arm| arm.target.is_in_system()),
            both_ways: workload.goes_both_ways(),
            taken: taken(load, spec),
            usable: false,
            paused: load.paused,
            replay_late: load.replay.as_ref().and_then(ReplayLate::of),
            // What another tool did in its time is not known so well.
            stalled_below: load.stalled_below(&workload.primary).filter(|_| !spec.is_of_results()),
        };
        if facts.paused.is_some() && measured {
            facts.outcome = TrialOutcome::Paused;
            facts.why = None;
            facts.stalled_below = None;
        } else if facts.stalled_below.is_some() && outcome != TrialOutcome::Interrupted {
            facts.outcome = TrialOutcome::Stalled;
            facts.usable = arm.is_some();
        } else {
            facts.usable =
                measured && arm.is_some() && facts.primary().is_some_and(|job| job.iops() > 0.0);
        }
        facts
    }

    /// The job whose throughput decides.
    pub(crate) fn primary(&self) -> Option<&JobFacts> {
        self.jobs.iter().find(|job| job.is_primary)
    }

    /// The jobs whose bytes count: the primary one, or all where streams go both ways.
    pub(crate) fn flows(&self) -> impl Iterator<Item = &JobFacts> {
        self.jobs.iter().filter(|job| job.is_primary || self.both_ways)
    }

    /// CPU time that threads beside the jobs' own spent on `job`, in nanoseconds: a stack's work
    /// queues, the kernel's `io_uring` workers. A layer that only moves its work to another thread
    /// must not look free. What was used beyond the jobs is shared out by bytes moved; where more
    /// was done beside them, such as loads of an index, it cannot be told from that, and is left
    /// out.
    ///
    /// Layers of the system work in kernel threads and other processes, so there it is what the
    /// whole machine used, in all arms alike.
    pub(crate) fn helpers_cpu_ns(&self, job: &JobFacts) -> f64 {
        let used_ns =
            if self.in_system { self.system.cpu_busy_ns } else { self.system.process_cpu_ns };
        let (Some(process_ns), []) = (used_ns, self.beside.as_slice()) else {
            return 0.0;
        };
        let process_ns = process_ns + self.far_cpu_ns;
        let own_ns = self.jobs.iter().map(|job| job.cpu_ns).sum();
        let bytes: u64 = self.jobs.iter().map(JobFacts::bytes).sum();
        let share = job.bytes() as f64 / bytes.max(1) as f64;
        process_ns.saturating_sub(own_ns) as f64 * share
    }

    /// Time per I/O of the primary job in nanoseconds, the scale on which serial layers add: time
    /// per sync where it waits for syncs, response time where the rate is offered, and I/Os in
    /// flight / throughput where it is not (Little). In flight is what was counted, not what was
    /// asked for: a stack that serves one I/O at a time has one in flight at any depth.
    pub(crate) fn time_per_io_ns(&self) -> Option<f64> {
        let job = self.primary()?;
        if job.udp.is_some() {
            // Sending one takes as long whether it comes or not.
            return None;
        }
        if job.waits_for_syncs {
            return positive(job.sync_sum_ns / job.syncs as f64);
        }
        if job.offered_ios.is_some() {
            return positive(job.mean_latency_ns);
        }
        let in_flight: f64 = self.flows().map(JobFacts::in_flight).sum();
        positive(self.flows().map(JobFacts::iops).sum()).map(|iops| in_flight * 1e9 / iops)
    }
}

impl JobFacts {
    /// `from_submission`: see [`Spec::counts_from_submission`].
    fn of(record: &JobRecord, index: usize, workload: &Workload, from_submission: bool) -> Self {
        let job = &workload.jobs[index];
        let latency = record.latency_from(from_submission);
        let syncs = described::syncs(record);
        let mean_latency_ns = latency.mean_ns();
        let no_requests = LatencyHistogram::default();
        let requests = record.operations.iter().find(|done| done.name == OperationRecord::REQUEST);
        let requests = requests.map_or(&no_requests, |done| &done.latency);
        let facts = Self {
            job: index,
            is_primary: job.name == workload.primary,
            engine: record.engine.clone(),
            stands_in: record.instead_of.is_some(),
            threads: record.threads,
            queue_depth: record.queue_depth,
            found_depth: record.found_depth,
            active_ns: record.active_ns,
            ios: record.ios(),
            read_bytes: record.read.bytes,
            write_bytes: record.write.bytes,
            trim_bytes: record.trim.as_ref().map_or(0, |trim| trim.bytes),
            errors: record.errors(),
            short_ios: record.short_ios(),
            cpu_ns: record.cpu_user_ns.saturating_add(record.cpu_system_ns),
            offered_ios: record.offered_ios,
            max_slip_ns: record.max_slip_ns,
            more_windows: 0,
            in_flight_io_ns: record.in_flight_io_ns,
            mismatches: record.verify_mismatches.unwrap_or(0),
            udp: record.udp,
            tcp: record.tcp,
            mean_latency_ns,
            p99_latency_ns: latency.quantile_ns(0.99),
            service_max_ns: record
                .directions()
                .map(|part| part.service.max_ns())
                .max()
                .unwrap_or(0),
            syncs: syncs.count,
            sync_sum_ns: syncs.mean_ns * syncs.count as f64,
            sync_p99_ns: syncs.p99_ns,
            sync_max_ns: syncs.max_ns,
            waits_for_syncs: job.waits_for_syncs(),
            requests: requests.count(),
            request_sum_ns: requests.mean_ns() * requests.count() as f64,
            latency_ios: latency.count(),
            typical: None,
            service_sum_ns: if record.directions().any(|part| part.response.is_some()) {
                record.directions().map(sum_ns).sum()
            } else if latency.count() == 0 {
                0.0
            } else {
                // Latency is service time then, and its mean has cost a walk through all buckets.
                mean_latency_ns * record.ios() as f64
            },
        };
        match described::of(record) {
            Some(found) => facts.described(&found),
            None => facts,
        }
    }

    /// With what another tool said of its latencies.
    fn described(self, found: &Described) -> Self {
        Self {
            mean_latency_ns: found.mean_ns,
            p99_latency_ns: found.p99_ns.unwrap_or(0),
            latency_ios: found.ios,
            service_sum_ns: found.mean_ns * found.ios as f64,
            service_max_ns: found.max_ns,
            ..self
        }
    }

    /// I/Os per second while the job ran; 0 if it did not.
    pub(crate) fn iops(&self) -> f64 {
        per_second(self.ios, self.active_ns)
    }

    /// I/Os in flight as they were counted, or else as they were asked for.
    fn in_flight(&self) -> f64 {
        let asked = f64::from(self.threads.max(1)) * f64::from(self.queue_depth.max(1));
        let counted = self.in_flight_io_ns as f64 / self.active_ns.max(1) as f64;
        if counted > 0.0 { counted } else { asked }
    }

    /// The share of its datagrams that came; `None` if it sent none.
    pub(crate) fn delivered(&self) -> Option<f64> {
        let udp = self.udp.filter(|udp| udp.sent > 0)?;
        Some(udp.received as f64 / udp.sent as f64)
    }

    /// Bits that came.
    pub(crate) fn bits(&self) -> f64 {
        8.0 * self.bytes() as f64 * self.delivered().unwrap_or(1.0)
    }

    /// Bits per second that came.
    pub(crate) fn bits_per_s(&self) -> f64 {
        if self.active_ns == 0 { 0.0 } else { self.bits() * 1e9 / self.active_ns as f64 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.read_bytes + self.write_bytes + self.trim_bytes
    }

    /// Bytes per second while the job ran; 0 if it did not.
    pub(crate) fn bytes_per_s(&self) -> f64 {
        per_second(self.bytes(), self.active_ns)
    }
}

/// Whether different engines drove the primary jobs of trials, some of them in place of another,
/// which a sandbox forbids: what differs then may be the engines.
pub(crate) fn mixes_engines<'a>(trials: impl IntoIterator<Item = &'a TrialFacts>) -> bool {
    let jobs = trials.into_iter().flat_map(|trial| &trial.jobs).filter(|job| job.is_primary);
    let jobs: Vec<&JobFacts> = jobs.collect();
    let engines: BTreeSet<&str> = jobs.iter().map(|job| job.engine.as_str()).collect();
    engines.len() > 1 && jobs.iter().any(|job| job.stands_in)
}

/// Only a figure that something was measured for.
pub(crate) fn positive(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

fn jobs(load: &LoadRecord, workload: &Workload, from_submission: bool) -> Vec<JobFacts> {
    let of_job = |(index, job): (usize, &Job)| {
        let record = load.jobs.iter().find(|record| record.name == job.name)?;
        let facts = JobFacts::of(record, index, workload, from_submission);
        // It costs a walk through all buckets.
        let typical = facts.is_primary.then(|| {
            Typical::of(
                record,
                &job.leading_kind(),
                from_submission,
                load.driver.starts_with("fio"),
            )
        });
        Some(JobFacts { typical: typical.flatten(), ..facts })
    };
    workload.jobs.iter().enumerate().filter_map(of_job).collect()
}

fn beside(load: &LoadRecord) -> Vec<(String, f64)> {
    load.operations.iter().map(|done| (done.name.clone(), done.latency.mean_ns())).collect()
}

fn first_error(load: &LoadRecord) -> Option<String> {
    let of_jobs = load.jobs.iter().map(|job| &job.first_error);
    let beside = load.operations.iter().map(|done| &done.first_error);
    of_jobs.chain(beside).find_map(Clone::clone)
}

/// The outcome, the reason, and whether anything was measured to the end.
fn outcome(outcome: &Outcome) -> (TrialOutcome, Option<String>, bool) {
    match outcome {
        Outcome::Completed => (TrialOutcome::Completed, None, true),
        Outcome::Degraded { reasons } => (TrialOutcome::Degraded, Some(reasons.join("; ")), true),
        Outcome::Failed { error } => (TrialOutcome::Failed, Some(error.clone()), false),
        Outcome::Interrupted => (TrialOutcome::Interrupted, None, false),
    }
}

fn sum_ns(direction: &DirectionRecord) -> f64 {
    let service = &direction.service;
    if service.count() == 0 { 0.0 } else { service.mean_ns() * direction.ios as f64 }
}

fn per_second(count: u64, time_ns: u64) -> f64 {
    if time_ns == 0 { 0.0 } else { count as f64 * 1e9 / time_ns as f64 }
}
