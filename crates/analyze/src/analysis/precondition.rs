//! What was written before anything was measured.

use serde::Serialize;

use crate::analysis::NotPreconditioned;
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
