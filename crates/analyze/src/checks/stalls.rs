use iotax_stats::sample::count;

use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;
use crate::facts::TrialFacts;

/// Seconds a trial needs for a stall to stand out.
const MIN_SECONDS: usize = 3;

/// Share of the mean second below which the storage all but stopped.
const STALLED: f64 = 0.5;

/// Trials that completed nothing at all.
pub(super) fn check_whole_trials(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let of_arm = |arm: usize| {
        let usable = || evidence.trials.iter().filter(|t| t.usable && t.arm == Some(arm));
        let stalled = || usable().filter_map(|trial| trial.stalled_below);
        let below_per_s = stalled().reduce(f64::max)?;
        Some(Doubt {
            kind: DoubtKind::StalledTrials { below_per_s },
            of: Some(evidence.subject(arm)),
            trials: count(stalled().count()),
            of_trials: Some(count(usable().count())),
        })
    };
    (0..evidence.names.len()).filter_map(of_arm).collect()
}

/// Seconds in which the storage all but stopped.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_trials(|trial, _| {
        let least = lowest_second(trial).filter(|least| *least < STALLED)?;
        Some((-least, DoubtKind::StalledSecond { least }))
    })
}

/// Whether a second of the trial fell below half of its mean; `None` if it is too short to tell.
pub(crate) fn stalled(trial: &TrialFacts) -> Option<bool> {
    if trial.stalled_below.is_some() {
        return Some(true);
    }
    lowest_second(trial).map(|lowest| lowest < STALLED)
}

/// The slowest second as a share of the mean one.
fn lowest_second(trial: &TrialFacts) -> Option<f64> {
    let seconds = &trial.per_second_ios;
    let total: u64 = seconds.iter().map(|ios| u64::from(*ios)).sum();
    if seconds.len() < MIN_SECONDS || total == 0 {
        return None;
    }
    let mean = total as f64 / seconds.len() as f64;
    seconds.iter().min().map(|least| f64::from(*least) / mean)
}
