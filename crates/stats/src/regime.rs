//! Detects a change of level during the run.
//!
//! The series has one value per block. For changes that affect all arms (the end of burst credits,
//! a new neighbour), it is the mean log throughput of the arms; for changes of one arm, its block
//! difference `d`. A burst itself is steady, so steady-state criteria do not detect it; the step at
//! its end does.
//!
//! At each of [`LOOKS`] a least-squares fit of two levels is compared with the noise around it.
//! The position of the step is searched, and the data are tested eight times, so the Student
//! p-value of the fit is not the p-value of the result. [`LEVEL`] is calibrated by simulation: at
//! most 5 % of runs without a change report one, with heavy tails, lag-1 correlation up
//! to .5 and 5 to 40 % of variation (`cargo run --release -p iotax-stats --example regime`).

use crate::sample::{all_finite, mean, sum_of_squares};
use crate::student::two_sided_p;

/// Numbers of blocks at which the monitor looks: the looks of the intervals from 8 on. With fewer
/// blocks, a step cannot be distinguished from noise.
pub const LOOKS: [usize; 8] = [8, 10, 13, 16, 20, 25, 32, 40];
/// Nominal level of each fit, calibrated for all reports of a run of two arms together.
pub const LEVEL: f64 = 7e-5;
/// Minimum number of blocks on each side of a step; a single block is only an outlier.
pub(crate) const MIN_SEGMENT: usize = 3;
/// Minimum ratio of levels.
pub(crate) const MIN_RATIO: f64 = 1.25;

/// The best fit of two levels to a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoLevels {
    /// Values before the step.
    pub before: usize,
    /// Mean after the step minus mean before it.
    pub step: f64,
    /// Lag-1 autocorrelation of the residuals, its bias removed; at least 0.
    pub autocorrelation: f64,
    /// Two-sided nominal p of the step, as if its position were known.
    pub p: f64,
    /// Whether it is reported.
    pub found: bool,
}

/// Fits two levels to `values`, the residuals' variance inflated by `(1 + r) / (1 - r)`; the step
/// is found if its p is at most `level` and it is at least ln `MIN_RATIO` high. `None` below 8
/// values, for values that are not finite, and without any noise around the levels.
pub fn two_levels(values: &[f64], level: f64) -> Option<TwoLevels> {
    let count = values.len();
    if count < LOOKS[0] || !all_finite(values) {
        return None;
    }
    let squares = |at: usize| sum_of_squares(&values[..at]) + sum_of_squares(&values[at..]);
    let places = (MIN_SEGMENT..=count - MIN_SEGMENT).map(|at| (squares(at), at));
    let (squares, before) =
        places.reduce(|best, next| if next.0 < best.0 { next } else { best })?;
    if squares <= 1e-12 {
        return None;
    }
    let levels = [mean(&values[..before]), mean(&values[before..])];
    let residual = |i: usize| values[i] - levels[usize::from(i >= before)];
    let products: f64 = (1..count).map(|i| residual(i - 1) * residual(i)).sum();
    let (blocks, early) = (count as f64, before as f64);
    let r = (products / squares + 1.0 / blocks).clamp(0.0, 0.9);
    let inflation = (1.0 + r) / (1.0 - r);
    let variance = squares / (blocks - 2.0) * (1.0 / early + 1.0 / (blocks - early)) * inflation;
    let step = levels[1] - levels[0];
    let p = two_sided_p(step / variance.sqrt(), count - 2);
    let found = p <= level && step.abs() >= MIN_RATIO.ln();
    Some(TwoLevels { before, step, autocorrelation: r, p, found })
}

/// A change of level that the monitor reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Values before it.
    pub before: usize,
    /// Natural logarithm of the level after it over the level before.
    pub step: f64,
    /// The look at which it was first detected.
    pub seen_at: usize,
}

/// Number of slices per value of the monitored series.
pub const SLICES: usize = 5;

