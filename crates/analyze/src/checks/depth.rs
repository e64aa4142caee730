use iotax_quantity::{count, two_digits};

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;

/// Below this share of the depth asked for, the depth has no effect worth its name.
const MIN_SHARE: f64 = 0.75;

/// A closed loop that does not keep the depth it was asked for: an in-process stack without a
/// work queue serves one I/O at a time, whatever the depth.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let found = evidence.worst_per_arm(|trial, _| {
        evidence
            .real_jobs(trial)
            .filter(|(_, facts)| facts.offered_ios.is_none() && facts.queue_depth > 1)
            // A thread waits for each trim, as in fio, and `plan` says so.
            .filter(|(job, _)| job.trims.is_none())
            .filter_map(|(job, facts)| {
                let asked = f64::from(facts.threads.max(1)) * f64::from(facts.queue_depth);
                let kept = facts.in_flight_io_ns as f64 / facts.active_ns as f64;
                (kept < MIN_SHARE * asked).then(|| (asked / kept, (job.name.clone(), asked, kept)))
            })
            .max_by(|a, b| a.0.total_cmp(&b.0))
    });
    found
        .into_iter()
        .map(|worst| {
            let (job, asked, kept) = &worst.finding;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "u32 x u32"
            )]
            let asked = count(*asked as u64, "I/O");
            Warning {
                check: Check::Precision,
                message: format!(
                    "job {job}: {asked} in flight were asked for, {} were kept ({})",
                    two_digits(*kept),
                    worst.how_often()
                ),
                advice:
                    "The depth has no effect here. A stack without a work queue serves one I/O \
                         at a time: put queue(workers=N) on it, or use more threads."
                        .to_owned(),
                trials: worst.trials,
                arm: Some(worst.arm),
            }
        })
        .collect()
}
