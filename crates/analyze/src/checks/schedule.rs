use crate::analysis::{Doubt, DoubtKind};
use crate::compare::MIN_ACHIEVED;
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
    let found = evidence.worst_per_arm(|trial, _| {
        evidence
            .real_jobs(trial)
            .filter_map(|(job, facts)| {
                let offered = facts.offered_ios.filter(|ios| *ios > 0)?;
                let achieved = facts.ios as f64 / offered as f64;
                (achieved < MIN_ACHIEVED).then_some((1.0 - achieved, (job.name.clone(), achieved)))
            })
            .max_by(|a, b| a.0.total_cmp(&b.0))
    });
    let doubt = |(job, achieved)| DoubtKind::RateNotReached { job, achieved };
    found.into_iter().map(|worst| worst.doubt(doubt)).collect()
}

/// Late starts matter in the job whose response times are compared, and where they reach the size
/// of its tail.
fn late(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let found = evidence.worst_per_arm(|trial, _| {
        evidence
            .real_jobs(trial)
            .filter(|(_, facts)| facts.is_primary && facts.offered_ios.is_some())
            .filter(|(_, facts)| facts.max_slip_ns > MIN_SLIP_NS.max(facts.p99_latency_ns / 2))
            .map(|(job, facts)| {
                let kind = DoubtKind::Late {
                    job: job.name.clone(),
                    slip_ns: facts.max_slip_ns,
                    p99_ns: facts.p99_latency_ns,
                };
                (facts.max_slip_ns as f64, kind)
            })
            .max_by(|a, b| a.0.total_cmp(&b.0))
    });
    found.into_iter().map(|worst| worst.doubt(|kind| kind)).collect()
}
