//! Rules decide when a run is over, if it has any.

use iotax_experiment::Stop;
use iotax_experiment::rule::RuleOutcome;
use iotax_record::EndReason;

use crate::analysis::{Judgment, RuleOpen};
use crate::missing;
use crate::progress::Standing;

/// Trials before which no rule is given up, nor a run ended because one is kept: what goes wrong in
/// every third trial has hardly ever been seen after three, and is in 96 of 100 runs after eight.
const PATIENCE: u32 = 8;

/// The progress of a run that has rules: it goes on until all are decided, or out of reach, and no
/// longer.
pub(crate) fn progress(progress: Standing, judged: &[Judgment], stop: &Stop) -> Standing {
    let Standing { blocks, .. } = progress;
    let is_fixed = stop.min_blocks >= stop.max_blocks;
    if judged.is_empty() || is_fixed || blocks >= stop.max_blocks {
        return progress;
    }
    if judged.iter().any(|judgment| is_open(judgment, stop)) || blocks < stop.min_blocks {
        return Standing { open: vec![true; progress.open.len()], stop: Vec::new(), ..progress };
    }
    let undecided = || judged.iter().filter(|judgment| judgment.is_undecided());
    let reason = if undecided().next().is_none() {
        EndReason::RulesDecided
    } else {
        let needed = undecided().filter_map(|judgment| judgment.needed).max();
        EndReason::RulesOutOfReach { needed }
    };
    Standing { stop: vec![reason], ..progress }
}

/// Whether more trials may decide it.
fn is_open(judgment: &Judgment, stop: &Stop) -> bool {
    // Those that are missing may become few among more.
    let may_be_few = judgment.missing.filter(|missing| {
        f64::from(missing.arm.max(missing.base)) <= missing::MOST * f64::from(stop.max_blocks)
    });
    if judgment.is_undecided() && may_be_few.is_some() {
        return true;
    }
    if judgment.outcome == RuleOutcome::Pass {
        return judgment.trials < PATIENCE;
    }
    let is_for_want_of_trials = match judgment.open {
        None => true,
        Some(RuleOpen::TooFew { .. }) => judgment.needed.is_some(),
        Some(_) => false,
    };
    judgment.is_undecided()
        && is_for_want_of_trials
        && (judgment.trials < PATIENCE
            || judgment.found.is_none()
            || judgment.needed.is_some_and(|needed| needed <= stop.max_blocks))
}
