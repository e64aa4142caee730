use iotax_experiment::Subject;

use crate::analysis::{Doubt, DoubtKind, TrialOutcome};
use crate::evidence::Evidence;
use crate::facts::TrialFacts;

/// Trials that yielded nothing usable, other than by the user's interruption.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let per_arm = evidence.names.iter().enumerate().filter_map(|(arm, name)| {
        let of_arm = || evidence.trials.iter().filter(|trial| trial.arm == Some(arm));
        let is_other = |trial: &&&TrialFacts| {
            matches!(trial.outcome, TrialOutcome::Interrupted | TrialOutcome::Paused)
        };
        let failed = || of_arm().filter(|trial| !trial.usable && !is_other(trial));
        let trials = u32::try_from(failed().count()).unwrap_or(u32::MAX);
        let first = failed().find_map(|trial| trial.why.clone());
        (trials > 0).then(|| Doubt {
            kind: DoubtKind::Failed { first },
            of: Some(Subject::Arm(name.clone())),
            trials,
            of_trials: u32::try_from(of_arm().count()).ok(),
        })
    });
    per_arm.collect()
}
