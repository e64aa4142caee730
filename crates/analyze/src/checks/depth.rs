use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Below this share of the depth asked for, the depth has no effect worth its name.
const MIN_SHARE: f64 = 0.75;

/// A closed loop that does not keep the depth it was asked for: an in-process stack without a
/// work queue serves one I/O at a time, whatever the depth.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_jobs(|_, job, facts| {
        let asked = f64::from(facts.threads.max(1)) * f64::from(facts.queue_depth);
        let kept = facts.in_flight_io_ns as f64 / facts.active_ns as f64;
        // A thread waits for each trim, as in fio, and `plan` says so.
        let is_deep = facts.offered_ios.is_none() && facts.queue_depth > 1 && job.trims.is_none();
        (is_deep && kept < MIN_SHARE * asked).then(|| {
            let (job, whole) = (job.name.clone(), iotax_quantity::whole(asked));
            (asked / kept, DoubtKind::DepthNotKept { job, asked: whole, kept })
        })
    })
}
