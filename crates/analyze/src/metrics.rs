//! What can be compared: a table with a row for each metric. Verdicts, figures, tables and JSON go
//! through it.

use iotax_experiment::{IndexLoads, Job, Workload};
pub use iotax_stats::stopping::Better;
use iotax_stats::tail::samples_needed;
use serde::{Serialize, Serializer};

use crate::effect::On;
use crate::facts::{JobFacts, TrialFacts, positive};

/// What is compared. Of those that a workload is compared in, the first is its primary metric;
/// where it waits for its syncs, those of syncs come before the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Requests per second that a replayed application answers: its own rate, whatever I/O each
    /// request takes.
    RequestRate,
    /// Mean time of a replayed application from a request to its answer.
    RequestTime,
    /// 99th percentile of response time. In a closed loop the arms issue different numbers of I/Os,
    /// so their tails are not those of the same load; at an offered rate they are.
    P99,
    /// Mean response time: from the intended start of each I/O.
    Latency,
    /// I/Os per second of the primary job: what arms in a closed loop share.
    Throughput,
    /// Throughput of slices without the pairs that differ the most: a fifth of them at either end.
    /// Rare stalls may keep throughput undecided for ever, since they carry most of its noise; what
    /// all other slices agree on is known long before.
    TrimmedThroughput,
    /// Bits per second that pass over a network path, both ways together; of datagrams, those that
    /// come.
    Bandwidth,
    /// The share of datagrams that come. Loss is compared as what it leaves: none lost has no
    /// logarithm, all delivered has, and where few are lost a tax of what is delivered is the loss
    /// itself; the shares that parts of a path deliver multiply, so their logarithms add up.
    Delivered,
    /// Mean time from a request to its answer, over a network path.
    RoundTrip,
    /// Connections per second, each with a request and its answer.
    ConnectionRate,
    /// Median time of the operations that the primary job is about ([`Job::leading_kind`]): what
    /// the typical one takes. Unlike the tail it is compared in a closed loop, too. There a stall
    /// delays as many operations as are in flight, however many a faster arm would have issued
    /// meanwhile: that moves the few in the tail, and not the half of all that is below the median.
    /// For the same reason stalls and busy neighbours disturb it less than they disturb a rate.
    ///
    /// [`Job::leading_kind`]: iotax_experiment::Job::leading_kind
    P50,
    /// Mean time to load an index.
    LoadTime,
    /// Mean time of an I/O from its submission: what the storage takes, without the wait for a
    /// turn.
    ServiceTime,
    /// 99th percentile of the time of a sync. As of other tails: at an offered rate only, since in
    /// a closed loop the arms do not get the same load.
    SyncP99,
    /// Mean time of a sync (`fsync`, `fdatasync`).
    SyncLatency,
    /// How unevenly datagrams come (RFC 3550, 6.4.1).
    Jitter,
    /// CPU time per I/O, with that of other threads that worked for it.
    CpuPerIo,
    /// The same of a request over a network path, and of its connection if it has its own.
    CpuPerRequest,
    /// CPU time per MiB that passes over a network path, at both ends.
    CpuPerMib,
}

impl Metric {
    pub const ALL: [Self; 19] = [
        Self::RequestRate,
        Self::RequestTime,
        Self::P99,
        Self::Latency,
        Self::Throughput,
        Self::Bandwidth,
        Self::Delivered,
        Self::RoundTrip,
        Self::ConnectionRate,
        Self::TrimmedThroughput,
        Self::P50,
        Self::LoadTime,
        Self::ServiceTime,
        Self::SyncP99,
        Self::SyncLatency,
        Self::Jitter,
        Self::CpuPerIo,
        Self::CpuPerRequest,
        Self::CpuPerMib,
    ];

