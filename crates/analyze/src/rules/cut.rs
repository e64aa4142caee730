//! Rules held against a part of what was run.

use iotax_experiment::Spec;
use iotax_experiment::rule::RuleOutcome;
use iotax_record::End;

use crate::analysis::{Judgment, RuleOpen};
use crate::count;

/// Keeps no rule where jobs were left out, or on the grounds of a record that lacks some of its trials, or its end: what is gone may
/// be what would have broken it. `trials`: those that the record holds.
pub(crate) fn keep_none_of_a_part(
    judged: &mut [Judgment],
    spec: &Spec,
    end: Option<&End>,
    trials: usize,
) {
    let trials = count(trials);
    let open = match end.map(|end| end.trials) {
        _ if spec.unmatched_jobs > 0 => RuleOpen::JobsUnmatched(spec.unmatched_jobs),
        None => RuleOpen::NoEnd,
        Some(Some(run)) if run != trials => RuleOpen::Cut { held: trials, run },
        Some(_) => return,
    };
    for judgment in judged.iter_mut().filter(|judged| judged.outcome == RuleOutcome::Pass) {
        judgment.outcome = RuleOutcome::Undecided;
        judgment.open = Some(open);
    }
}
