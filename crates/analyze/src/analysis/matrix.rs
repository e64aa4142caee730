//! A matrix: what the levels of its factors cost.

use iotax_experiment::{Factor, Setting};
use serde::Serialize;

use super::{Comparison, Estimate};
use crate::metrics::Metric;

/// What the levels of the factors cost, beside what each arm costs against the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactorEffects {
    /// The factors, with their levels.
    pub factors: Vec<Factor>,
    /// By arm: which level it has of each factor.
    pub cells: Vec<Vec<usize>>,
    /// Level by level, those of each metric side by side, the primary one first. The intervals of a
    /// metric hold all at once.
    pub effects: Vec<FactorEffect>,
    /// What each level changed of the figures of the arms. The intervals of a figure hold all at
    /// once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shifts: Vec<FactorShift>,
    /// Effects that depend on the level of another factor, by enough to matter.
    pub interactions: Vec<FactorInteraction>,
    /// Levels without an effect: no two arms differ in nothing but that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpaired: Vec<Setting>,
}

/// A level against the first one of its factor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactorEffect {
    pub setting: Setting,
    /// The first level.
    pub against: String,
    /// Pairs of arms that differ in nothing else: the effect is the mean over them.
    pub pairs: u32,
    /// Pairs that are left out, since an arm of theirs completed nothing in some trial.
    #[serde(skip_serializing_if = "is_zero")]
    pub stalled_pairs: u32,
    /// What it costs.
    pub comparison: Comparison,
}

/// What a level changed against the first one of its factor: means over all pairs of arms that
/// differ in nothing else and have measured something. Intervals only where trials were interleaved
/// in blocks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactorShift {
    pub setting: Setting,
    /// The first level.
    pub against: String,
    /// I/Os per second, as a fraction of the first level's: the geometric mean.
    pub iops: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops_interval: Option<[f64; 2]>,
    /// Bytes per second, likewise.
    pub bytes_per_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_s_interval: Option<[f64; 2]>,
    /// Mean latency, in nanoseconds more; `None` where some arm's is not known.
    pub latency_ns: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_interval_ns: Option<[f64; 2]>,
    /// Pairs behind it.
    pub pairs: u32,
}

/// An effect that depends on the level of another factor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactorInteraction {
    /// The level whose effect it is.
    pub setting: Setting,
    /// What it is compared with.
    pub against: String,
    /// The level that it depends on.
    pub with: Setting,
    /// The first level of that factor.
    pub first: String,
    pub metric: Metric,
    /// The tax at the level `with`.
    pub at: Estimate,
    /// The tax at the level `first`.
    pub at_first: Estimate,
    /// How much more is left (below 0) or lost: the tax of the one over the other.
    pub difference: Estimate,
    /// Blocks that have all of the pairs.
    pub blocks: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
