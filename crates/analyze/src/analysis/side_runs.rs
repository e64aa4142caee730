//! What was found by what is run beside the trials: preconditioning, draining, the depth check.

use serde::Serialize;

use super::Estimate;
use crate::metrics::Metric;

/// How an arm was preconditioned for one phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmPrecondition {
    pub arm: String,
    /// Whole passes of sequential writes over the span.
    pub passes: u32,
    /// Bytes that they wrote.
    pub written_bytes: u64,
    /// How long they took, in seconds.
    pub fill_seconds: f64,
    /// What rounds were judged by: throughput, or latency at an offered rate. `None`: there were no
    /// rounds, because the workload only reads.
    pub metric: Option<Metric>,
    /// That figure of each round of the workload, in its order.
    pub rounds: Vec<f64>,
    /// What the last five show; `None` for fewer.
    pub window: Option<Steadiness>,
    /// Whether the workload was steady in the end; `None`: it only reads.
    pub steady: Option<bool>,
    /// Why it is not what was asked for.
    #[serde(skip)]
    pub short: Option<NotPreconditioned>,
}

/// What the last five rounds show, as shares of their mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Steadiness {
    /// From the lowest to the highest.
    pub range: f64,
    /// What the best straight line through them rises, from the first to the last.
    pub slope: f64,
}

/// Why an arm was not preconditioned as was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotPreconditioned {
    /// Its jobs have no span that could be written.
    NoSpan,
    InMemory,
    /// In the words of what failed.
    Failed(String),
    /// The load generator was paused for this long.
    Paused(u64),
    /// It ended after this many passes.
    Passes(u32),
    OnlyReads,
    /// It ended after this many rounds.
    Rounds(u32),
}

/// A limit from outside that several arms sit on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cap {
    /// I/Os per second of the primary job, with the interval over trials and arms.
    pub iops: Estimate,
    /// The same in bytes per second.
    pub bytes_per_s: f64,
}

/// One arm at several depths.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmDepths {
    pub arm: String,
    /// What the depths say.
    pub response: DepthResponse,
    /// Share of its time that the busiest CPU or thread worked at the depth of the comparison.
    pub busy: Option<f64>,
    /// By ascending depth.
    pub levels: Vec<DepthLevel>,
}

/// An arm at one depth: means over trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DepthLevel {
    /// I/Os of the primary job in flight.
    pub in_flight: u32,
    /// I/Os per second of the primary job.
    pub iops: f64,
    /// Bytes per second of the primary job.
    pub bytes_per_s: f64,
    /// Mean latency of the primary job, in nanoseconds.
    pub mean_latency_ns: f64,
    /// Whether this is the depth of the comparison.
    pub is_own: bool,
}

/// How an arm answers to its depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DepthResponse {
    /// Throughput stays and latency grows in proportion: a cap.
    Plateau,
    /// Throughput does not grow, and a CPU or a thread of this machine is busy.
    LocalBottleneck,
    /// Throughput grows with the depth: it is below every cap.
    Scales,
    /// Neither throughput nor latency changes: the I/Os are served one at a time.
    NotReached,
    /// Too noisy, or too few trials, or contradictory.
    Unclear,
}

/// What an arm did while it was loaded until its burst credits were spent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmDrain {
    pub arm: String,
    /// How long it was loaded, in seconds.
    pub seconds: f64,
    /// I/Os per second before the step down; `None`: there was no step.
    pub burst_iops: Option<f64>,
    /// I/Os per second after it: what the arm keeps up.
    pub rate_iops: Option<f64>,
    /// I/Os beyond that rate before the step: the credits.
    pub spent_ios: Option<f64>,
    /// Regime of the arm's trials; `None`: not known.
    pub regime: Option<Regime>,
}

/// Which part of a run figures are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Regime {
    /// Burst credits were spent.
    Sustained,
    /// They were not, or came back.
    Burst,
    /// The effect changed: the blocks since.
    #[serde(rename = "after the change")]
    AfterChange,
}
