//! What shows whether a cap stands above the arms.

use serde::Serialize;

use super::estimate::Estimate;
use crate::analysis::Regime;

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
