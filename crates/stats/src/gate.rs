//! Decides whether a result breaks a rule that was set before the measurement.
//!
//! Each end of the interval is a one-sided bound. The rule is broken if even the end that favours
//! the arm breaks it, and kept if even the other end keeps it. Each decision is wrong with
//! probability alpha at most, at any look.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::design::Design;
use crate::rci::{Interval, Summary, rci};
use crate::stalls::{Sides, boundary};
use crate::student::critical_t;

/// The decision on a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Fail,
    Pass,
    /// The data allow both.
    Undecided,
}

impl Outcome {
    /// Decides for an interval of a figure that must not exceed `limit`. An end equal to the limit
    /// decides nothing.
    pub fn of(interval: &Interval, limit: f64) -> Self {
        if interval.lo > limit {
            Self::Fail
        } else if interval.hi < limit {
            Self::Pass
        } else {
            Self::Undecided
        }
    }
}

/// The interval of the mean of `d`, each of whose ends holds at the level `alpha`; `None` for
/// degenerate input, as in [`rci`].
pub fn bounds(d: &[f64], design: Design, alpha: f64) -> Option<Interval> {
    rci(d, design, 2.0 * alpha)
}

/// Decides whether significantly more or fewer `values` than half are above `limit`, without any
/// assumption on their distribution. At `alpha` .05, five values are the minimum.
pub fn by_sign(values: impl IntoIterator<Item = f64>, limit: f64, alpha: f64) -> Outcome {
    let needed = boundary(alpha, Sides::One);
    let (mut above, mut seen) = (0, 0);
    for value in values {
        above += usize::from(value > limit);
        seen += 1;
    }
    match needed.get(seen) {
        Some(needed) if above >= *needed => Outcome::Fail,
        Some(needed) if seen - above >= *needed => Outcome::Pass,
        _ => Outcome::Undecided,
    }
}

/// Projections above this number of blocks are meaningless.
const MOST_BLOCKS: usize = 100_000;

/// Number of blocks needed to distinguish a mean from a limit `distance` away, at the spread so
/// far. `None` if the number is unreasonable.
pub fn blocks_needed(summary: &Summary, distance: f64, alpha: f64) -> Option<usize> {
    let decides = |blocks: usize| {
        let level = Design::with_max_blocks(blocks).nominal_level(2.0 * alpha);
        critical_t(level, blocks - 1) * summary.sd / (blocks as f64).sqrt() < distance.abs()
    };
    let (mut no, mut yes) = (summary.blocks.max(2), MOST_BLOCKS);
    if !decides(yes) {
        return None;
    }
    while yes - no > 1 {
        let middle = no.midpoint(yes);
        if decides(middle) { yes = middle } else { no = middle }
    }
    Some(yes)
}

/// Probability with which a rule is called broken by a violation as large as [`Reach::beyond`].
pub const POWER: f64 = 0.95;

/// Inputs for the size of a detectable violation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// Distance of the one-sided bound from the mean.
    pub half_width: f64,
    /// Standard error of the mean, at the observed spread.
    pub standard_error: f64,
    /// Degrees of freedom of that spread.
    pub freedom: usize,
}

impl Reach {
    /// How far the true value must exceed the limit so that the rule is broken with probability
    /// [`POWER`], with the same amount of data and the observed spread.
    ///
    /// A rule is broken if `m - h > limit`, where `m` is the mean of the data and `h` the distance
    /// of its bound. Let the truth be `limit + x` and the spread be the one seen, with a standard
    /// error `e`. Other data would have the mean `limit + x + e Z`, Z standard normal, and a spread
    /// that varies around the one seen, so the distance of their bound would be `h V`, where
    /// `V = chi / sqrt(f)` with `f` degrees of freedom. The rule is then broken if
    /// `x / e + Z > V h / e`, with the probability `E[Phi(x / e - V h / e)]`. That grows with `x`,
    /// and bisection finds where it is [`POWER`]. For large `f`, V is 1 and `x` is `h + 1.645 e`.
    /// Earlier looks only add to the probability.
    pub fn beyond(&self) -> f64 {
        const STEPS: u32 = 64;
        let freedom = self.freedom as f64;
        let reach = 6.0 / (2.0 * freedom).sqrt();
        let (least, most) = ((1.0 - reach).max(0.0), 1.0 + reach);
        let at = |step: u32| least + (most - least) * (f64::from(step) + 0.5) / f64::from(STEPS);
        // The density of chi, without its constant.
        let weight = |v: f64| ((freedom - 1.0) * v.ln() - freedom * (v * v - 1.0) / 2.0).exp();
        let grid: Vec<[f64; 2]> = (0..STEPS).map(|step| [at(step), weight(at(step))]).collect();
        let total: f64 = grid.iter().map(|[_, weight]| weight).sum();
        let (normal, bound) = (Normal::standard(), self.half_width / self.standard_error);
        let power = |x: f64| {
            let broken = grid.iter().map(|[v, weight]| weight * normal.cdf(x - v * bound));
            broken.sum::<f64>() / total
        };
        let (mut no, mut yes) = (0.0, most * bound + 6.0);
        for _ in 0..40 {
            let middle = f64::midpoint(no, yes);
            *(if power(middle) < POWER { &mut no } else { &mut yes }) = middle;
        }
        yes * self.standard_error
    }
}

