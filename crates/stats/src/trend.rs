//! Detects a steady rise or fall over the run.
//!
//! Writes to storage that is not in steady state slow down gradually. Steps are handled by
//! [`super::regime`]. The statistic is the slope of the values' *ranks* over their
//! order (Spearman's), because a fall that slows down is not a straight line, and spikes are
//! outliers. Its variance is inflated by `(1 + r) / (1 - r)`, r being the lag-1 autocorrelation of
//! the residuals, because dependent values wander, and a wandering level has slopes.
//!
//! [`LEVEL`] is calibrated by simulation, so that at most 5 % of runs without a trend report one,
//! with spikes, lag-1 correlation up to .5 and 5 to 40 % of variation
//! (`cargo run --release -p iotax-stats --example trend`).

use crate::sample::{all_finite, mean};
use crate::student::two_sided_p;

/// Minimum number of values. With fewer, a trend cannot be distinguished from dependent noise.
pub const FEWEST: usize = 8;
/// Nominal level.
pub const LEVEL: f64 = 0.005;
/// Minimum ratio of the ends of the fitted line.
pub(crate) const MIN_RATIO: f64 = 1.2;

/// A line fitted to the values, in their order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Its last value minus its first.
    pub change: f64,
    /// Two-sided p of the slope of the ranks.
    pub p: f64,
    /// Whether it is reported.
    pub found: bool,
}

/// The trend of `values`, natural logarithms in chronological order. `None` below
/// [`FEWEST`] values, and for values that are not finite.
pub fn trend(values: &[f64]) -> Option<Trend> {
    let count = values.len();
    if count < FEWEST || !all_finite(values) {
        return None;
    }
    let change = Line::through(values).slope * (count as f64 - 1.0);
    let ranks = Line::through(&ranks(values));
    let squares: f64 = ranks.residuals.iter().map(|e| e * e).sum();
    let p = if squares <= 1e-9 {
        // Each value is beyond the one before: two orders in n!, far below the level.
        0.0
    } else {
        let products: f64 = ranks.residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
        // Two fitted parameters bias it by about -2/n.
        let r = (products / squares + 2.0 / count as f64).clamp(0.0, 0.9);
        let variance = squares / (count as f64 - 2.0) / ranks.spread * (1.0 + r) / (1.0 - r);
        two_sided_p(ranks.slope / variance.sqrt(), count - 2)
    };
    Some(Trend { change, p, found: p <= LEVEL && change.abs() >= MIN_RATIO.ln() })
}

/// Ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    for (rank, index) in order.into_iter().enumerate() {
        ranks[index] = rank as f64;
    }
    ranks
}

/// Least squares over 0, 1, 2, ...
struct Line {
    slope: f64,
    /// Sum of squared distances of the positions from their mean.
    spread: f64,
    residuals: Vec<f64>,
}

impl Line {
    fn through(values: &[f64]) -> Self {
        let middle = (values.len() as f64 - 1.0) / 2.0;
        let placed = || values.iter().enumerate().map(|(i, v)| (i as f64 - middle, *v));
        let spread: f64 = placed().map(|(t, _)| t * t).sum();
        let slope = placed().map(|(t, v)| t * v).sum::<f64>() / spread;
        let average = mean(values);
        let residuals = placed().map(|(t, v)| v - average - slope * t).collect();
        Self { slope, spread, residuals }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise that does not repeat, around what `level` says of the share of the run that is over.
    fn series(count: usize, level: impl Fn(f64) -> f64) -> Vec<f64> {
        let noise = |i: usize| 0.05 * ((i * 7 % 5) as f64 - 2.0);
        (0..count).map(|i| level(i as f64 / (count - 1) as f64) + noise(i)).collect()
    }

    #[test]
    fn a_fall_and_a_rise_are_found_straight_or_not() {
        let fall = trend(&series(10, |x| -0.7 * x)).unwrap();
        assert!(fall.found && (fall.change + 0.7).abs() < 0.1, "{fall:?}");
        assert!(trend(&series(10, |x| 0.7 * x)).unwrap().found);
        let slowing = trend(&series(12, |x| (-4.0 * x).exp())).unwrap();
        assert!(slowing.found && slowing.change < 0.0, "{slowing:?}");
    }

    #[test]
    fn slopes_and_their_p_values_by_hand() {
        let is = |values: [f64; 10], change: f64, p: f64| {
            let found = trend(&values).unwrap();
            assert!((found.change - change).abs() < 1e-9, "{found:?}");
            assert!((found.p / p - 1.0).abs() < 1e-8, "{found:?}");
        };
        is([0.0, 0.3, 0.1, 0.2, 0.6, 0.4, 0.5, 0.9, 0.7, 0.8], 0.801_818_181_8, 5.421_442_248e-4);
        // Residuals that depend on the one before.
        is([0.0, 0.1, 0.3, 0.2, 0.5, 0.7, 0.9, 0.8, 0.6, 0.4], 0.649_090_909_1, 0.186_864_426_9);
    }

    #[test]
    fn noise_few_values_and_small_changes_are_none() {
        assert!(!trend(&series(20, |_| 0.0)).unwrap().found);
        assert_eq!(trend(&series(7, |x| -2.0 * x)), None, "seven values");
        let exact: Vec<f64> = (0..20).map(|i| -0.005 * f64::from(i)).collect();
        let small = trend(&exact).unwrap();
        assert!(small.p < LEVEL && !small.found, "sure, and below a ratio of 1.2: {small:?}");
        assert_eq!(trend(&[f64::NAN; 20]), None);
        assert!(!trend(&[1.0; 20]).unwrap().found);
    }

    #[test]
    fn a_spike_is_no_trend() {
        let mut v = series(12, |_| 0.0);
        v[11] = -5.0;
        assert!(!trend(&v).unwrap().found, "{:?}", trend(&v));
    }
}
