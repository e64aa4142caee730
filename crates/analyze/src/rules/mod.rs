//! Rules that were set beforehand, by the user and by the workload: which are broken, which are kept.

mod difference;
mod figure;
mod progress;

use iotax_spec::rule::Condition;
use iotax_stats::gate::Outcome;

pub(crate) use self::progress::progress;
use crate::analysis::{Judgment, RuleOutcome};
use crate::conclude::Conclusion;
use crate::facts::TrialFacts;
use crate::method::Method;

/// What a judgment rests on.
pub(crate) struct Grounds<'a> {
    pub spec: &'a iotax_spec::Spec,
    /// Names of the arms.
    pub names: &'a [String],
    /// In the order in which they ran.
    pub trials: &'a [&'a TrialFacts],
    /// Those of an arm or layer side by side, its primary metric first.
    pub conclusions: &'a [&'a Conclusion],
    pub method: &'a Method,
}

/// What became of all rules.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// Of those that the user set.
    pub rules: Vec<Judgment>,
    /// Of what the workload requires.
    pub requirements: Vec<Judgment>,
}

/// All rules, each about every arm or layer that it is about.
pub(crate) fn judge(grounds: &Grounds<'_>) -> Judged {
    let mut judged = Judged::default();
    for (at, rule) in grounds.spec.rules().enumerate() {
        let judgments = match &rule.condition {
            Condition::SlowerBy(share) => difference::judge(grounds, rule, *share),
            // Of several phases some may not have the job.
            Condition::Figure { job: Some(job), .. }
                if grounds.spec.workload.jobs.iter().all(|own| own.name != *job) =>
            {
                Vec::new()
            }
            Condition::Figure { figure, side, limit, .. } => {
                let limit = figure::Limit { at, figure, side: *side, value: *limit };
                figure::judge(grounds, rule, &limit)
            }
        };
        if at < grounds.spec.fail_if.len() {
            judged.rules.extend(judgments);
        } else {
            judged.requirements.extend(judgments);
        }
    }
    judged
}

fn word(outcome: Outcome) -> RuleOutcome {
    match outcome {
        Outcome::Fail => RuleOutcome::Fail,
        Outcome::Pass => RuleOutcome::Pass,
        Outcome::Undecided => RuleOutcome::Undecided,
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
