//! Rules that were set beforehand, and what the trials say of them.

use iotax_experiment::rule::RuleOutcome;
use iotax_experiment::{Rule, Subject};
use iotax_stats::verdict::Verdict;
use serde::Serialize;

use super::{Estimate, Missing};
use crate::metrics::Metric;

/// What the trials say of a rule, about one arm or layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgment {
    pub rule: Rule,
    /// The arm, the layer, or the whole stack; `None`: any, and nothing was compared.
    #[serde(skip)]
    pub of: Option<Subject>,
    pub outcome: RuleOutcome,
    /// Of a rule about a difference: the metric that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// What was found, in the rule's unit, a difference as a fraction; each end is a bound of its
    /// own at the error rate of the experiment. `None` before the first look, and where trials
    /// stalled.
    pub found: Option<Estimate>,
    /// Blocks, of a figure trials, that it rests on.
    pub trials: u32,
    /// How many would probably decide it, those included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<u32>,
    /// Of a rule that is not broken: the smallest violation that would have broken it at the spread
    /// seen, in the unit of `found` ([`iotax_stats::gate::Reach::beyond`]). `None` if no violation
    /// could break it, or if the data do not tell which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    /// Trials that gave nothing, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Why nothing is decided, where it is not for want of trials.
    #[serde(skip)]
    pub open: Option<RuleOpen>,
}

/// Why a rule is neither broken nor kept, besides the number of trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RuleOpen {
    /// There is no conclusion on what it is about.
    NothingCompared,
    /// The comparison has this word, and none about its size.
    Gate(Verdict),
    /// Trials that gave nothing may be the slow ones.
    Lost,
    /// No trial has the figure.
    NoFigure,
    /// Each trial has fewer operations than the quantile needs, and all together do not show that
    /// it is below the limit. Trials of `time_s` would have enough.
    TooFew { needed: u64, has: u64, time_s: f64 },
    /// Jobs that one side alone has.
    JobsUnmatched(u32),
    /// The record was cut off.
    NoEnd,
    /// The record holds other trials than were run.
    Cut { held: u32, run: u32 },
    /// The user stopped the run before it was over.
    Interrupted,
}

impl Judgment {
    /// Of no trial.
    pub(crate) fn undecided(rule: &Rule, of: Option<Subject>) -> Self {
        Self {
            rule: rule.clone(),
            of,
            outcome: RuleOutcome::Undecided,
            metric: None,
            found: None,
            trials: 0,
            needed: None,
            detectable: None,
            missing: None,
            open: None,
        }
    }

    /// Whether it is neither broken nor kept.
    pub fn is_undecided(&self) -> bool {
        self.outcome == RuleOutcome::Undecided
    }
}