/// Minimum number of operations for an upper bound on a quantile, if a stall delays `cluster` of
/// them at once.
pub fn least_operations(quantile: f64, alpha: f64, cluster: f64) -> f64 {
    (cluster * alpha.ln() / quantile.ln()).ceil()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_distr::{Distribution as _, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn five_of_five_above_a_limit_break_a_rule_and_five_below_keep_it() {
        let of = |values: &[f64]| by_sign(values.iter().copied(), 10.0, 0.05);
        assert_eq!(of(&[11.0; 4]), Outcome::Undecided);
        assert_eq!(of(&[11.0; 5]), Outcome::Fail);
        assert_eq!(of(&[9.0; 5]), Outcome::Pass);
        assert_eq!(of(&[f64::INFINITY; 5]), Outcome::Fail, "stalled");
        assert_eq!(of(&[11.0, 9.0, 11.0, 11.0, 11.0]), Outcome::Undecided);
        assert_eq!(of(&[10.0; 5]), Outcome::Pass, "on the limit");
        let on_it = |lo, hi| Outcome::of(&Interval { mean: 1.0, lo, hi }, 1.0);
        assert_eq!([on_it(1.0, 1.5), on_it(0.5, 1.0)], [Outcome::Undecided; 2]);
    }

    #[test]
    fn the_price_of_a_word_is_paid_when_it_is_reached() {
        let summary = Summary { blocks: 10, mean: -0.02, sd: 0.1, freedom: 9 };
        let half_width = |blocks: usize| {
            let level = Design::with_max_blocks(blocks).nominal_level(0.1);
            critical_t(level, blocks - 1) * 0.1 / (blocks as f64).sqrt()
        };
        for distance in (30..300).map(|thousandths| f64::from(thousandths) / 1e3) {
            let needed = blocks_needed(&Summary { blocks: 2, ..summary }, distance, 0.05).unwrap();
            let (is, less) = (half_width(needed), half_width(needed - 1));
            assert!(is < distance && less >= distance, "{distance}: {needed}");
        }
        assert_eq!(blocks_needed(&summary, 0.0, 0.05), None, "on the limit");
    }

    fn reach(blocks: usize) -> Reach {
        let design = Design::with_max_blocks(40);
        let (freedom, standard_error) = (blocks - 1, 0.1 / (blocks as f64).sqrt());
        let critical = critical_t(design.nominal_level(0.1), freedom);
        Reach { half_width: critical * standard_error, standard_error, freedom }
    }

    #[test]
    fn a_violation_within_reach_breaks_the_rule_in_19_of_20_simulated_runs() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        for blocks in [3, 4, 6, 10, 20, 40] {
            let truth = reach(blocks).beyond();
            let mut breaks = || {
                let normal = StandardNormal.sample_iter(&mut random).take(blocks);
                let d: Vec<f64> = normal.map(|z: f64| truth + 0.1 * z).collect();
                bounds(&d, Design::with_max_blocks(40), 0.05).unwrap().lo > 0.0
            };
            let broken = (0..4_000).filter(|_| breaks()).count() as f64 / 4_000.0;
            assert!((broken - POWER).abs() < 0.012, "{broken} after {blocks} blocks");
        }
    }

    #[test]
    fn with_many_blocks_the_reach_is_the_bound_and_a_normal_quantile() {
        let many = Reach { freedom: 100_000, ..reach(40) };
        let expected = many.half_width + 1.645 * many.standard_error;
        assert!((many.beyond() / expected - 1.0).abs() < 1e-3, "{} {expected}", many.beyond());
        let reached = [3, 6, 20, 40].map(|blocks| reach(blocks).beyond());
        assert!(reached.is_sorted_by(|few, more| few > more), "{reached:?}");
    }
}
