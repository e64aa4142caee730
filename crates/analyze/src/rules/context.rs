//! What judgments rest on, and the words they come in.

use iotax_experiment::rule::RuleOutcome;
use iotax_stats::gate::Outcome;

use crate::analysis::Missing;
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

pub(super) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Why those that are left keep no rule.
pub(super) fn lost(missing: &Missing, of: &str) -> String {
    let Missing { arm, of_arm, base, of_base, .. } = missing;
    let what = match (arm, base) {
        (0, _) => format!("{base} of {of_base} trials of the baseline"),
        (_, 0) => format!("{arm} of {of_arm} trials of {of}"),
        _ => format!("{arm} of {of_arm} trials of {of} and {base} of {of_base} of the baseline"),
    };
    format!("{what} gave nothing, and those that are left may be the fast ones")
}
