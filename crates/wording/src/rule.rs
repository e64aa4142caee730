//! Rules, and why they could not be decided.

use iotax_analyze::{Judgment, Missing, RuleOpen, Verdict};
use iotax_experiment::rule::Condition;
use iotax_quantity::count;

use crate::name;

/// The arm, the layer, or the whole stack that a rule was held against.
pub fn of(judgment: &Judgment) -> String {
    judgment.of.as_ref().map_or_else(|| "every arm".to_owned(), name::subject)
}

/// Why it is neither broken nor kept, where that is not for want of trials.
pub fn why(judgment: &Judgment) -> Option<String> {
    Some(match judgment.open? {
        RuleOpen::NothingCompared => "nothing was compared".to_owned(),
        RuleOpen::Gate(verdict) => gate(verdict).to_owned(),
        RuleOpen::Lost => lost(&judgment.missing?, &of(judgment)),
        RuleOpen::NoFigure => format!("no trial has a {}", figure(judgment)),
        RuleOpen::TooFew { needed, has, time_s } => format!(
            "to be below the limit, a {} needs {} in each trial, and these have {}: make them \
             longer (--time {time_s}s)",
            figure(judgment),
            count(needed, "operation"),
            has.round()
        ),
        RuleOpen::JobsUnmatched(jobs) => {
            format!("{} that one side alone has could not be compared", count(jobs, "job"))
        }
        RuleOpen::NoEnd => "the record has no end: its run was cut off".to_owned(),
        RuleOpen::Cut { held, run } => {
            format!("the record holds {held} of the {run} trials that were run")
        }
    })
}

fn figure(judgment: &Judgment) -> String {
    match &judgment.rule.condition {
        Condition::Figure { figure, .. } => figure.name(),
        Condition::SlowerBy(_) | Condition::BelowDocumented(_) => String::new(),
    }
}

/// Why a comparison says nothing of a share.
const fn gate(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Overloaded => "the offered rate was not reached",
        Verdict::NotIndependent => "successive blocks depend on each other",
        Verdict::EffectChanged => "the effect changed during the run",
        Verdict::NoInformation => "neither arm completes anything",
        Verdict::Masked => "a cap hides what is compared",
        Verdict::InsufficientTailSamples => "too few operations lie beyond the percentile",
        Verdict::Slower | Verdict::Faster | Verdict::Equivalent | Verdict::Undecided => "",
    }
}

/// Why those that are left keep no rule.
fn lost(missing: &Missing, of: &str) -> String {
    let Missing { arm, of_arm, base, of_base, .. } = missing;
    let what = match (arm, base) {
        (0, _) => format!("{base} of {of_base} trials of the baseline"),
        (_, 0) => format!("{arm} of {of_arm} trials of {of}"),
        _ => format!("{arm} of {of_arm} trials of {of} and {base} of {of_base} of the baseline"),
    };
    format!("{what} gave nothing, and those that are left may be the fast ones")
}
