use iotax_quantity::count;

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;
use crate::facts::{PAUSED, TrialFacts};

/// Trials that yielded nothing usable, other than by the user's interruption.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let per_arm = evidence.names.iter().enumerate().filter_map(|(arm, name)| {
        let of_arm = || evidence.trials.iter().filter(|trial| trial.arm == Some(arm));
        let is_other = |trial: &&&TrialFacts| matches!(trial.outcome, "interrupted" | PAUSED);
        let failed = || of_arm().filter(|trial| !trial.usable && !is_other(trial));
        let trials = u32::try_from(failed().count()).unwrap_or(u32::MAX);
        let reason = failed().find_map(|trial| trial.why.clone());
        (trials > 0).then(|| Warning {
            check: Check::FailedTrials,
            arm: Some(name.clone()),
            message: format!(
                "{trials} of {} failed: {}",
                count(of_arm().count() as u64, "trial"),
                reason.unwrap_or_else(|| "no I/O of the primary job completed".to_owned())
            ),
            advice: if evidence.is_of_results() {
                "Figures are of the other results. A verdict on these stands only if it would with \
                 those that are missing counted as results that did nothing."
                    .to_owned()
            } else {
                "The blocks of these trials are left out of the comparison. A verdict on the others \
                 stands only if it would with the missing trials counted as trials that did \
                 nothing: solve the error and measure again."
                    .to_owned()
            },
            trials,
        })
    });
    per_arm.collect()
}
