//! Rules held against a part of what was run.

use iotax_experiment::Spec;
use iotax_experiment::rule::RuleOutcome;
use iotax_quantity::count;
use iotax_record::End;

use crate::analysis::Judgment;

/// Keeps no rule where jobs were left out, or on the grounds of a record that lacks some of its trials, or its end: what is gone may
/// be what would have broken it. `trials`: those that the record holds.
pub(crate) fn keep_none_of_a_part(
    judged: &mut [Judgment],
    spec: &Spec,
    (end, trials): (Option<&End>, usize),
) {
    let why = match end.map(|end| end.trials) {
        _ if spec.unmatched_jobs > 0 => {
            let jobs = count(spec.unmatched_jobs.into(), "job");
            format!("{jobs} that one side alone has could not be compared")
        }
        None => "the record has no end: its run was cut off".to_owned(),
        Some(Some(run)) if run as usize != trials => {
            format!("the record holds {trials} of the {run} trials that were run")
        }
        Some(_) => return,
    };
    for judgment in judged.iter_mut().filter(|judged| judged.outcome == RuleOutcome::Pass) {
        judgment.outcome = RuleOutcome::Undecided;
        judgment.why = Some(why.clone());
    }
}
