//! What judgments rest on, and the words they come in.

use iotax_experiment::rule::RuleOutcome;
use iotax_stats::gate::Outcome;

use crate::conclude::Conclusion;
use crate::facts::TrialFacts;
use crate::method::Method;

/// What a judgment rests on.
pub(crate) struct RuleContext<'a> {
    pub spec: &'a iotax_experiment::Spec,
    /// Names of the arms.
    pub names: &'a [String],
    /// In the order in which they ran.
    pub trials: &'a [&'a TrialFacts],
    /// Those of an arm or layer side by side, its primary metric first.
    pub conclusions: &'a [&'a Conclusion],
    pub method: &'a Method,
}

pub(super) fn word(outcome: Outcome) -> RuleOutcome {
    match outcome {
        Outcome::Fail => RuleOutcome::Fail,
        Outcome::Pass => RuleOutcome::Pass,
        Outcome::Undecided => RuleOutcome::Undecided,
    }
}
