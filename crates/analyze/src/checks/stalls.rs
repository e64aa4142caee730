use iotax_quantity::{percent, time};

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;
use crate::facts::TrialFacts;

/// Seconds a trial needs for a stall to stand out.
const MIN_SECONDS: usize = 3;

/// Trials that completed nothing at all.
pub(super) fn check_whole_trials(evidence: &Evidence<'_>) -> Vec<Warning> {
    let workload = evidence.experiment.spec.workload();
    let found = evidence.worst_per_arm(|trial, _| trial.stalled_below.map(|limit| (limit, limit)));
    found
        .into_iter()
        .map(|worst| Warning {
            check: Check::StalledTrials,
            message: format!(
                "{} completed no {} in a window of {}: below {} ({})",
                workload.primary,
                workload.unit(),
                time(1e9 / worst.finding),
                rate(worst.finding, workload.unit()),
                worst.how_often()
            ),
            advice: "That is a result, not a failure: slower than could be measured. A longer \
                     window (--time) may show how slow; the machine's counters show what it \
                     waited for."
                .to_owned(),
            trials: worst.trials,
            arm: Some(worst.arm),
        })
        .collect()
}

/// A rate that may be far below 1: `0.03 IOPS`, `2 requests/s`.
fn rate(per_s: f64, unit: &str) -> String {
    let digits = if per_s >= 1.0 { 0 } else { 2 };
    match unit {
        "I/O" => format!("{per_s:.digits$} IOPS"),
        unit => format!("{per_s:.digits$} {unit}s/s"),
    }
}

/// Seconds in which the storage all but stopped.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let found = evidence.worst_per_arm(|trial, _| {
        let lowest = lowest_second(trial)?;
        (lowest < 0.5).then_some((-lowest, lowest))
    });
    found
        .into_iter()
        .map(|worst| Warning {
            check: Check::Precision,
            message: format!(
                "stalls: a second at {} of its trial's mean throughput (a second below half of it \
                 {})",
                percent(worst.finding),
                worst.how_often()
            ),
            advice: "A mean hides stalls, and users feel them. See the throughput per second of \
                     these trials, and compare p99 at an offered rate (--set rate=...)."
                .to_owned(),
            trials: worst.trials,
            arm: Some(worst.arm),
        })
        .collect()
}

/// Whether a second of the trial fell below half of its mean; `None` if it is too short to tell.
pub(crate) fn stalled(trial: &TrialFacts) -> Option<bool> {
    if trial.stalled_below.is_some() {
        return Some(true);
    }
    lowest_second(trial).map(|lowest| lowest < 0.5)
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