    #[expect(clippy::too_many_lines, reason = "a table")]
    const fn info(self) -> MetricInfo {
        match self {
            Self::RequestRate => MetricInfo {
                id: "request_rate",
                unit: Unit::RequestsPerSecond,
                better: Better::Higher,
                compares: |workload| workload.answers_requests() && workload.is_paced_by_answers(),
                of: |trial| ratio(requests_and_seconds(trial)),
                parts: Some(requests_and_seconds),
                role: Role::Decides,
                traits: &[Trait::MayChange, Trait::Stalls, Trait::AddsUp],
                ..PLAIN
            },
            Self::RequestTime => MetricInfo {
                id: "request_time",
                compares: Workload::answers_requests,
                of: |trial| ratio(request_time_and_requests(trial)),
                parts: Some(request_time_and_requests),
                role: Role::Decides,
                traits: &[Trait::MayChange, Trait::AddsUp],
                ..PLAIN
            },
            Self::P99 => MetricInfo {
                id: "p99",
                compares: |workload| workload.is_open_loop() && !workload.is_datagrams(),
                of: |trial| trial.primary().map(|job| job.p99_latency_ns as f64),
                role: Role::Decides,
                quantile: Some(0.99),
                traits: &[Trait::MayChange, Trait::Stalls, Trait::NeedsRate],
                ..PLAIN
            },
            Self::Latency => MetricInfo {
                id: "latency",
                compares: |workload| workload.is_open_loop() && !workload.is_datagrams(),
                of: |trial| trial.primary().map(|job| job.mean_latency_ns),
                role: Role::Decides,
                traits: &[Trait::MayChange, Trait::Stalls, Trait::AddsUp, Trait::NeedsRate],
                ..PLAIN
            },
            Self::Throughput => MetricInfo {
                id: "throughput",
                unit: Unit::IosPerSecond,
                better: Better::Higher,
                compares: |workload| !workload.is_open_loop() && !workload.is_network(),
                of: |trial| trial.primary().map(JobFacts::iops),
                parts: Some(ios_and_seconds),
                role: Role::Decides,
                traits: &[Trait::MayChange, Trait::Stalls, Trait::Capped, Trait::AddsUp],
                ..PLAIN
            },
            Self::TrimmedThroughput => MetricInfo {
                id: "trimmed_throughput",
                unit: Unit::IosPerSecond,
                better: Better::Higher,
                compares: |workload| {
                    !workload.is_open_loop() && !workload.is_network() && workload.is_sliced()
                },
                of: |trial| trial.primary().map(JobFacts::iops),
                role: Role::StandsIn,
                traits: &[Trait::MayChange, Trait::Stalls, Trait::Capped, Trait::Trimmed],
                ..PLAIN
            },
            Self::Bandwidth => MetricInfo {
                id: "bandwidth",
                unit: Unit::BitsPerSecond,
                better: Better::Higher,
                compares: |workload| {
                    workload.is_stream() || workload.is_datagrams() && !workload.is_open_loop()
                },
                of: |trial| Some(trial.flows().map(JobFacts::bits_per_s).sum()),
                role: Role::Decides,
                traits: &[Trait::MayChange, Trait::Stalls, Trait::Capped, Trait::AddsUp],
                ..PLAIN
            },
            Self::Delivered => MetricInfo {
                id: "delivered",
                unit: Unit::Share,
                better: Better::Higher,
                compares: |workload| workload.is_datagrams(),
                of: |trial| trial.primary().and_then(JobFacts::delivered),
                role: Role::Decides,
                traits: &[Trait::MayChange, Trait::NeedsRate, Trait::AddsUp],
                ..PLAIN
            },
            Self::RoundTrip => MetricInfo {
                id: "round_trip",
                compares: |workload| workload.is_round_trips() && !workload.is_open_loop(),
                of: |trial| trial.primary().map(|job| job.service_sum_ns / job.ios as f64),
                role: Role::Decides,
                traits: &[Trait::MayChange, Trait::Stalls, Trait::AddsUp],
                ..PLAIN
            },
            Self::ConnectionRate => MetricInfo {
                id: "connection_rate",
                unit: Unit::IosPerSecond,
                better: Better::Higher,
                compares: |workload| workload.is_connections() && !workload.is_open_loop(),
                of: |trial| trial.primary().map(JobFacts::iops),
                parts: Some(ios_and_seconds),
                role: Role::Decides,
                traits: &[Trait::MayChange, Trait::Stalls, Trait::AddsUp],
                ..PLAIN
            },
            Self::P50 => MetricInfo {
                id: "p50",
                compares: |workload| !workload.moves_bytes(),
                of: |trial| Some(trial.primary()?.typical?.ns),
                traits: &[Trait::MayChange, Trait::Stalls, Trait::NeedsRate],
                ..PLAIN
            },
            Self::LoadTime => MetricInfo {
                id: "load_time",
                compares: |workload| workload.index.is_some(),
                of: |trial| {
                    let (_, mean_ns) =
                        trial.beside.iter().find(|(name, _)| name == IndexLoads::LOAD)?;
                    Some(*mean_ns)
                },
                role: Role::NeedsWord,
                traits: &[Trait::MayChange],
                ..PLAIN
            },
            Self::ServiceTime => MetricInfo {
                id: "service_time",
                compares: |workload| workload.is_open_loop() && !workload.is_datagrams(),
                of: |trial| trial.primary().map(|job| job.service_sum_ns / job.ios as f64),
                traits: &[Trait::NeedsRate],
                ..PLAIN
            },
            Self::SyncP99 => MetricInfo {
                id: "sync_p99",
                compares: |workload| workload.is_open_loop() && syncs(workload),
                of: |trial| trial.primary().map(|job| job.sync_p99_ns as f64),
                role: Role::Decides,
                quantile: Some(0.99),
                traits: &[Trait::OfSyncs, Trait::MayChange, Trait::Stalls, Trait::NeedsRate],
                ..PLAIN
            },
            Self::SyncLatency => MetricInfo {
                id: "sync_latency",
                compares: syncs,
                of: |trial| trial.primary().map(|job| job.sync_sum_ns / job.syncs as f64),
                role: Role::Decides,
                traits: &[Trait::OfSyncs, Trait::MayChange, Trait::Stalls, Trait::AddsUp],
                ..PLAIN
            },
            Self::Jitter => MetricInfo {
                id: "jitter",
                compares: |workload| workload.is_datagrams() && workload.is_open_loop(),
                of: |trial| trial.primary()?.udp.map(|udp| udp.jitter_ns as f64),
                ..PLAIN
            },
            Self::CpuPerIo => MetricInfo {
                id: "cpu_per_io",
                compares: |workload| !workload.is_network(),
                of: |trial| ratio(cpu_and_ios(trial)),
                parts: Some(cpu_and_ios),
                traits: &[Trait::OfHost],
                ..PLAIN
            },
            Self::CpuPerRequest => MetricInfo {
                id: "cpu_per_request",
                compares: |workload| workload.is_round_trips() || workload.is_connections(),
                of: |trial| ratio(cpu_and_ios(trial)),
                parts: Some(cpu_and_ios),
                traits: &[Trait::OfHost],
                ..PLAIN
            },
            Self::CpuPerMib => MetricInfo {
                id: "cpu_per_mib",
                compares: Workload::moves_bytes,
                of: |trial| ratio(cpu_and_mib(trial)),
                parts: Some(cpu_and_mib),
                traits: &[Trait::OfHost],
                ..PLAIN
            },
        }
    }

