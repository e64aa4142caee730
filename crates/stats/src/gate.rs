//! Does a result break a rule that was set before it was measured?
//!
//! Each end of the interval is a one-sided bound: the rule is broken if even the end that speaks
//! for the arm breaks it, and kept if even the other end keeps it. Either word is wrong with a
//! probability of at most alpha, at whichever look one stops.

use crate::design::Design;
use crate::rci::{Interval, Summary, rci};
use crate::stalls::{Sides, boundary};
use crate::student::critical_t;

/// What a result says of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Fail,
    Pass,
    /// The data allow both.
    Undecided,
}

impl Outcome {
    /// Of an interval of what must not be above `limit`. On the limit nothing is decided.
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

/// Whether more of `values` are above `limit` than chance allows for, or fewer: without any
/// assumption on how they spread. The first word is possible after five values at `alpha` .05.
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

/// Beyond this many blocks, how many it would take says nothing any more.
const MOST_BLOCKS: usize = 100_000;

/// Blocks after which a mean `distance` away from a limit would be told from it, at the spread
/// seen so far; `None` if no reasonable number would do.
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

/// Operations below which a quantile has no upper bound at all, if a stall delays `cluster` of them
/// at once.
pub fn least_operations(quantile: f64, alpha: f64, cluster: f64) -> f64 {
    (cluster * alpha.ln() / quantile.ln()).ceil()
}

#[cfg(test)]
mod tests {
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
        let summary = Summary { blocks: 10, mean: -0.02, sd: 0.1 };
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
}
