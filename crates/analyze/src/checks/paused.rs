use iotax_quantity::{count, time};

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;
use crate::facts::PAUSED;

/// Trials in which the load generator itself did not run for a while: whatever was in flight seems slow,
/// and nothing was issued, though no storage had anything to do with it.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let per_arm = evidence.names.iter().enumerate().filter_map(|(arm, name)| {
        let of_arm = || evidence.trials.iter().filter(|trial| trial.arm == Some(arm));
        let paused = || of_arm().filter(|trial| trial.outcome == PAUSED);
        let longest = paused().filter_map(|trial| Some(trial.paused?.longest_ns)).max()?;
        let (trials, of) = (paused().count(), of_arm().count());
        let use_of = if trials == of {
            "they are all there is, so their rate and mean latency are shown, and nothing rests on \
             them"
        } else {
            "they are left out of all figures"
        };
        Some(Warning {
            check: Check::Paused,
            arm: Some(name.clone()),
            message: format!(
                "in {trials} of {} the load generator itself was paused, for up to {}: {use_of}",
                count(of as u64, "trial"),
                time(longest as f64)
            ),
            advice:
                "It was stopped by a signal, frozen by its control group, or the whole machine \
                     was: a live migration, a snapshot, a suspension. It says nothing about the \
                     storage. Find out what stops it, and measure again."
                    .to_owned(),
            trials: u32::try_from(trials).unwrap_or(u32::MAX),
        })
    });
    per_arm.collect()
}