    /// What is compared under this workload, the primary metric first.
    pub(crate) fn of_workload(workload: &Workload) -> Vec<Self> {
        let compared = Self::ALL.into_iter().filter(|metric| (metric.info().compares)(workload));
        // Of an application, its own pace comes first, or its response times.
        let syncs_first = workload.waits_for_syncs()
            && !workload.is_paced_by_answers()
            && !workload.answers_requests();
        let (mut first, rest): (Vec<Self>, Vec<Self>) =
            compared.partition(|metric| syncs_first && metric.has(Trait::OfSyncs));
        first.extend(rest);
        first
    }

    /// Operations of the primary job that a trial needs for its figure in the primary metric to
    /// mean something: for a quantile those that leave some beyond it.
    pub fn operations_needed(workload: &Workload) -> u64 {
        /// For a mean: one operation more or less changes it by a percent.
        const FOR_A_MEAN: u64 = 100;
        let first = Self::of_workload(workload).first().and_then(|metric| metric.quantile());
        first.map_or(FOR_A_MEAN, samples_needed)
    }

    /// The first under this workload in which the costs of layers add up.
    pub(crate) fn additive(workload: &Workload) -> Self {
        let mut metrics = Self::of_workload(workload).into_iter();
        metrics.find(|metric| metric.adds_up()).unwrap_or(Self::Throughput)
    }

