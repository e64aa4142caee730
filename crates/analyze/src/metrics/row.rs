//! What a row of the table says.

use iotax_experiment::Workload;
pub use iotax_stats::stopping::Better;

use crate::facts::TrialFacts;

/// What is known of a metric.
pub(crate) struct Row {
    /// In records and JSON.
    pub(super) id: &'static str,
    /// For people, as in "30 % more p99 latency".
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    pub(super) better: Better,
    pub(super) compares: fn(&Workload) -> bool,
    /// The figure of a trial, in `unit`.
    pub(super) of: fn(&TrialFacts) -> Option<f64>,
    pub(super) role: Role,
    pub(super) traits: &'static [Trait],
    /// The quantile of the latencies that it is.
    pub(super) quantile: Option<f64>,
}

/// A row that has nothing special.
pub(super) const PLAIN: Row = Row {
    id: "",
    name: "",
    unit: Unit::Nanoseconds,
    better: Better::Lower,
    compares: |_| false,
    of: |_| None,
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
}

/// What the figures of a metric are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// I/Os per second.
    IosPerSecond,
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
    /// It needs a word, though not its precision: it is what such a workload is run for.
    NeedsWord,
    /// It is told beside the others.
    Beside,
}
