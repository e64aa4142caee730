use iotax_stats::sample::count;

use crate::analysis::{Doubt, DoubtKind, TrialOutcome};
use crate::evidence::Evidence;

/// Trials in which the load generator itself did not run for a while: whatever was in flight seems
/// slow, and nothing was issued, though no storage had anything to do with it.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let per_arm = (0..evidence.names.len()).filter_map(|arm| {
        let of_arm = || evidence.trials.iter().filter(|trial| trial.arm == Some(arm));
        let paused = || of_arm().filter(|trial| trial.outcome == TrialOutcome::Paused);
        let longest_ns = paused().filter_map(|trial| Some(trial.paused?.longest_ns)).max()?;
        Some(Doubt {
            kind: DoubtKind::Paused { longest_ns },
            of: Some(evidence.subject(arm)),
            trials: count(paused().count()),
            of_trials: Some(count(of_arm().count())),
        })
    });
    per_arm.collect()
}