    /// CPU time per I/O, or per MiB over a network path.
    pub fn cpu(workload: &Workload) -> Self {
        let mut metrics = Self::of_workload(workload).into_iter();
        metrics.find(|metric| !metric.is_speed()).unwrap_or(Self::CpuPerIo)
    }

    /// In records and JSON.
    pub const fn id(self) -> &'static str {
        self.info().id
    }

    /// What its figures are in.
    pub const fn unit(self) -> Unit {
        self.info().unit
    }

    /// Which way it gets better. With less throughput the tax is 1 - with / without; with more
    /// time, with / without - 1.
    pub const fn better(self) -> Better {
        self.info().better
    }

    /// What an effect on it is an effect on: which words say it.
    pub fn on(self) -> On {
        match self.better() {
            _ if !self.is_speed() => On::Cost,
            Better::Higher => On::Rate,
            Better::Lower => On::Time,
        }
    }

    /// Whether its figure is the speed of the storage, not what a host spends on it.
    pub fn is_speed(self) -> bool {
        !self.has(Trait::OfHost)
    }

    /// Whether a tax in it says the same as time per I/O, by Little's law: the costs of layers that
    /// work one after the other add up.
    pub fn adds_up(self) -> bool {
        self.has(Trait::AddsUp)
    }

    /// A trial's figure in its unit: finite and above 0, or `None`.
    pub(crate) fn of(self, trial: &TrialFacts) -> Option<f64> {
        (self.info().of)(trial).and_then(positive)
    }

    /// What its figure is a ratio of, where single slices are too short for it.
    pub(crate) const fn parts(self) -> Option<Parts> {
        self.info().parts
    }

    pub(crate) fn has(self, wanted: Trait) -> bool {
        self.info().traits.contains(&wanted)
    }

    pub(crate) const fn role(self) -> Role {
        self.info().role
    }

    pub(crate) fn is_time(self) -> bool {
        self.info().unit == Unit::Nanoseconds
    }

    pub(crate) const fn quantile(self) -> Option<f64> {
        self.info().quantile
    }

    /// Whether it is about what most operations, or slices, show, and not about all of them.
    pub const fn is_typical(self) -> bool {
        matches!(self, Self::P50 | Self::TrimmedThroughput)
    }

    /// Whether it is about syncs, not about reads and writes.
    pub fn is_of_syncs(self) -> bool {
        self.has(Trait::OfSyncs)
    }

    /// How many operations of a job its quantile is one of.
    pub(crate) fn samples(self, job: &JobFacts) -> u64 {
        if self.has(Trait::OfSyncs) { job.syncs } else { job.latency_ios }
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

/// What a figure is a ratio of: the part, and the whole.
pub(crate) type Parts = fn(&TrialFacts) -> Option<[f64; 2]>;

/// What is known of a metric.
struct MetricInfo {
    /// In records and JSON.
    id: &'static str,
    unit: Unit,
    better: Better,
    compares: fn(&Workload) -> bool,
    /// The figure of a trial, in `unit`.
    of: fn(&TrialFacts) -> Option<f64>,
    /// What that is a ratio of, where single slices are too short for it.
    parts: Option<Parts>,
    role: Role,
    traits: &'static [Trait],
    /// The quantile of the latencies that it is.
    quantile: Option<f64>,
}

/// A row that has nothing special.
const PLAIN: MetricInfo = MetricInfo {
    id: "",
    unit: Unit::Nanoseconds,
    better: Better::Lower,
    compares: |_| false,
    of: |_| None,
    parts: None,
    role: Role::Beside,
    traits: &[],
    quantile: None,
};

/// What holds for some metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trait {
    /// It is what a host spends, not the speed of the storage.
    OfHost,
    /// The effect on it is searched for a change during the run.
    MayChange,
    /// A trial whose primary job completes nothing is worse than any figure of it.
    Stalls,
    /// A cap can make it equal.
    Capped,
    /// The costs of layers that work one after the other add up in it, or in its inverse.
    AddsUp,
    /// It is about syncs, not about reads and writes.
    OfSyncs,
    /// It means nothing where the offered rate is not reached.
    NeedsRate,
    /// It is concluded on without the blocks that differ the most.
    Trimmed,
}

