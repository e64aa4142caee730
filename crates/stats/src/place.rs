//! Checks whether the order of two arms within a block matters.
//!
//! In some blocks the baseline runs before the arm, in the others after it. A difference between
//! the arms is the same in both. An effect of the position (a cache that the first trial warms,
//! credits that the previous trial used up, a disk that slows down within a block) has the opposite
//! sign in the other order. Half the difference between the two means is the effect of
//! the position, half their sum the difference between the arms.

use crate::rci::CriticalValues;
use crate::sample::{all_finite, mean};
use crate::student::{critical_t, two_sided_p};

/// Two-sided level at which the means of the two orders differ. It is tested at every look, and
/// there may be many comparisons; one in a thousand keeps false alarms below 1 %.
pub const LEVEL: f64 = 0.001;

/// Minimum number of blocks to remove the effect of the position.
const ENOUGH: usize = 6;

/// The block differences by the order of their trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DifferencesByOrder {
    /// Mean difference of the blocks in which the baseline came first.
    pub base_first: f64,
    /// Mean difference of the blocks in which the arm came first.
    pub arm_first: f64,
    /// Number of blocks of each kind.
    pub blocks: [usize; 2],
    /// Two-sided p-value for "both means are the same".
    pub p: f64,
}

impl DifferencesByOrder {
    /// Groups the block differences `d`; `base_first[b]`: whether the baseline came before the arm
    /// in block `b`. `None` unless there are at least two of each order.
    pub fn of(d: &[f64], base_first: &[bool]) -> Option<Self> {
        let of_order = |order: bool| -> Vec<f64> {
            let both = d.iter().zip(base_first);
            both.filter(|(_, first)| **first == order).map(|(d, _)| *d).collect()
        };
        let (before, after) = (of_order(true), of_order(false));
        if before.len() < 2 || after.len() < 2 || !all_finite(d) {
            return None;
        }
        let (base_first, arm_first) = (mean(&before), mean(&after));
        let residuals = before.iter().map(|d| d - base_first);
        let squares: f64 =
            residuals.chain(after.iter().map(|d| d - arm_first)).map(|r| r * r).sum();
        let df = d.len() - 2;
        let rounding = f64::EPSILON * base_first.abs().max(arm_first.abs()).max(1.0);
        let sd = (squares / df as f64).sqrt().max(rounding);
        let standard_error = sd * (1.0 / before.len() as f64 + 1.0 / after.len() as f64).sqrt();
        let p = two_sided_p((base_first - arm_first) / standard_error, df);
        Some(Self { base_first, arm_first, blocks: [before.len(), after.len()], p })
    }

    /// Distance between the means of the two orders.
    pub fn gap(&self) -> f64 {
        (self.base_first - self.arm_first).abs()
    }

