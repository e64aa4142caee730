use iotax_quantity::count;

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;

/// Data that did not read back as written.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let found = evidence.worst_per_arm(|trial, _| {
        let blocks: u64 = trial.jobs.iter().map(|job| job.mismatches).sum();
        (blocks > 0).then_some((blocks as f64, blocks))
    });
    found
        .into_iter()
        .map(|worst| Warning {
            check: Check::VerifyMismatch,
            message: format!(
                "{} did not read back as written in one trial; mismatches {}",
                count(worst.finding, "block"),
                worst.how_often()
            ),
            advice: "This storage loses or mixes up data under this load: its speed means nothing \
                     until that is solved, and nothing you need should be on it."
                .to_owned(),
            trials: worst.trials,
            arm: Some(worst.arm),
        })
        .collect()
}
