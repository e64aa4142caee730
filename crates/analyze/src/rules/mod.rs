//! Rules that were set beforehand, by the user and by the workload: which are broken, which are
//! kept.

mod difference;
mod figure;
mod progress;

use iotax_experiment::rule::{Condition, RuleOutcome};
use iotax_experiment::{Draft, Rule, Spec};
use iotax_record::End;
use iotax_stats::design::Design;
use iotax_stats::gate::Outcome;
use iotax_stats::sample::count;
use iotax_stats::unpaired::MIN_RESULTS;

pub(crate) use self::progress::progress;
use crate::analysis::{Judgment, RuleOpen};
use crate::conclude::Conclusion;
use crate::facts::TrialFacts;
use crate::method::{FIRST_LOOK, Method};

/// What a judgment rests on.
pub(crate) struct RuleContext<'a> {
    pub spec: &'a Spec,
    /// Names of the arms.
    pub names: &'a [String],
    /// In the order in which they ran.
    pub trials: &'a [&'a TrialFacts],
    /// Those of an arm or layer side by side, its primary metric first.
    pub conclusions: &'a [&'a Conclusion],
    pub method: &'a Method,
}

fn word(outcome: Outcome) -> RuleOutcome {
    match outcome {
        Outcome::Fail => RuleOutcome::Fail,
        Outcome::Pass => RuleOutcome::Pass,
        Outcome::Undecided => RuleOutcome::Undecided,
    }
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
pub(crate) fn judge(context: &RuleContext<'_>) -> Judged {
    let mut judged = Judged::default();
    for (at, rule) in context.spec.rules().enumerate() {
        let is_asked = at < context.spec.fail_if.len();
        let judgments = match &rule.condition {
            // Of several phases some may have no single operations.
            Condition::SlowerBy(slowdown)
                if slowdown.typical && context.spec.workload().moves_bytes() =>
            {
                Vec::new()
            }
            Condition::SlowerBy(slowdown) => difference::judge(context, rule, *slowdown),
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

/// Keeps no rule where jobs were left out, or on the grounds of a run that was interrupted, or of a
/// record that lacks some of its trials, or its end: what is missing may be what would have broken
/// it. `trials`: those that the record holds.
pub(crate) fn keep_none_of_a_part(
    judged: &mut [Judgment],
    spec: &Spec,
    end: Option<&End>,
    trials: usize,
) {
    let trials = count(trials);
    let open = match end.map(|end| (end.trials, end.interrupted)) {
        _ if spec.unmatched_jobs > 0 => RuleOpen::JobsUnmatched(spec.unmatched_jobs),
        None => RuleOpen::NoEnd,
        Some((Some(run), _)) if run != trials => RuleOpen::Cut { held: trials, run },
        Some((_, true)) => RuleOpen::Interrupted,
        Some(_) => return,
    };
    for judgment in judged.iter_mut().filter(|judged| judged.outcome == RuleOutcome::Pass) {
        judgment.outcome = RuleOutcome::Undecided;
        judgment.open = Some(open);
        if open != RuleOpen::Interrupted {
            // What is missing may be just what would have shown it.
            judgment.detectable = None;
        }
    }
}

/// What it takes to decide a rule at all, whatever is measured:
/// blocks of a run, of saved results results of an arm, below which nothing decides a rule.
pub fn fewest(spec: &Draft, rule: &Rule) -> u32 {
    let fewest = match rule.condition {
        Condition::SlowerBy(_) if spec.is_of_results() => MIN_RESULTS,
        // Each order of the arms has to be there twice.
        Condition::SlowerBy(_) => FIRST_LOOK,
        Condition::Figure { .. } | Condition::BelowDocumented(_) => {
            Design::with_max_blocks(spec.stop.max_blocks as usize).looks()[0]
        }
    };
    count(fewest)
}
