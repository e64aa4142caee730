use iotax_quantity::{a, percent, time};

use crate::analysis::{Check, Warning};
use crate::compare::MIN_ACHIEVED;
use crate::evidence::Evidence;

/// Delays of a start below this are the timer's.
const MIN_SLIP_NS: u64 = 1_000_000;

/// Open loop: was the offered rate reached, and did I/Os start when they should have?
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let mut warnings = not_reached(evidence);
    let overloaded: Vec<_> = warnings.iter().map(|warning| warning.arm.clone()).collect();
    let late = late(evidence).into_iter();
    warnings.extend(late.filter(|warning| !overloaded.contains(&warning.arm)));
    warnings
}

fn not_reached(evidence: &Evidence<'_>) -> Vec<Warning> {
    let found = evidence.worst_per_arm(|trial, _| {
        evidence
            .real_jobs(trial)
            .filter_map(|(job, facts)| {
                let offered = facts.offered_ios.filter(|ios| *ios > 0)?;
                let achieved = facts.ios as f64 / offered as f64;
                (achieved < MIN_ACHIEVED).then_some((1.0 - achieved, (job, achieved)))
            })
            .max_by(|a, b| a.0.total_cmp(&b.0))
    });
    found
        .into_iter()
        .map(|worst| Warning {
            check: Check::ScheduleSlip,
            message: format!(
                "job {} completed {} of the {}s offered to it ({})",
                worst.finding.0.name,
                percent(worst.finding.1),
                worst.finding.0.engine.unit(),
                worst.how_often()
            ),
            advice: "The arm is overloaded: its response times measure the backlog and grow with \
                     the trial. Offer at most 0.7 times the throughput of the slowest arm \
                     (--set rate=...)."
                .to_owned(),
            trials: worst.trials,
            arm: Some(worst.arm),
        })
        .collect()
}

/// Late starts matter in the job whose response times are compared, and where they reach the size
/// of its tail.
fn late(evidence: &Evidence<'_>) -> Vec<Warning> {
    let found = evidence.worst_per_arm(|trial, _| {
        evidence
            .real_jobs(trial)
            .filter(|(_, facts)| facts.is_primary && facts.offered_ios.is_some())
            .filter(|(_, facts)| facts.max_slip_ns > MIN_SLIP_NS.max(facts.p99_latency_ns / 2))
            .map(|(job, facts)| (facts.max_slip_ns as f64, (job, facts)))
            .max_by(|a, b| a.0.total_cmp(&b.0))
    });
    found
        .into_iter()
        .map(|worst| {
            let (job, facts) = worst.finding;
            Warning {
                check: Check::ScheduleSlip,
                message: format!(
                    "job {}: {} started {} after its intended time, with a p99 of {} ({})",
                    job.name,
                    a(job.engine.unit()),
                    time(facts.max_slip_ns as f64),
                    time(facts.p99_latency_ns as f64),
                    worst.how_often()
                ),
                advice: "Either all slots (threads x depth) were in flight, or this machine woke \
                         the load generator late; response times count the wait, as they should. \
                         A greater depth (--set depth=...) or an idle machine tells \
                         which."
                    .to_owned(),
                trials: worst.trials,
                arm: Some(worst.arm.clone()),
            }
        })
        .collect()
}
