//! Throughput that changes once and stays.

use super::super::case::Case;
use super::super::suspect::{Confidence, Suspect};
use crate::stats::sample::mean;
use crate::words::percent;

/// Seconds that a level must last on either side.
const LEAST_S: usize = 4;
/// The first level is so many times the second.
const STEP: f64 = 1.3;
/// Each level is as steady as this (standard deviation over mean).
const STEADY: f64 = 0.15;

/// One step down from one steady level to another within a trial: credits that were spent.
pub(super) fn burst_spent(case: &Case<'_>) -> Option<Suspect> {
    // Memory has no credits.
    case.is_on_path().then_some(())?;
    let steps = case.trials.iter().filter_map(|trial| {
        let seconds: Vec<f64> = trial.per_second_ios.iter().map(|ios| f64::from(*ios)).collect();
        let (at, first, second) = step(&seconds)?;
        let is_step = first.mean / second.mean > STEP && first.cv < STEADY && second.cv < STEADY;
        is_step.then_some((at, first, second))
    });
    let (at, first, second) = steps.into_iter().next()?;
    let evidence = format!(
        "{:.0} IOPS in the first {at} seconds of a trial, then {:.0} within {} until its end",
        first.mean,
        second.mean,
        percent(second.cv)
    );
    let explains = 1.0 - second.mean / first.mean;
    let suspect = Suspect::new("burst-spent", Confidence::Likely, evidence).explaining(explains);
    Some(suspect.but(others_came(case)))
}

/// What speaks against credits: something else may have begun meanwhile.
fn others_came(case: &Case<'_>) -> Option<String> {
    let cpu = case.statistics?.cpu?;
    let busy = 100.0 - cpu.idle_percent - cpu.iowait_percent;
    (busy > 95.0).then(|| "all CPUs were busy: another program may have begun".to_owned())
}

struct Level {
    mean: f64,
    cv: f64,
}

/// The second at which two levels fit best, and the levels.
fn step(seconds: &[f64]) -> Option<(usize, Level, Level)> {
    let places = LEAST_S..seconds.len().checked_sub(LEAST_S)? + 1;
    let squares = |values: &[f64]| {
        let mean = mean(values);
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let cost = |at: &usize| squares(&seconds[..*at]) + squares(&seconds[*at..]);
    let at = places.min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    let level = |values: &[f64]| {
        let mean = mean(values);
        Level { mean, cv: (squares(values) / values.len() as f64).sqrt() / mean }
    };
    Some((at, level(&seconds[..at]), level(&seconds[at..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_where_the_level_changes() {
        let mut seconds = vec![4000.0; 12];
        seconds.extend([500.0; 20]);
        let (at, first, second) = step(&seconds).unwrap();
        assert_eq!((at, first.mean, second.mean), (12, 4000.0, 500.0));
        assert!(step(&[1.0; 7]).is_none());
    }
}