/// What the figures of a metric are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// I/Os per second.
    IosPerSecond,
    RequestsPerSecond,
    BitsPerSecond,
    /// A fraction of 1.
    Share,
    Nanoseconds,
}

/// What a metric has to do with the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It decides, if it is the first that can.
    Decides,
    /// It ends a run where what decides is out of reach.
    StandsIn,
    /// It needs a word, though not its precision: it is what such a workload is run for.
    NeedsWord,
    /// It is shown beside the others.
    Beside,
}

fn ratio(parts: Option<[f64; 2]>) -> Option<f64> {
    parts.map(|[part, whole]| part / whole)
}

/// I/Os of the primary job, and the seconds in which it completed them.
fn ios_and_seconds(trial: &TrialFacts) -> Option<[f64; 2]> {
    let job = trial.primary()?;
    (job.active_ns > 0).then_some([job.ios as f64, job.active_ns as f64 / 1e9])
}

/// Answered requests, and the seconds in which they were.
fn requests_and_seconds(trial: &TrialFacts) -> Option<[f64; 2]> {
    let job = trial.primary()?;
    (job.active_ns > 0).then_some([job.requests as f64, job.active_ns as f64 / 1e9])
}

/// Time of the answered requests in nanoseconds, and their number.
fn request_time_and_requests(trial: &TrialFacts) -> Option<[f64; 2]> {
    let job = trial.primary()?;
    Some([job.request_sum_ns, job.requests as f64])
}

/// CPU time of the primary job, with that of other threads that worked for it, and its I/Os or
/// requests.
fn cpu_and_ios(trial: &TrialFacts) -> Option<[f64; 2]> {
    let job = trial.primary()?;
    Some([job.cpu_ns as f64 + trial.helpers_cpu_ns(job), job.ios as f64])
}

/// CPU time of the flows, and what passed of them.
#[expect(clippy::unnecessary_wraps, reason = "has the same signature as similar functions")]
fn cpu_and_mib(trial: &TrialFacts) -> Option<[f64; 2]> {
    let cpu_ns = |job: &JobFacts| job.cpu_ns as f64 + trial.helpers_cpu_ns(job);
    let passed = |job: &JobFacts| job.bytes() as f64 * job.delivered().unwrap_or(1.0);
    let mib = trial.flows().map(passed).sum::<f64>() / MIB;
    Some([trial.flows().map(cpu_ns).sum(), mib])
}

/// Whether the primary job syncs as it goes; a sync at its end is one per trial.
fn syncs(workload: &Workload) -> bool {
    workload.primary_job().is_some_and(Job::syncs_as_it_goes)
}

