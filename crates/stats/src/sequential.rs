//! Makes the decision for one arm against its baseline, at each look.
//!
//! Per arm: summarise the block differences, form the repeated confidence interval, turn it
//! into a cost, check independence, name the verdict, and say whether to stop.
//!
//! For several arms a `slower` or `faster` also needs Holm's procedure on the sequential
//! p-values to reject at the family level. Both must hold, so the verdict never contradicts the
//! printed interval. Printed intervals are 1 - alpha per comparison; simultaneous intervals
//! come from a [`CriticalValues`] with `alpha / arms` (wider than Holm needs, so
//! that one of them may hold 0 where the family has rejected it).

use std::borrow::Cow;

use crate::dependence::{Dependence, dependence, hopeless, inflation, widening};
use crate::design::Design;
use crate::holm;
use crate::rci::{CriticalValues, Interval, Summary};
use crate::stopping::{Better, Goal, Mode, Projection, Projector};
use crate::trimmed::winsorized;
use crate::verdict::{Sign, Verdict};

/// The reason why a comparison may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The verdict or precision that the mode requires is reached.
    GoalReached,
    /// Neither is within reach at the last look, given the spread so far. Non-binding.
    Futile,
    /// The design has no further look.
    LastLook,
}

/// The block differences of one comparison, with additional facts.
#[derive(Debug, Clone, Copy)]
pub struct Series<'a> {
    /// One per complete block.
    pub d: &'a [f64],
    /// There is no look before this number of blocks.
    pub first_look: usize,
    /// Lower bound on their standard deviation, from the measurement itself.
    pub least_sd: f64,
    /// Whether conclusions use the trimmed mean (see [`crate::trimmed`]).
    pub is_trimmed: bool,
    /// Whether each value depends on all of them. The values at an earlier look were then
    /// different, so their p-value is unknown.
    pub are_of_all: bool,
}

impl<'a> From<&'a [f64]> for Series<'a> {
    fn from(d: &'a [f64]) -> Self {
        Self { d, first_look: 0, least_sd: 0.0, is_trimmed: false, are_of_all: false }
    }
}

impl<'a> From<&'a Vec<f64>> for Series<'a> {
    fn from(d: &'a Vec<f64>) -> Self {
        d.as_slice().into()
    }
}

impl Series<'_> {
    /// Mean and spread of the first `blocks`; `None` for degenerate input.
    pub fn summary(&self, blocks: usize) -> Option<Summary> {
        let summary = if self.is_trimmed { Summary::trimmed } else { Summary::of };
        Some(summary(&self.d[..blocks])?.at_least(self.least_sd))
    }

    /// The first `blocks`, winsorized: excluded values are replaced by the nearest included ones.
    fn counted(&self, blocks: usize) -> Cow<'_, [f64]> {
        let d = &self.d[..blocks];
        if self.is_trimmed { winsorized(d).into() } else { d.into() }
    }

    /// The same, with the spread widened for the dependence of slices.
    pub fn allowed_for(&self, blocks: usize, design: Design) -> Option<Summary> {
        let summary = self.summary(blocks)?;
        let factor = if design.is_of_slices() { inflation(&self.counted(blocks)) } else { 1.0 };
        Some(Summary { sd: summary.sd * factor, ..summary })
    }
}

/// The result of one look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// Blocks analysed: a look of the design, or 0 before the first.
    pub blocks: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// Direction of the cost if its interval excludes 0; shown beside `equivalent`.
    pub sign: Option<Sign>,
    /// Interval of the mean block difference (log ratio); `None` for degenerate input.
    pub log_ratio: Option<Interval>,
    /// The same as a cost: a fraction, positive when the arm is worse.
    pub cost: Option<Interval>,
    /// Whether the verdict would hold in the worst plausible case of dependence.
    pub holds_if_dependent: bool,
    /// Whether a sign of a quick run was withdrawn for that reason.
    pub is_guarded: bool,
    /// Set when the verdict is `not independent`.
    pub dependence: Option<Dependence>,
    /// The reason to stop here, if any.
    pub stop: Option<StopReason>,
    /// Number of blocks that the goal needs at this mean and spread. `None` if it is reached, if no
    /// number is enough, or if the blocks are not independent.
    pub projection: Option<Projection>,
}

