//! Detects a token bucket in one saturated run: a single downward step in throughput.
//!
//! Two-phase least squares on the logarithm (the level shift of a bucket running dry: Uta et
//! al., "Is Big Data Performance Reproducible in Modern Cloud Networks?", NSDI 2020). The
//! gain in fit is judged by a Bayesian information criterion widened for autocorrelated
//! seconds.

use crate::dependence::ar1_coefficient;
use crate::sample::{all_finite, mean, sum_of_squares};

/// Shortest phase, in samples.
pub(crate) const MIN_PHASE: usize = 5;
/// Smallest ratio of the two levels that counts as a step.
pub(crate) const MIN_RATIO: f64 = 1.2;
/// Required gain of a step, in multiples of `ln n` (level, place, and one extra parameter).
const PENALTY: f64 = 3.0;
/// A sample below this fraction of the mean is a stall. On the log scale it would outweigh the rest
/// of the run, and the logarithm of a second without completions is undefined.
const STALL_FRACTION: f64 = 0.01;

/// The best split of a series into two levels, and whether it indicates a token bucket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoPhase {
    /// Whether the step is downward, at least `MIN_RATIO`, and supported by the criterion.
    pub found: bool,
    /// Index of the first sample of the second phase.
    pub split: usize,
    /// Mean of the first phase, in the unit of the series.
    pub peak: f64,
    /// Mean of the second phase: the refill rate.
    pub rate: f64,
    /// Tokens beyond the refill rate used in the first phase, `sum (x - rate)`: unit of the
    /// series times its sampling interval.
    pub burst: f64,
    /// Ratio of the two levels (geometric means).
    pub ratio: f64,
    /// `n ln(RSS_0 / RSS_1)`.
    pub gain: f64,
    /// Lag-1 autocorrelation of the residuals, not below 0.
    pub autocorrelation: f64,
}

/// Fits one step to a series of positive throughputs (usually one per second, in any unit):
/// accepted if `n ln(RSS_0 / RSS_1) > 3 ln n (1 + r) / (1 - r)` and the levels differ by at
/// least 1.2. O(n).
///
/// `None` for fewer than 10 samples, values that are negative or not finite, or a series of
/// zeros. Confirm a bucket by idling 30 and 120 s: the burst that comes back grows with the
/// idle time; that of a device's write cache does not.
pub fn two_phase(x: &[f64]) -> Option<TwoPhase> {
    let n = x.len();
    let level = mean(x);
    if n < 2 * MIN_PHASE || !all_finite(x) || x.iter().any(|&v| v < 0.0) || level <= 0.0 {
        return None;
    }
    let floor = STALL_FRACTION * level;
    let log: Vec<f64> = x.iter().map(|v| v.max(floor).ln()).collect();
    let split = best_split(&log, MIN_PHASE);
    let (before, after) = log.split_at(split);
    let unsplit = sum_of_squares(&log);
    let residual = (sum_of_squares(before) + sum_of_squares(after)).max(1e-12);
    // A constant series leaves rounding only; nothing can be gained on it.
    let gain = if unsplit > 1e-12 { n as f64 * (unsplit / residual).ln() } else { 0.0 };
    let autocorrelation = residual_autocorrelation(before, after);
    let ratio = (mean(before) - mean(after)).exp();
    let inflation = (1.0 + autocorrelation) / (1.0 - autocorrelation);
    let rate = mean(&x[split..]);
    Some(TwoPhase {
        found: gain > PENALTY * (n as f64).ln() * inflation && ratio >= MIN_RATIO,
        split,
        peak: mean(&x[..split]),
        rate,
        burst: x[..split].iter().map(|v| v - rate).sum(),
        ratio,
        gain,
        autocorrelation,
    })
}

