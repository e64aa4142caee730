//! Throughput that changes once and stays.

use iotax_quantity::percent;
use iotax_stats::bucket::two_phase;
use iotax_stats::sample::{mean, variance};

use crate::measured::case::Case;
use crate::suspect::{Confidence, Suspect};

/// The first level is so many times the second.
const STEP: f64 = 1.3;
/// Each level is as steady as this (standard deviation over mean).
const STEADY: f64 = 0.15;

/// One step down from one steady level to another within a trial: credits that were spent.
pub(super) fn burst_spent(case: &Case<'_>) -> Option<Suspect> {
    // Memory has no credits.
    case.is_on_path().then_some(())?;
    case.trials.iter().find_map(|trial| {
        let seconds: Vec<f64> = trial.per_second_ios.iter().map(|ios| f64::from(*ios)).collect();
        let step = two_phase(&seconds).filter(|step| step.found && step.ratio > STEP)?;
        let (before, after) = seconds.split_at(step.split);
        (spread(before) < STEADY && spread(after) < STEADY).then_some(())?;
        let evidence = format!(
            "{:.0} IOPS in the first {} seconds of a trial, then {:.0} within {} until its end",
            step.peak,
            step.split,
            step.rate,
            percent(spread(after))
        );
        let suspect = Suspect::new("burst-spent", Confidence::Likely, evidence);
        Some(suspect.explaining(1.0 - step.rate / step.peak).but(others_came(case)))
    })
}

fn spread(level: &[f64]) -> f64 {
    variance(level).sqrt() / mean(level)
}

/// What speaks against credits: something else may have begun meanwhile.
fn others_came(case: &Case<'_>) -> Option<String> {
    let is_full = case.has_no_cpu_left();
    is_full.then(|| "all CPUs were busy: another program may have begun".to_owned())
}