/// The same for slices, of which there are hundreds. They are averaged in groups of [`SLICES`],
/// twice as many and so on, so that the number of groups does not exceed the last look. Each
/// doubling has its own looks; all of them share the level.
pub fn monitor_slices(v: &[f64], level: f64) -> Option<Change> {
    let most = LOOKS[LOOKS.len() - 1];
    let doublings = (0..32).find(|doublings| v.len() < (SLICES << doublings) * (most + 1))?;
    let slices = SLICES << doublings;
    let means: Vec<f64> = v.chunks_exact(slices).map(mean).collect();
    let change = monitor(&means, level / f64::from(doublings + 1))?;
    let (before, seen_at) = (change.before * slices, change.seen_at * slices);
    Some(Change { before, seen_at, ..change })
}

/// The result of the monitor for a series so far, at its latest look.
pub fn monitor(v: &[f64], level: f64) -> Option<Change> {
    LOOKS.iter().take_while(|n| **n <= v.len()).fold(None, |seen: Option<Change>, &n| {
        let fit = two_levels(&v[..n], level).filter(|fit| fit.found)?;
        let seen_at = seen.map_or(n, |change| change.seen_at);
        Some(Change { before: fit.before, step: fit.step, seen_at })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `levels` one after the other, `blocks` of each, with a little noise that does not repeat.
    fn series(levels: &[f64], blocks: usize) -> Vec<f64> {
        let noise = |i: usize| 0.01 * (i * 7 % 11) as f64;
        let of = |(k, level): (usize, &f64)| -> Vec<f64> {
            (0..blocks).map(|i| level + noise(k * blocks + i)).collect()
        };
        levels.iter().enumerate().flat_map(of).collect()
    }

    #[test]
    fn a_step_is_found_up_and_down_where_it_is() {
        for step in [-0.7, 0.7] {
            let change = monitor(&series(&[0.0, step], 8), LEVEL).unwrap();
            assert_eq!((change.before, change.seen_at), (8, 13));
            assert!((change.step - step).abs() < 0.02, "{change:?}");
        }
    }

    #[test]
    fn small_steps_short_hiccups_and_few_blocks_are_none() {
        assert_eq!(monitor(&series(&[0.0, 0.2], 8), LEVEL), None, "below a ratio of 1.25");
        assert_eq!(monitor(&series(&[0.0, 2.0], 3), LEVEL), None, "six blocks");
        let mut hiccup = series(&[0.0], 20);
        hiccup[19] = -2.0;
        assert_eq!(monitor(&hiccup, LEVEL), None, "one block at the end");
        assert_eq!(monitor(&[1.0; 20], LEVEL), None, "no noise, no evidence");
        assert_eq!(monitor(&[f64::NEG_INFINITY; 20], LEVEL), None);
    }

    /// A change that has gone is no longer reported; if it returns, it is detected again.
    #[test]
    fn only_the_latest_look_counts() {
        let mut v = series(&[0.0, -0.7, 0.0], 5);
        assert!(monitor(&v[..10], LEVEL).is_some());
        v.extend(series(&[0.0], 10));
        assert_eq!(monitor(&v, LEVEL), None, "{:?}", two_levels(&v, LEVEL));
    }

    #[test]
    fn a_step_among_hundreds_of_slices_is_found_where_it_is() {
        for (before, slices) in [(60, 5), (240, 10), (2000, 80)] {
            let mut v = series(&[0.0], before);
            assert_eq!(monitor_slices(&v, LEVEL), None, "{before}");
            v.extend(series(&[-0.7], before / 2));
            let change = monitor_slices(&v, LEVEL).unwrap();
            assert!(change.before.abs_diff(before) <= slices, "{change:?}");
            assert!(change.seen_at > before, "{change:?}");
        }
        let mut hiccup = series(&[0.0], 200);
        hiccup[100..105].fill(-2.0);
        assert_eq!(monitor_slices(&hiccup, LEVEL), None, "half a second");
    }

    #[test]
    fn blocks_beyond_the_last_look_are_not_looked_at() {
        let mut v = series(&[0.0], 40);
        v.extend(series(&[-2.0], 40));
        assert_eq!(monitor(&v, LEVEL), None);
    }
}