    /// `d` without the effect of the position: the mean of each order is moved to the middle of
    /// both. The deviations are scaled so that a t interval of the result is as wide as in a model
    /// with a position effect, which has one degree of freedom less. `None` with too few blocks.
    pub fn taken_out(
        &self,
        d: &[f64],
        base_first: &[bool],
        critical: &CriticalValues,
    ) -> Option<Vec<f64>> {
        let look: usize = self.blocks.iter().sum();
        if look < ENOUGH {
            return None;
        }
        let n = look as f64;
        let p_star = critical.p_star();
        let quantiles = critical_t(p_star, look - 2) / critical_t(p_star, look - 1);
        let stretch = quantiles * ((n - 1.0) / (n - 2.0)).sqrt();
        let middle = f64::midpoint(self.base_first, self.arm_first);
        let of_order = |first: bool| if first { self.base_first } else { self.arm_first };
        let both = d.iter().zip(base_first);
        Some(both.map(|(d, first)| middle + stretch * (d - of_order(*first))).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::design::Design;
    use crate::sample::variance;

    fn critical() -> CriticalValues {
        CriticalValues::new(Design::default(), 0.05)
    }

    /// Orders of mirrored pairs.
    fn orders(n: usize) -> Vec<bool> {
        (0..n).map(|block| [true, false, false, true][block % 4]).collect()
    }

    #[test]
    fn what_belongs_to_the_place_is_told_from_what_belongs_to_the_arm() {
        let orders = orders(8);
        let noise = [0.001, -0.002, 0.0015, -0.001, 0.0, 0.002, -0.0015, 0.001];
        let d: Vec<f64> = orders
            .iter()
            .zip(noise)
            .map(|(first, noise)| -0.1 + noise + if *first { -0.3 } else { 0.3 })
            .collect();
        let place = DifferencesByOrder::of(&d, &orders).unwrap();
        assert!((place.base_first + 0.4).abs() < 0.002 && (place.arm_first - 0.2).abs() < 0.002);
        assert!(place.p < 1e-9 && (place.gap() - 0.6).abs() < 0.003);
        let without = place.taken_out(&d, &orders, &critical()).unwrap();
        assert!((mean(&without) + 0.1).abs() < 0.001);
        let (before, after) = (variance(&d).sqrt(), variance(&without).sqrt());
        assert!(before > 0.3 && after < 0.003, "{before} {after}");
    }

    #[test]
    fn the_test_of_both_orders_is_the_pooled_t_test() {
        let d = [0.3, -0.1, -0.2, 0.4, 0.1, 0.0];
        let orders = [true, false, false, true, true, false];
        // t = 3.478505 of 4 degrees of freedom, and with one value less of 3, by hand.
        let six = DifferencesByOrder::of(&d, &orders).unwrap();
        assert!((six.p - 0.025_386_448).abs() < 1e-8, "{six:?}");
        let five = DifferencesByOrder::of(&d[..5], &orders[..5]).unwrap();
        assert!((five.p - 0.040_112_054).abs() < 1e-8, "{five:?}");
        let without = six.taken_out(&d, &orders, &critical()).unwrap();
        let middle = mean(&without);
        assert!((middle - f64::midpoint(six.base_first, six.arm_first)).abs() < 1e-12);
        let is_above = |at: usize| without[at] > middle;
        assert_eq!([0, 1, 2, 3, 4, 5].map(is_above), [true, false, false, true, false, true]);
    }

    #[test]
    fn each_order_has_to_be_there_twice_and_the_spread_to_be_known() {
        let d = [0.3, -0.3, -0.3, 0.3, 0.3, -0.3];
        assert_eq!(DifferencesByOrder::of(&d[..3], &orders(3)), None);
        let four = DifferencesByOrder::of(&d[..4], &orders(4)).unwrap();
        assert_eq!(four.blocks, [2, 2]);
        assert_eq!(four.taken_out(&d[..4], &orders(4), &critical()), None);
        assert_eq!(DifferencesByOrder::of(&[f64::NAN; 6], &orders(6)), None);
        assert_eq!(DifferencesByOrder::of(&d, &[true; 6]), None);
    }

    proptest! {
        #[test]
        fn an_interval_of_what_is_left_is_that_of_the_model(
            d in prop::collection::vec(-1.0..1.0_f64, 6..40),
        ) {
            let orders = orders(d.len());
            let place = DifferencesByOrder::of(&d, &orders).unwrap();
            let without = place.taken_out(&d, &orders, &critical()).unwrap();
            let n = d.len();
            let by_series = critical_t(critical().p_star(), n - 1) * (variance(&without) / n as f64).sqrt();
            let of = |first: bool| if first { place.base_first } else { place.arm_first };
            let squares: f64 = d.iter().zip(&orders).map(|(d, first)| (d - of(*first)).powi(2)).sum();
            let balanced = squares / (n - 2) as f64 / n as f64;
            let by_model = critical_t(critical().p_star(), n - 2) * balanced.sqrt();
            prop_assert!(by_series >= 0.999 * by_model && by_series < 1.05 * by_model + 1e-12,
                "{} {}", by_series, by_model);
        }
    }
}
