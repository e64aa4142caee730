//! Decides whether the data are sufficient or a verdict is out of reach, and projects missing
//! blocks.
//!
//! Any rule may decide when to stop, because the repeated confidence interval covers at
//! every look (Jennison & Turnbull, ch. 9); futility is non-binding, so continuing after it
//! does not raise the error either.
//!
//! Cost of precision, at alpha .05 and at most 40 blocks: a half-width of 3 points on a
//! tax of 34 % takes 10 blocks at SD(d) = .04, and with the longer designs 80 at .14 and
//! about 170 at .21. In the default mode `equivalent` too has to be precise to 2 points
//! (34 blocks of equal arms on average at SD .04, against 12 with `Quick`).

use crate::design::{Design, EXTENDED_LOOKS};
use crate::rci::{CriticalValues, Interval, Summary};
use crate::student::{critical_t, critical_t_from_z, critical_z};
use crate::verdict::Verdict;

/// The required precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Stop at the first verdict.
    Quick,
    /// Stop at a verdict whose half-width is at most the margin or a third of the effect.
    #[default]
    Default,
    /// Stop when the half-width is at most 1 point or 10 % of the effect.
    Tight,
}

/// The direction in which a metric gets worse; converts a log ratio to a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Better {
    /// Throughput: the cost is the tax `1 - X_arm / X_base`.
    #[default]
    Higher,
    /// Latency: the cost is the increase `L_arm / L_base - 1`.
    Lower,
}

/// The goal of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// The required precision.
    pub mode: Mode,
    /// Costs inside +-margin (a fraction inside (0, 1)) count as equivalent.
    pub margin: f64,
    /// The direction in which the metric gets worse.
    pub better: Better,
}

impl Goal {
    /// Converts a log-ratio interval to a cost (a fraction; positive: the arm is worse).
    pub fn cost(&self, log_ratio: Interval) -> Interval {
        match self.better {
            Better::Higher => log_ratio.to_tax(),
            Better::Lower => log_ratio.to_increase(),
        }
    }

    /// Whether this cost interval ends the comparison.
    pub fn reached(&self, cost: &Interval) -> bool {
        let decided = Verdict::of(cost, self.margin).is_decided();
        match self.mode {
            Mode::Quick => decided,
            Mode::Default => decided && precise(cost, self.margin, 1.0 / 3.0),
            Mode::Tight => precise(cost, 0.01, 0.10),
        }
    }

    /// Whether continuing to the last look would, at the spread so far, give neither equivalence
    /// (projected half-width above the margin) nor a sign (the mean and one
    /// standard error stay inside it). Never before 8 blocks.
    ///
    /// No mode's goal is then within reach: the precision asked for is a part of the effect
    /// or of the margin, and both are smaller than the projected half-width.
    pub fn futile(&self, summary: &Summary, critical: &CriticalValues) -> bool {
        let last = critical.design().last_look();
        let half_width = critical.at(last) * summary.sd / (last as f64).sqrt();
        summary.blocks >= 8
            && half_width > -(-self.margin).ln_1p()
            && summary.mean.abs() + summary.standard_error() < half_width
    }
}

/// Half-width at most `floor` or `relative` times the estimate, whichever is larger.
fn precise(cost: &Interval, floor: f64, relative: f64) -> bool {
    cost.half_width() <= floor.max(relative * cost.mean.abs())
}

/// Projection of the blocks that the goal needs, if mean and spread do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Projection {
    /// Total number of blocks, including those already measured.
    pub total_blocks: usize,
    /// Whether the design's last look allows that many.
    pub within_design: bool,
}

/// Projects block counts: the design's own looks, then those of the longer designs with
/// their own critical values, then any number at the level of the longest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Projector {
    last_look: usize,
    looks: Vec<(usize, f64)>,
    z_beyond: f64,
}

/// Projections above this number are meaningless.
const PROJECTION_LIMIT: usize = 1_000_000_000;

impl Projector {
    /// For one design and overall level.
    pub(crate) fn new(critical: &CriticalValues, alpha: f64) -> Self {
        let design = critical.design();
        let last_look = design.last_look();
        let own = design.looks().iter().map(|&n| (n, critical.at(n)));
        let beyond = EXTENDED_LOOKS.iter().filter(|&&n| n > last_look).map(|&n| {
            let level = Design::with_max_blocks(n).nominal_level(alpha);
            (n, critical_t(level, n - 1))
        });
        let longest =
            Design::with_max_blocks(usize::MAX).nominal_level(alpha).min(critical.p_star());
        Self { last_look, looks: own.chain(beyond).collect(), z_beyond: critical_z(longest) }
    }

