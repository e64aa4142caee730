//! Checks whether there are enough samples for a percentile.

use statrs::distribution::{ContinuousCDF as _, Gamma};

use crate::dependence::{dependence, widening};
use crate::design::Design;
use crate::gate::bounds;
use crate::sample::{mean, variance};

/// Minimum number of samples beyond a percentile for a comparison.
pub(crate) const MIN_SAMPLES_BEYOND: f64 = 100.0;

/// Whether this number of `samples` supports the quantile `q` (a fraction inside (0, 1)):
/// `N (1 - q) >= 100`, that is 10,000 for p99 and 100,000 for p99.9. If not, the verdict
/// is `insufficient tail samples`.
pub fn enough_samples(samples: u64, q: f64) -> bool {
    q > 0.0 && q < 1.0 && samples >= samples_needed(q)
}

/// The samples that the quantile `q` needs.
pub fn samples_needed(q: f64) -> u64 {
    // 1 - q carries the rounding of q (1 - .9999 falls short of 1e-4 by 1e-16): rounded to
    // whole samples first, so that the gate sits where the decimal percentile says.
    let exact = MIN_SAMPLES_BEYOND / (1.0 - q);
    let nearest = exact.round();
    let needed = if (exact / nearest - 1.0).abs() < 1e-9 { nearest } else { exact.ceil() };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let needed = needed as u64;
    needed
}

/// Upper 95 % bound on the share of observations with an event (a stall) that was seen in none of
/// `observations`: the rule of three, `3 / n`, from `(1 - p)^n = .05` (Hanley & Lippman-Hand, JAMA
/// 249, 1983). At most 1.
pub fn rule_of_three(observations: usize) -> f64 {
    (3.0 / observations as f64).min(1.0)
}

/// The operations of a trial, and how many of them took longer than a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceedances {
    pub beyond: u64,
    pub operations: u64,
}

/// Successive operations that one stall is assumed to delay, for each operation in flight.
const DELAYED_BY_A_STALL: f64 = 10.0;

/// Upper bound on the share of operations beyond a limit, at the level `alpha` at any look of
/// `design`. It is the larger of two bounds:
///
/// * that of a Poisson count (Garwood, Biometrika 28, 1936) of stalls in all `trials`, where each
///   stall delays `in_flight` operations ten times over, or more if the trials differ by more than
///   that. It holds even if no operation was late;
/// * that of the mean share of a trial, widened if successive trials depend on each other. It holds
///   if stalls are longer than assumed, but needs to have seen some.
///
/// Where few of the trials have longer stalls, the level is not kept: the example `few_operations`
/// shows how often.
///
/// At most 1; 1 without operations.
pub fn most_beyond(trials: &[Exceedances], in_flight: u64, design: Design, alpha: f64) -> f64 {
    let operations: u64 = trials.iter().map(|trial| trial.operations).sum();
    let beyond: u64 = trials.iter().map(|trial| trial.beyond).sum();
    let counts: Vec<f64> = trials.iter().map(|trial| trial.beyond as f64).collect();
    // A Poisson count of stalls of n operations has n times the variance of one of operations.
    let dispersion = variance(&counts) / mean(&counts).max(1.0);
    let at_once = (in_flight.max(1) as f64 * DELAYED_BY_A_STALL).max(dispersion);
    // One-sided, at each look.
    let level = design.nominal_level(2.0 * alpha) / 2.0;
    let Ok(stalls) = Gamma::new(beyond as f64 / at_once + 1.0, 1.0) else { return 1.0 };
    let by_count = stalls.inverse_cdf(1.0 - level) * at_once / operations as f64;
    let share = |trial: &Exceedances| trial.beyond as f64 / trial.operations.max(1) as f64;
    let shares: Vec<f64> = trials.iter().map(share).collect();
    let by_trial = bounds(&shares, design, alpha).map_or(0.0, |interval| {
        let factor = dependence(&shares).map_or(1.0, |_| widening(&shares));
        interval.mean + factor * interval.half_width()
    });
    if operations == 0 { 1.0 } else { by_count.max(by_trial).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gate_sits_exactly_at_a_hundred_samples_beyond() {
        for (q, needed) in
            [(0.5, 200), (0.9, 1_000), (0.99, 10_000), (0.999, 100_000), (0.9999, 1_000_000)]
        {
            assert_eq!(samples_needed(q), needed);
            assert!(enough_samples(needed, q) && !enough_samples(needed - 1, q), "q = {q}");
        }
        assert_eq!(samples_needed(0.7), 334);
    }

    #[test]
    fn the_extremes_are_never_supported() {
        for q in [0.0, 1.0, 1.5, f64::NAN] {
            assert!(!enough_samples(u64::MAX, q), "q = {q}");
        }
    }

    #[test]
    fn unseen_events_are_bounded_by_three_in_n() {
        assert_eq!(rule_of_three(0), 1.0);
        assert_eq!(rule_of_three(2), 1.0);
        for n in [10, 40, 400] {
            let exact = 1.0 - 0.05_f64.powf(1.0 / n as f64);
            assert!(rule_of_three(n) >= exact && rule_of_three(n) < exact * 1.2);
        }
    }
}