impl Decision {
    /// A verdict without an interval.
    pub const fn without_size(blocks: usize, verdict: Verdict, stop: Option<StopReason>) -> Self {
        Self {
            blocks,
            verdict,
            sign: None,
            log_ratio: None,
            cost: None,
            holds_if_dependent: true,
            is_guarded: false,
            dependence: None,
            stop,
            projection: None,
        }
    }
}

/// The sequential procedure, with everything precomputed that does not depend on the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequential {
    alpha: f64,
    goal: Goal,
    critical: CriticalValues,
    projector: Projector,
}

impl Sequential {
    /// For throughputs (more is better). `alpha` and `margin` inside (0, 1).
    pub fn new(design: Design, alpha: f64, margin: f64, mode: Mode) -> Self {
        let critical = CriticalValues::new(design, alpha);
        let projector = Projector::new(&critical, alpha);
        let goal = Goal { mode, margin, better: Better::Higher };
        Self { alpha, goal, critical, projector }
    }

    /// The same procedure for latencies (less is better).
    #[must_use]
    pub fn lower_is_better(mut self) -> Self {
        self.goal.better = Better::Lower;
        self
    }

    /// The look schedule.
    pub fn design(&self) -> Design {
        self.critical.design()
    }

    /// The goal: mode, margin and direction.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// The critical values, for further contrasts under the same design.
    pub fn critical(&self) -> &CriticalValues {
        &self.critical
    }

    /// Decides on the block differences `d`, one per complete block: only at a look (`None`
    /// between looks: continue). From the last look on, the reason is at least
    /// [`StopReason::LastLook`].
    pub fn decide(&self, d: &[f64]) -> Option<Decision> {
        let design = self.design();
        let look = d.len().min(design.last_look());
        design.is_look(look).then(|| self.analyse(d.into(), look))
    }

