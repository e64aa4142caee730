use crate::analysis::{Doubt, DoubtKind};
use crate::compare::keeps_up;
use crate::evidence::Evidence;

/// Delays of a start below this are the timer's.
const MIN_SLIP_NS: u64 = 1_000_000;

/// Open loop: was the offered rate reached, and did I/Os start when they should have?
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let mut doubts = not_reached(evidence);
    let overloaded: Vec<_> = doubts.iter().map(|doubt| doubt.of.clone()).collect();
    let late = late(evidence).into_iter();
    doubts.extend(late.filter(|doubt| !overloaded.contains(&doubt.of)));
    doubts
}

fn not_reached(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_jobs(|_, job, facts| {
        let offered = facts.offered_ios.filter(|ios| *ios > 0)?;
        let achieved = facts.ios as f64 / offered as f64;
        let job = job.name.clone();
        (!keeps_up(offered, facts.ios, 1))
            .then_some((1.0 - achieved, DoubtKind::RateNotReached { job, achieved }))
    })
}

/// Late starts matter in the job whose response times are compared, and where they reach the size
/// of its tail.
fn late(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_jobs(|_, job, facts| {
        let (slip_ns, p99_ns) = (facts.max_slip_ns, facts.p99_latency_ns);
        let is_late = slip_ns > MIN_SLIP_NS.max(p99_ns / 2);
        let job = job.name.clone();
        (is_late && facts.is_primary && facts.offered_ios.is_some())
            .then_some((slip_ns as f64, DoubtKind::Late { job, slip_ns, p99_ns }))
    })
}
