//! Rules that were set beforehand, and what the trials say of them.

use iotax_experiment::Rule;
use iotax_experiment::rule::RuleOutcome;
use serde::Serialize;

use super::comparison::Missing;
use super::estimate::Estimate;
use crate::metrics::Metric;

/// What the trials say of a rule, about one arm or layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgment {
    pub rule: Rule,
    /// The arm or layer.
    pub of: String,
    pub outcome: RuleOutcome,
    /// Of a rule about a difference: the metric that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// What was found, in the rule's unit, a difference as a fraction; each end is a bound of its own
    /// at the error rate of the experiment. `None` before the first look, and where trials stalled.
    pub found: Option<Estimate>,
    /// Blocks, of a figure trials, that it rests on.
    pub trials: u32,
    /// How many would probably decide it, those included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<u32>,
    /// Trials that gave nothing, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Why nothing is decided, where it is not for want of trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Judgment {
    /// Whether a rule is broken.
    pub fn is_fail(&self) -> bool {
        self.outcome == RuleOutcome::Fail
    }

    /// Whether it is neither broken nor kept.
    pub fn is_undecided(&self) -> bool {
        self.outcome == RuleOutcome::Undecided
    }
}
