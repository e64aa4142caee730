//! Rules that were set beforehand, by the user and by the workload: which are broken, which are kept.

mod difference;
mod figure;
mod grounds;
mod progress;

use iotax_spec::rule::Condition;

pub(crate) use self::grounds::Grounds;
pub(crate) use self::progress::progress;
use crate::analysis::Judgment;

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
        let is_asked = at < grounds.spec.fail_if.len();
        let judgments = match &rule.condition {
            Condition::SlowerBy(share) => difference::judge(grounds, rule, *share),
            // Of a search for caps, and refused elsewhere.
            Condition::BelowDocumented(_) => Vec::new(),
            // Of several phases some may not have the job, or do nothing of the kind.
            Condition::Figure { job, figure, .. }
                if is_asked && !grounds.spec.workload.has_figure(job.as_deref(), figure) =>
            {
                Vec::new()
            }
            Condition::Figure { figure, side, limit, .. } => {
                let limit = figure::Limit { at, figure, side: *side, value: *limit };
                figure::judge(grounds, rule, &limit)
            }
        };
        if is_asked {
            judged.rules.extend(judgments);
        } else {
            judged.requirements.extend(judgments);
        }
    }
    judged
}
