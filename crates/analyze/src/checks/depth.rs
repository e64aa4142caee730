use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Below this share of the depth asked for, the depth has no effect worth its name.
const MIN_SHARE: f64 = 0.75;

/// A closed loop that does not keep the depth it was asked for: an in-process stack without a
/// work queue serves one I/O at a time, whatever the depth.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
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
    let doubt = |(job, asked, kept): (String, f64, f64)| DoubtKind::DepthNotKept {
        job,
        asked: iotax_quantity::whole(asked),
        kept,
    };
    found.into_iter().map(|worst| worst.doubt(doubt)).collect()
}