    /// Number of blocks at which `goal` would be reached; `None` if a billion is not enough.
    pub(crate) fn project(&self, summary: &Summary, goal: &Goal) -> Option<Projection> {
        let reached = |blocks: usize, t: f64| {
            let half_width = t * summary.sd / (blocks as f64).sqrt();
            goal.reached(&goal.cost(Interval::around(summary.mean, half_width)))
        };
        let at_look = self
            .looks
            .iter()
            .find(|&&(blocks, t)| blocks > summary.blocks && reached(blocks, t))
            .map(|&(blocks, _)| blocks);
        let total_blocks = at_look.or_else(|| {
            // Monotone: with more blocks the interval only shrinks around the same mean.
            let reached = |n: usize| reached(n, critical_t_from_z(self.z_beyond, (n - 1) as f64));
            let (mut no, mut yes) =
                (EXTENDED_LOOKS[17].max(self.last_look).max(summary.blocks), PROJECTION_LIMIT);
            if !reached(yes) {
                return None;
            }
            while yes - no > 1 {
                let middle = no.midpoint(yes);
                if reached(middle) { yes = middle } else { no = middle }
            }
            Some(yes)
        })?;
        Some(Projection { total_blocks, within_design: total_blocks <= self.last_look })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn goal(mode: Mode) -> Goal {
        Goal { mode, margin: 0.05, better: Better::Higher }
    }

    fn critical() -> CriticalValues {
        CriticalValues::new(Design::default(), 0.05)
    }

    fn blocks_for(sd: f64, tax: f64, mode: Mode) -> usize {
        let projector = Projector::new(&critical(), 0.05);
        let summary = Summary { blocks: 3, mean: (-tax).ln_1p(), sd, freedom: 2 };
        projector.project(&summary, &goal(mode)).unwrap().total_blocks
    }

    #[test]
    fn modes_ask_for_increasing_precision() {
        let wide = Interval { mean: 0.30, lo: 0.10, hi: 0.50 };
        let middle = Interval { mean: 0.30, lo: 0.25, hi: 0.35 };
        let narrow = Interval { mean: 0.30, lo: 0.28, hi: 0.32 };
        let reached = |mode| [wide, middle, narrow].map(|cost| goal(mode).reached(&cost));
        assert_eq!(reached(Mode::Quick), [true, true, true]);
        assert_eq!(reached(Mode::Default), [false, true, true]);
        assert_eq!(reached(Mode::Tight), [false, false, true]);
    }

    #[test]
    fn tight_needs_no_verdict_and_the_others_do() {
        let undecided = Interval { mean: 0.045, lo: 0.035, hi: 0.055 };
        assert_eq!(Verdict::of(&undecided, 0.05), Verdict::Slower);
        let around_zero = Interval { mean: 0.0, lo: -0.009, hi: 0.009 };
        let strict = Goal { margin: 0.005, ..goal(Mode::Tight) };
        assert!(strict.reached(&around_zero));
        assert!(!Goal { mode: Mode::Default, ..strict }.reached(&around_zero));
    }

    #[test]
    fn price_of_precision_grows_with_the_square_of_the_noise() {
        // Tight at 30 %: half-width 3 points, 4.3 % on the log scale.
        assert_eq!(blocks_for(0.04, 0.30, Mode::Tight), 13);
        let (some, twice) =
            (blocks_for(0.21, 0.30, Mode::Tight), blocks_for(0.42, 0.30, Mode::Tight));
        assert!((175..=210).contains(&some), "{some}");
        assert!((3.8..=4.1).contains(&(twice as f64 / some as f64)), "{twice}");
    }

    #[test]
    fn futility_waits_for_eight_blocks_and_for_hopeless_noise() {
        let summary = |blocks, mean, sd| Summary { blocks, mean, sd, freedom: blocks - 1 };
        let futile = |s: Summary| goal(Mode::Quick).futile(&s, &critical());
        assert!(futile(summary(8, 0.0, 0.28)));
        assert!(!futile(summary(6, 0.0, 0.28)), "too early");
        assert!(!futile(summary(8, 0.0, 0.05)), "equivalence is within reach");
        assert!(!futile(summary(8, -0.2, 0.28)), "a sign is within reach");
    }

    #[test]
    fn projection_gives_up_only_where_no_number_of_blocks_would_do() {
        let projector = Projector::new(&critical(), 0.05);
        let hopeless = Summary { blocks: 10, mean: 0.0, sd: 1e200, freedom: 9 };
        assert_eq!(projector.project(&hopeless, &goal(Mode::Quick)), None);
    }

    proptest! {
        #[test]
        fn projected_blocks_reach_the_goal_and_one_look_fewer_does_not(
            mean in -1.0..0.5_f64, sd in 0.001..1.0_f64, blocks in 3_usize..40, mode in 0..3_usize,
        ) {
            let goal = goal([Mode::Quick, Mode::Default, Mode::Tight][mode]);
            let critical = critical();
            let projector = Projector::new(&critical, 0.05);
            let summary = Summary { blocks, mean, sd, freedom: blocks - 1 };
            let Some(found) = projector.project(&summary, &goal) else { return Ok(()) };
            prop_assert!(found.total_blocks > blocks);
            if found.within_design {
                let reached = |n: usize| {
                    let at = Summary { blocks: n, mean, sd, freedom: n - 1 };
                    goal.reached(&goal.cost(critical.interval(&at)))
                };
                prop_assert!(reached(found.total_blocks));
                let fewer = critical.design().look_at_or_before(found.total_blocks - 1);
                if let Some(fewer) = fewer.filter(|&n| n > blocks) {
                    prop_assert!(!reached(fewer));
                }
            }
        }
    }
}