/// The split with the least residual sum of squares and at least `least` values on each side. On
/// the centred series the sum between the phases is `S^2 (1/k + 1/(n-k))`, `S` being the sum of
/// the first `k`: largest where the residual is least.
pub(crate) fn best_split(log: &[f64], least: usize) -> usize {
    let n = log.len();
    let centre = mean(log);
    let (mut sum, mut best, mut best_between) = (0.0, least, f64::NEG_INFINITY);
    for k in 1..=n - least {
        sum += log[k - 1] - centre;
        let between = sum * sum * (1.0 / k as f64 + 1.0 / (n - k) as f64);
        if k >= least && between > best_between {
            (best, best_between) = (k, between);
        }
    }
    best
}

fn residual_autocorrelation(before: &[f64], after: &[f64]) -> f64 {
    let centred = |phase: &[f64]| {
        let m = mean(phase);
        phase.iter().map(|v| v - m).collect::<Vec<f64>>()
    };
    let residuals = [centred(before), centred(after)].concat();
    ar1_coefficient(&residuals).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every split, both sums of squares from scratch: O(n^2).
    fn least_residual(log: &[f64]) -> f64 {
        (MIN_PHASE..=log.len() - MIN_PHASE)
            .map(|k| sum_of_squares(&log[..k]) + sum_of_squares(&log[k..]))
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn series_without_two_phases_has_no_fit() {
        assert_eq!(two_phase(&[1.0; 9]), None);
        assert_eq!(two_phase(&[0.0; 20]), None);
        assert_eq!(two_phase(&[f64::NAN; 20]), None);
        assert!(!two_phase(&[7.0; 20]).unwrap().found);
    }

    #[test]
    fn upward_step_is_no_bucket() {
        let x: Vec<f64> = (0..60).map(|i| if i < 20 { 100.0 } else { 200.0 }).collect();
        let fit = two_phase(&x).unwrap();
        assert!(!fit.found && fit.split == 20 && fit.ratio < 1.0);
    }

    #[test]
    fn one_stalled_second_does_not_hide_the_step() {
        let mut x: Vec<f64> =
            (0..120).map(|i| f64::from(if i < 40 { 2000 } else { 1000 } + i % 3)).collect();
        x[70] = 0.0;
        let fit = two_phase(&x).unwrap();
        assert!(fit.found, "{fit:?}");
        assert!((35..=45).contains(&fit.split), "{fit:?}");
    }

    /// Noise that depends on itself: each value keeps `kept` of the one before.
    fn wandering(noise: &[f64], kept: f64) -> Vec<f64> {
        let mut level = 0.0;
        let next = |noise: &f64| {
            level = kept * level + noise;
            level
        };
        noise.iter().map(next).collect()
    }

    proptest! {
        #[test]
        fn a_step_pays_for_what_seconds_that_depend_on_each_other_make_likely(
            noise in prop::collection::vec(-0.1..0.1_f64, 20..80), kept in 0.0..0.8_f64, step in 0.0..0.6_f64,
        ) {
            let half = noise.len() / 2;
            let level = |at: usize| if at < half { step } else { 0.0 };
            let x: Vec<f64> = wandering(&noise, kept).iter().enumerate()
                .map(|(at, noise)| (noise + level(at)).exp()).collect();
            let fit = two_phase(&x).unwrap();
            let r = fit.autocorrelation;
            let price = 3.0 * (x.len() as f64).ln() * (1.0 + r) / (1.0 - r);
            prop_assert_eq!(fit.found, fit.gain > price && fit.ratio >= 1.2, "{:?}", fit);
        }

        #[test]
        fn split_is_the_least_squares_one(
            x in prop::collection::vec(50.0..150.0_f64, 10..60), factor in 1.0..3.0_f64, at in 0..60_usize,
        ) {
            let x: Vec<f64> = x.iter().enumerate().map(|(i, v)| if i < at { v * factor } else { *v }).collect();
            let fit = two_phase(&x).unwrap();
            let log: Vec<f64> = x.iter().map(|v| v.ln()).collect();
            let residual = sum_of_squares(&log[..fit.split]) + sum_of_squares(&log[fit.split..]);
            prop_assert!(residual <= least_residual(&log) * (1.0 + 1e-9));
            let total: f64 = x.iter().sum();
            prop_assert!((fit.burst + fit.rate * x.len() as f64 - total).abs() < 1e-9 * total);
        }
    }
}