/// The unit of CPU time over a network path, in bytes.
const MIB: f64 = 1_048_576.0;

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use std::collections::BTreeSet;

    use iotax_experiment::Pace;

    use super::*;

    #[test]
    fn each_has_an_id_of_its_own() {
        let ids: BTreeSet<&str> = Metric::ALL.iter().map(|metric| metric.id()).collect();
        assert_eq!(ids.len(), Metric::ALL.len());
    }

    #[test]
    fn what_is_lost_does_not_count() {
        let udp = iotax_record::UdpRecord { sent: 100, received: 75, ..Default::default() };
        let job = JobFacts {
            write_bytes: 1_000_000,
            active_ns: 1_000_000_000,
            udp: Some(udp),
            ..JobFacts::default()
        };
        assert_eq!(job.bits_per_s(), 8.0 * 750_000.0);
    }

    #[test]
    fn cpu_time_is_told_per_what_a_load_does() {
        let cpu = |preset| Metric::cpu(&Workload::preset(preset).unwrap());
        assert_eq!(["tcp-stream", "udp-stream"].map(cpu), [Metric::CpuPerMib; 2]);
        assert_eq!(["tcp-rr", "tcp-connect"].map(cpu), [Metric::CpuPerRequest; 2]);
        assert_eq!(cpu("randread-4k"), Metric::CpuPerIo);
    }

    fn compared_in(change: impl Fn(&mut Job)) -> Vec<Metric> {
        let mut workload = Workload::preset("seqwrite-1m").unwrap();
        change(&mut workload.jobs[0]);
        Metric::of_workload(&workload)
    }

    #[test]
    fn the_syncs_of_a_job_that_waits_for_them_come_first() {
        let [every, many] = [1, 1000].map(|n| move |job: &mut Job| job.fsync_every = Some(n));
        let rest = [Metric::Throughput, Metric::P50, Metric::CpuPerIo];
        assert_eq!(compared_in(every), [&[Metric::SyncLatency], &rest[..]].concat());
        let at_times = [Metric::Throughput, Metric::P50, Metric::SyncLatency, Metric::CpuPerIo];
        assert_eq!(compared_in(many), at_times);
        assert_eq!(compared_in(|job| job.end_fsync = true), rest);
        let mostly_reads = |job: &mut Job| (job.read_percent, job.fsync_every) = (70, Some(1));
        assert_eq!(compared_in(mostly_reads), at_times);
    }

    #[test]
    fn at_a_rate_the_p99_of_the_syncs_comes_first() {
        let of_rate = |job: &mut Job| {
            (job.fsync_every, job.pace) = (Some(1), Pace::Poisson { iops: 100.0 });
        };
        let first = [Metric::SyncP99, Metric::SyncLatency, Metric::P99, Metric::Latency];
        assert_eq!(compared_in(of_rate)[..4], first);
    }

    #[test]
    fn the_pace_of_an_application_comes_first_unless_the_clock_sets_it() {
        let compared = |requests: u64, arrivals: &str| {
            let recording = serde_json::json!({
                "path": "app.iotx", "hash": "1", "length_ns": 2_000_000_000_u64, "threads": 1,
                "requests": requests, "waits_for_syncs": true, "arrivals": arrivals, "parts": 2,
                "writes": true,
            });
            let recording = Some(serde_json::from_value(recording).unwrap());
            Metric::of_workload(&Workload::new("app", vec![Job { recording, ..Job::new("app") }]))
        };
        let [rate, time] = [Metric::RequestRate, Metric::RequestTime];
        let with_clients = compared(40, "after_answers");
        assert_eq!(with_clients[..3], [rate, time, Metric::Throughput]);
        assert!(with_clients.contains(&Metric::SyncLatency));
        assert_eq!(compared(40, "by_the_clock")[..2], [time, Metric::Throughput]);
        // Too few, as of a health check.
        assert_eq!(compared(39, "after_answers")[0], Metric::Throughput);
        assert_eq!(compared(0, "by_the_clock")[0], Metric::SyncLatency);
    }

    #[test]
    fn each_workload_has_one_that_decides_first_and_one_that_adds_up() {
        for workload in Workload::presets() {
            let metrics = Metric::of_workload(&workload);
            assert_eq!(metrics[0].role(), Role::Decides, "{}", workload.name);
            assert!(metrics.contains(&Metric::additive(&workload)), "{}", workload.name);
        }
    }

    #[test]
    fn each_metric_has_its_name_unit_direction_role_and_traits() {
        let mut table = String::new();
        for metric in Metric::ALL {
            let MetricInfo { id, unit, better, role, traits, quantile, .. } = metric.info();
            writeln!(table, "{id}: {unit:?}, {better:?}, {role:?}, {traits:?}, {quantile:?}")
                .unwrap();
            assert_eq!(serde_json::to_value(metric).unwrap(), id);
        }
        insta::assert_snapshot!(table);
    }
}
