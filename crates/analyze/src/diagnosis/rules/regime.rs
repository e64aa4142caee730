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
/// A limiter's level is.
const AS_A_LIMITER: f64 = 0.05;

/// One step down from one steady level to another: credits that were spent.
pub(super) fn burst_spent(case: &Case<'_>) -> Option<Suspect> {
    let seconds: Vec<f64> = case
        .trials
        .iter()
        .flat_map(|trial| trial.per_second_ios.iter().map(|ios| f64::from(*ios)))
        .collect();
    let (at, first, second) = step(&seconds)?;
    (first.mean / second.mean > STEP).then_some(())?;
    (first.cv < STEADY && second.cv < STEADY).then_some(())?;
    let confidence = if second.cv < AS_A_LIMITER { Confidence::Sure } else { Confidence::Likely };
    let evidence = format!(
        "{:.0} IOPS in the first {at} seconds of measuring, then {:.0} within {} until the end",
        first.mean,
        second.mean,
        percent(second.cv)
    );
    let explains = 1.0 - second.mean / first.mean;
    Some(Suspect::new("burst-spent", confidence, evidence).explaining(explains))
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