    /// The decision at the latest look within `d`, for a run that ended between two looks. Before
    /// the first look it is `undecided`, without an interval.
    pub fn conclude<'a>(&self, d: impl Into<Series<'a>>) -> Decision {
        let series = d.into();
        let look = self.design().look_at_or_before(series.d.len()).unwrap_or(0);
        self.analyse(series, if look < series.first_look { 0 } else { look })
    }

    /// Sequential p-value of `d`: from the smallest paired-t p-value of all looks within it.
    pub fn sequential_p<'a>(&self, d: impl Into<Series<'a>>) -> f64 {
        let factor = if self.design().is_of_slices() { inflation } else { |_: &[f64]| 1.0 };
        self.smallest_p(d.into(), factor)
    }

    /// The same in the worst plausible case of dependence.
    pub fn sequential_p_if_dependent<'a>(&self, d: impl Into<Series<'a>>) -> f64 {
        self.smallest_p(d.into(), widening)
    }

    fn smallest_p(&self, series: Series<'_>, widening: impl Fn(&[f64]) -> f64) -> f64 {
        let looks = self.design().looks().iter().take_while(|&&n| n <= series.d.len());
        let known = looks.clone().count();
        let lost = if series.are_of_all { known.saturating_sub(1) } else { 0 };
        let p_values = looks.skip(lost).filter(|&&n| n >= series.first_look).filter_map(|&n| {
            let summary = series.summary(n)?;
            let sd = summary.sd * widening(&series.counted(n));
            Some(Summary { sd, ..summary }.p_value())
        });
        self.design().sequential_p(p_values.fold(1.0, f64::min))
    }

    /// Concludes on several arms of one metric against the same baseline, in their order.
    /// Give every arm its differences so far, those already stopped included: they keep
    /// their place in the family. Arms may have different numbers of blocks.
    pub fn conclude_family(&self, arms: &[&[f64]]) -> Vec<Decision> {
        let mut decisions: Vec<Decision> = arms.iter().map(|d| self.conclude(*d)).collect();
        let p: Vec<f64> = arms.iter().map(|d| self.sequential_p(*d)).collect();
        self.withhold_by_family(&mut decisions, &holm::adjusted(&p));
        decisions
    }

    /// Withdraws the signs that the family does not support, given Holm's adjusted sequential
    /// p-values. A family of one supports all.
    pub fn withhold_by_family(&self, decisions: &mut [Decision], adjusted: &[f64]) {
        if decisions.len() < 2 {
            return;
        }
        for (decision, adjusted) in decisions.iter_mut().zip(adjusted) {
            if decision.verdict.is_signed() && *adjusted > self.alpha {
                self.withhold(decision);
            }
        }
    }

    /// Withdraws a sign for a reason other than the comparison's own blocks. This also removes the
    /// projection, which is based only on these blocks.
    pub fn withhold(&self, decision: &mut Decision) {
        decision.verdict = Verdict::Undecided;
        decision.projection = None;
        if decision.stop == Some(StopReason::GoalReached) && self.goal.mode != Mode::Tight {
            let last = decision.blocks == self.design().last_look();
            decision.stop = last.then_some(StopReason::LastLook);
        }
    }

    /// Whether the verdict is the same with an interval widened for dependent blocks.
    fn holds_if_dependent(&self, d: &[f64], log_ratio: Interval, verdict: Verdict) -> bool {
        let wide = Interval::around(log_ratio.mean, log_ratio.half_width() * widening(d));
        Verdict::of(&self.goal.cost(wide), self.goal.margin) == verdict
    }

    fn analyse(&self, series: Series<'_>, look: usize) -> Decision {
        let d = &*series.counted(look);
        let at_last_look = d.len() == self.design().last_look();
        let is_of_slices = self.design().is_of_slices();
        let Some(summary) = series.allowed_for(look, self.design()) else {
            let stop = at_last_look.then_some(StopReason::LastLook);
            return Decision::without_size(look, Verdict::Undecided, stop);
        };
        let log_ratio = self.critical.interval(&summary);
        let cost = self.goal.cost(log_ratio);
        let dependence = if is_of_slices { hopeless(d) } else { dependence(d) };
        let verdict = match dependence {
            Some(_) => Verdict::NotIndependent,
            None => Verdict::of(&cost, self.goal.margin),
        };
        // The precision that the tight mode asks for takes it far enough; slices allow for it by
        // themselves.
        let holds_if_dependent = self.holds_if_dependent(d, log_ratio, verdict);
        let is_safe = holds_if_dependent || is_of_slices || self.goal.mode == Mode::Tight;
        let is_guarded = verdict.is_signed() && !is_safe;
        // Too narrow an interval must not end the run; later blocks may clear it.
        let has_goal = dependence.is_none() && self.goal.reached(&cost);
        let reached = has_goal && is_safe;
        let stop = if reached {
            Some(StopReason::GoalReached)
        } else if at_last_look {
            Some(StopReason::LastLook)
        } else {
            self.goal.futile(&summary, &self.critical).then_some(StopReason::Futile)
        };
        let project = !has_goal && dependence.is_none();
        Decision {
            blocks: d.len(),
            verdict: if is_guarded { Verdict::Undecided } else { verdict },
            sign: Sign::of(&cost),
            log_ratio: Some(log_ratio),
            cost: Some(cost),
            holds_if_dependent,
            is_guarded,
            dependence,
            stop,
            projection: project.then(|| self.projector.project(&summary, &self.goal)).flatten(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequential(mode: Mode) -> Sequential {
        Sequential::new(Design::default(), 0.05, 0.05, mode)
    }

    /// Alternates around `mean`, so that it is neither constant nor positively correlated.
    fn series(n: usize, mean: f64, spread: f64) -> Vec<f64> {
        (0..n).map(|i| mean + if i % 2 == 0 { spread } else { -spread }).collect()
    }

    #[test]
    fn data_are_analysed_only_at_looks() {
        let procedure = sequential(Mode::Quick);
        let d = series(60, -0.3, 0.3);
        let looked: Vec<usize> =
            (0..=41).filter(|&n| procedure.decide(&d[..n]).is_some()).collect();
        assert_eq!(looked, [&crate::design::LOOKS[..], &[41]].concat());
        assert_eq!(procedure.conclude(&d[..7]), procedure.decide(&d[..6]).unwrap());
        assert_eq!(procedure.decide(&d).unwrap().blocks, 40, "nothing beyond the last look counts");
    }

    #[test]
    fn clear_tax_stops_a_quick_run_at_the_first_look() {
        let decision = sequential(Mode::Quick).decide(&series(3, -0.7, 0.02)).unwrap();
        assert_eq!(decision.verdict, Verdict::Slower);
        assert_eq!(decision.stop, Some(StopReason::GoalReached));
        assert_eq!(decision.projection, None);
        let latency =
            sequential(Mode::Quick).lower_is_better().decide(&series(3, -0.7, 0.02)).unwrap();
        assert_eq!(latency.verdict, Verdict::Faster, "a latency that falls is an improvement");
    }

    #[test]
    fn before_the_first_look_nothing_is_claimed() {
        let decision = sequential(Mode::Quick).conclude(&[-0.7, -0.7][..]);
        assert_eq!(
            (decision.verdict, decision.cost, decision.stop),
            (Verdict::Undecided, None, None)
        );
    }

    #[test]
    fn no_look_comes_before_the_first_that_is_allowed() {
        let d = series(8, -0.7, 0.02);
        let conclude = |n: usize, first_look| {
            let series = Series { first_look, ..Series::from(&d[..n]) };
            let procedure = sequential(Mode::Quick);
            (procedure.conclude(series).blocks, procedure.sequential_p(series) < 0.05)
        };
        assert_eq!(conclude(3, 3), (3, true));
        assert_eq!(conclude(3, 4), (0, false));
        assert_eq!(conclude(7, 7), (0, false), "6 was the latest");
        assert_eq!(conclude(8, 7), (8, true));
    }

    #[test]
    fn blocks_that_agree_by_chance_are_no_more_precise_than_what_they_are_made_of() {
        let d = [-0.36; 4];
        let width = |least_sd| {
            let series = Series { first_look: 4, least_sd, ..Series::from(&d[..]) };
            sequential(Mode::Quick).conclude(series).log_ratio.unwrap().half_width()
        };
        assert!(width(0.0) < 1e-12);
        assert!((width(0.01) - 6.516 * 0.005).abs() < 1e-4, "{}", width(0.01));
    }

    #[test]
    fn a_verdict_that_dependent_blocks_would_not_bear_is_none() {
        let d = series(4, -0.2, 0.045);
        let of = |mode| sequential(mode).conclude(&d);
        let tight = of(Mode::Tight);
        assert_eq!((tight.verdict, tight.is_guarded), (Verdict::Slower, false));
        for mode in [Mode::Quick, Mode::Default] {
            let decision = of(mode);
            assert_eq!((decision.verdict, decision.is_guarded), (Verdict::Undecided, true));
            assert_eq!((decision.stop, decision.cost), (None, tight.cost), "the interval stays");
        }
    }

    #[test]
    fn p_values_of_dependent_blocks_are_those_of_a_spread_so_much_wider() {
        let procedure = sequential(Mode::Default);
        let d = series(4, -0.2, 0.01);
        let wide = |blocks: usize| {
            let all = Summary::of(&d[..blocks]).unwrap();
            Summary { sd: all.sd * widening(&d[..blocks]), ..all }.p_value()
        };
        let expected = procedure.design().sequential_p(wide(3).min(wide(4)));
        assert!(expected < 0.5, "{expected}");
        let found = procedure.sequential_p_if_dependent(&d);
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
        assert!(found > 2.0 * procedure.sequential_p(&d));
    }

    #[test]
    fn the_schedule_is_the_one_that_was_asked_for() {
        let design = Design::with_max_blocks(10);
        let procedure = Sequential::new(design, 0.05, 0.05, Mode::Default);
        assert_eq!((procedure.design(), procedure.critical().design()), (design, design));
        let last = procedure.decide(&series(10, 0.0, 0.1)).unwrap();
        assert_eq!(last.stop, Some(StopReason::LastLook));
    }

    #[test]
    fn a_sign_that_is_withheld_leaves_no_goal_reached_but_precision() {
        let stop = |mode, stop| {
            let procedure = sequential(mode);
            let mut decision = procedure.conclude(&series(10, -0.2, 0.01));
            assert_eq!(decision.stop, Some(StopReason::GoalReached));
            decision.stop = stop;
            procedure.withhold(&mut decision);
            assert_eq!((decision.verdict, decision.projection), (Verdict::Undecided, None));
            decision.stop
        };
        let (goal, futile) = (Some(StopReason::GoalReached), Some(StopReason::Futile));
        assert_eq!([stop(Mode::Default, goal), stop(Mode::Default, futile)], [None, futile]);
        assert_eq!([stop(Mode::Tight, goal), stop(Mode::Tight, None)], [goal, None]);
    }

    #[test]
    fn a_family_of_two_is_judged_as_one() {
        let procedure = sequential(Mode::Default);
        let mut two = [procedure.conclude(&series(10, -0.2, 0.01)); 2];
        procedure.withhold_by_family(&mut two, &[0.06, 0.04]);
        assert_eq!(two.map(|d| d.verdict), [Verdict::Undecided, Verdict::Slower]);
    }

    #[test]
    fn hopeless_noise_stops_early_and_says_what_it_would_take() {
        let decision = sequential(Mode::Default).decide(&series(8, 0.0, 0.3)).unwrap();
        assert_eq!(decision.verdict, Verdict::Undecided);
        assert_eq!(decision.stop, Some(StopReason::Futile));
        let projection = decision.projection.unwrap();
        assert!(!projection.within_design && projection.total_blocks > 200, "{projection:?}");
    }

    #[test]
    fn dependent_blocks_neither_stop_the_run_nor_earn_a_sign() {
        let drifting: Vec<f64> = (0..40).map(|i| -0.5 + 0.01 * f64::from(i)).collect();
        let procedure = sequential(Mode::Quick);
        let decision = procedure.decide(&drifting[..10]).unwrap();
        assert_eq!((decision.verdict, decision.stop), (Verdict::NotIndependent, None));
        assert!(decision.dependence.is_some());
        let last = procedure.decide(&drifting).unwrap();
        assert_eq!(
            (last.verdict, last.stop),
            (Verdict::NotIndependent, Some(StopReason::LastLook))
        );
    }

    #[test]
    fn undefined_differences_never_earn_a_verdict_and_still_end() {
        let procedure = sequential(Mode::Tight);
        let early = procedure.decide(&[f64::NAN; 3]).unwrap();
        assert_eq!((early.verdict, early.stop), (Verdict::Undecided, None));
        let late = procedure.decide(&[f64::NEG_INFINITY; 40]).unwrap();
        assert_eq!((late.verdict, late.stop), (Verdict::Undecided, Some(StopReason::LastLook)));
    }

    #[test]
    fn family_of_one_is_the_plain_decision_and_a_large_one_asks_for_more() {
        let procedure = sequential(Mode::Tight);
        let barely = series(4, -0.2, 0.05);
        let alone = procedure.conclude(&barely);
        assert_eq!(alone.verdict, Verdict::Slower);
        assert_eq!(procedure.conclude_family(&[&barely]), [alone]);
        let nothing = series(4, 0.0, 0.2);
        let family = procedure.conclude_family(&[&barely, &nothing, &nothing, &nothing, &nothing]);
        assert_eq!(family[0].verdict, Verdict::Undecided);
        assert_eq!(family[0].stop, None);
        assert_eq!(family[0].cost, alone.cost, "the interval stays per comparison");
    }
}
