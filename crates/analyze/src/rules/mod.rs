//! Rules that were set beforehand, by the user and by the workload: which are broken, which are kept.

mod context;
mod cut;
mod difference;
mod fewest;
mod figure;
mod progress;

use iotax_experiment::rule::Condition;

pub(crate) use self::context::RuleContext;
pub(crate) use self::cut::keep_none_of_a_part;
pub use self::fewest::fewest;
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
pub(crate) fn judge(context: &RuleContext<'_>) -> Judged {
    let mut judged = Judged::default();
    for (at, rule) in context.spec.rules().enumerate() {
        let is_asked = at < context.spec.fail_if.len();
        let judgments = match &rule.condition {
            Condition::SlowerBy(share) => difference::judge(context, rule, *share),
            // Of a search for caps, and refused elsewhere.
            Condition::BelowDocumented(_) => Vec::new(),
            // Of several phases some may not have the job, or do nothing of the kind.
            Condition::Figure { job, figure, .. }
                if is_asked && !context.spec.workload().has_figure(job.as_deref(), figure) =>
            {
                Vec::new()
            }
            Condition::Figure { figure, side, limit, .. } => {
                let limit = figure::Limit { at, figure, side: *side, value: *limit };
                figure::judge(context, rule, &limit)
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
