//! What can be compared: a table with a row for each metric. Verdicts, figures, tables and JSON go
//! through it.

mod bandwidth;
mod connection_rate;
mod cpu_per_io;
mod cpu_per_mib;
mod delivered;
mod jitter;
mod latency;
mod load_time;
mod p99;
mod round_trip;
mod row;
mod service_time;
mod sync_latency;
mod sync_p99;
mod throughput;

use std::fmt;

use iotax_experiment::Workload;
use iotax_quantity::{Effect, On};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use self::row::Row;
pub use self::row::{Better, Unit};
pub(crate) use self::row::{Role, Trait};
use crate::facts::{JobFacts, TrialFacts, positive};

/// All of them. Of those that a workload is compared in, the first is its primary metric; where it
/// waits for its syncs, those of syncs come before the others.
const ALL: &[Metric] = &[
    Metric::P99,
    Metric::LATENCY,
    Metric::THROUGHPUT,
    Metric::BANDWIDTH,
    Metric::DELIVERED,
    Metric::ROUND_TRIP,
    Metric::CONNECTION_RATE,
    Metric::LOAD_TIME,
    Metric::SERVICE_TIME,
    Metric::SYNC_P99,
    Metric::SYNC_LATENCY,
    Metric::JITTER,
    Metric::CPU_PER_IO,
    Metric::CPU_PER_REQUEST,
    Metric::CPU_PER_MIB,
];

