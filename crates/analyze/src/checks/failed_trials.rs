use iotax_stats::sample::count;

use crate::analysis::{Doubt, DoubtKind, TrialOutcome};
use crate::evidence::Evidence;
use crate::facts::TrialFacts;

/// Trials that yielded nothing usable, other than by the user's interruption.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let per_arm = (0..evidence.names.len()).filter_map(|arm| {
        let of_arm = || evidence.trials.iter().filter(|trial| trial.arm == Some(arm));
        let is_other = |trial: &&&TrialFacts| {
            matches!(trial.outcome, TrialOutcome::Interrupted | TrialOutcome::Paused)
        };
        let failed = || of_arm().filter(|trial| !trial.usable && !is_other(trial));
        let trials = count(failed().count());
        let first = failed().find_map(|trial| trial.why.clone());
        (trials > 0).then(|| Doubt {
            kind: DoubtKind::Failed { first },
            of: Some(evidence.subject(arm)),
            trials,
            of_trials: Some(count(of_arm().count())),
        })
    });
    per_arm.collect()
}