/// What is compared: a row of the table.
#[derive(Clone, Copy)]
pub struct Metric(&'static Row);

impl Metric {
    /// 99th percentile of response time at the offered rate.
    pub const P99: Self = Self(&p99::P99);
    /// Mean response time at the offered rate.
    pub const LATENCY: Self = Self(&latency::LATENCY);
    /// I/Os per second of the primary job.
    pub const THROUGHPUT: Self = Self(&throughput::THROUGHPUT);
    /// Bits per second over a network path.
    pub const BANDWIDTH: Self = Self(&bandwidth::BANDWIDTH);
    /// Share of datagrams that come.
    pub const DELIVERED: Self = Self(&delivered::DELIVERED);
    /// Mean time from a request to its answer.
    pub const ROUND_TRIP: Self = Self(&round_trip::ROUND_TRIP);
    /// Connections per second.
    pub const CONNECTION_RATE: Self = Self(&connection_rate::CONNECTION_RATE);
    /// How unevenly datagrams come.
    pub const JITTER: Self = Self(&jitter::JITTER);
    /// CPU time per request over a network path.
    pub const CPU_PER_REQUEST: Self = Self(&cpu_per_io::CPU_PER_REQUEST);
    /// CPU time per MiB over a network path.
    pub const CPU_PER_MIB: Self = Self(&cpu_per_mib::CPU_PER_MIB);
    /// Mean index load time.
    pub const LOAD_TIME: Self = Self(&load_time::LOAD_TIME);
    /// Mean time of an I/O from its submission.
    pub const SERVICE_TIME: Self = Self(&service_time::SERVICE_TIME);
    /// 99th percentile of the time of a sync at the offered rate.
    pub const SYNC_P99: Self = Self(&sync_p99::SYNC_P99);
    /// Mean time of a sync.
    pub const SYNC_LATENCY: Self = Self(&sync_latency::SYNC_LATENCY);
    /// CPU time per I/O.
    pub const CPU_PER_IO: Self = Self(&cpu_per_io::CPU_PER_IO);

    pub const fn all() -> &'static [Self] {
        ALL
    }

    /// What is compared under this workload, the primary metric first.
    pub(crate) fn of_workload(workload: &Workload) -> Vec<Self> {
        let compared = ALL.iter().copied().filter(|metric| (metric.0.compares)(workload));
        let (mut first, rest): (Vec<Self>, Vec<Self>) =
            compared.partition(|metric| workload.waits_for_syncs() && metric.has(Trait::OfSyncs));
        first.extend(rest);
        first
    }

    /// The first under this workload in which the costs of layers add up.
    pub(crate) fn additive(workload: &Workload) -> Self {
        let mut metrics = Self::of_workload(workload).into_iter();
        metrics.find(|metric| metric.adds_up()).unwrap_or(Self::THROUGHPUT)
    }

    /// What CPU time is told per under this workload.
    pub(crate) fn cpu(workload: &Workload) -> Self {
        let mut metrics = Self::of_workload(workload).into_iter();
        metrics.find(|metric| !metric.is_speed()).unwrap_or(Self::CPU_PER_IO)
    }

    /// In records and JSON.
    pub const fn id(self) -> &'static str {
        self.0.id
    }

    /// For people, as in "30 % more p99 latency".
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// What its figures are in.
    pub const fn unit(self) -> Unit {
        self.0.unit
    }

    /// Which way it gets better. With less throughput the tax is 1 - with / without; with more
    /// time, with / without - 1.
    pub const fn better(self) -> Better {
        self.0.better
    }

    /// What an effect on it is an effect on: which words say it.
    pub fn on(self) -> On {
        match self.better() {
            _ if !self.is_speed() => On::Cost,
            Better::Higher => On::Rate,
            Better::Lower => On::Time,
        }
    }

    /// What is known of a tax in it beside any estimate: `10 to 14 % slower`, `2.1 to 4.5x slower`.
    pub(crate) fn range(self, [lo, hi]: [f64; 2]) -> String {
        Effect::new(self.on(), None, Some(lo), Some(hi)).map_or_else(String::new, Effect::in_words)
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
        (self.0.of)(trial).and_then(positive)
    }

    pub(crate) fn has(self, wanted: Trait) -> bool {
        self.0.traits.contains(&wanted)
    }

    pub(crate) const fn role(self) -> Role {
        self.0.role
    }

    pub(crate) fn is_time(self) -> bool {
        self.0.unit == Unit::Nanoseconds
    }

    pub(crate) const fn quantile(self) -> Option<f64> {
        self.0.quantile
    }

    /// What a quantile is one of: `I/Os`, `requests` or `syncs`.
    pub(crate) fn samples_name(self, workload: &Workload) -> String {
        let one = if self.has(Trait::OfSyncs) { "sync" } else { workload.unit() };
        format!("{one}s")
    }

    /// How many of them a job did.
    pub(crate) fn samples(self, job: &JobFacts) -> u64 {
        if self.has(Trait::OfSyncs) { job.syncs } else { job.latency_ios }
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Metric {}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = String::deserialize(deserializer)?;
        let known = ALL.iter().copied().find(|metric| metric.id() == id);
        known.ok_or_else(|| de::Error::custom(format_args!("no metric is called {id:?}")))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use iotax_experiment::{Job, Pace};

    use super::*;

    #[test]
    fn each_is_found_again_by_its_id() {
        let ids: BTreeSet<&str> = ALL.iter().map(|metric| metric.id()).collect();
        assert_eq!(ids.len(), ALL.len());
        for metric in ALL {
            let text = serde_json::to_string(metric).unwrap();
            assert_eq!(serde_json::from_str::<Metric>(&text).unwrap(), *metric);
        }
        let unknown = serde_json::from_str::<Metric>("\"speed\"").unwrap_err();
        assert_eq!(unknown.to_string(), "no metric is called \"speed\"");
    }

    #[test]
    fn cpu_time_is_told_per_what_a_load_does() {
        let cpu = |preset| Metric::cpu(&Workload::preset(preset).unwrap());
        assert_eq!(["tcp-stream", "udp-stream"].map(cpu), [Metric::CPU_PER_MIB; 2]);
        assert_eq!(["tcp-rr", "tcp-connect"].map(cpu), [Metric::CPU_PER_REQUEST; 2]);
        assert_eq!(cpu("randread-4k"), Metric::CPU_PER_IO);
    }

    fn compared_in(change: impl Fn(&mut Job)) -> Vec<Metric> {
        let mut workload = Workload::preset("seqwrite-1m").unwrap();
        change(&mut workload.jobs[0]);
        Metric::of_workload(&workload)
    }

    #[test]
    fn the_syncs_of_a_job_that_waits_for_them_come_first() {
        let [every, many] = [1, 1000].map(|n| move |job: &mut Job| job.fsync_every = Some(n));
        let rest = [Metric::THROUGHPUT, Metric::CPU_PER_IO];
        assert_eq!(compared_in(every), [&[Metric::SYNC_LATENCY], &rest[..]].concat());
        let at_times = [Metric::THROUGHPUT, Metric::SYNC_LATENCY, Metric::CPU_PER_IO];
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
        let first = [Metric::SYNC_P99, Metric::SYNC_LATENCY, Metric::P99, Metric::LATENCY];
        assert_eq!(compared_in(of_rate)[..4], first);
    }

    #[test]
    fn each_workload_has_one_that_decides_first_and_one_that_adds_up() {
        for workload in Workload::presets() {
            let metrics = Metric::of_workload(&workload);
            assert_eq!(metrics[0].role(), Role::Decides, "{}", workload.name);
            assert!(metrics.contains(&Metric::additive(&workload)), "{}", workload.name);
        }
    }
}
