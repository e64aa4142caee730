//! One arm or layer against the baseline.

use iotax_experiment::Subject;
use iotax_stats::verdict::Verdict;
use serde::Serialize;

use super::{Cap, Estimate, Regime};
use crate::effect::Effect;
use crate::metrics::Metric;

/// What one arm of several is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Against {
    Arm(String),
    /// The mean of this many other arms.
    Others(u32),
}

impl Against {
    pub fn arm(&self) -> Option<&str> {
        match self {
            Self::Arm(name) => Some(name),
            Self::Others(_) => None,
        }
    }
}

/// One arm, layer or level against the baseline in one metric. Positive tax = worse.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    #[serde(flatten)]
    pub subject: Subject,
    /// What it is compared with, where that is a baseline of its own and not that of all. Reports
    /// print its name.
    #[serde(skip)]
    pub against: Option<Against>,
    pub metric: Metric,
    /// Estimate, as a fraction; `None` if nothing can be said, or, with `lo` and `hi` present, if
    /// the cost of a layer depends on its place among the others: they are its range then.
    pub tax: Option<f64>,
    /// Lower end of the interval.
    pub lo: Option<f64>,
    /// Upper end of the interval.
    pub hi: Option<f64>,
    /// Of one result each, where these have several trials: the tax with the interval that the
    /// trials give. It holds between these two results alone: what another day would have changed
    /// is not in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<Estimate>,
    /// Mean of the baseline over the blocks used, in the metric's unit (I/Os per second, or
    /// nanoseconds): the geometric one, so that `base`, `with` and `tax` agree exactly.
    pub base: Option<f64>,
    /// The same of the arm; `None` for a layer, which is a contrast of several arms.
    pub with: Option<f64>,
    /// For times: the difference in nanoseconds with its interval.
    pub difference_ns: Option<Estimate>,
    pub verdict: Verdict,
    /// For `equivalent`: the interval also excludes zero, in this direction.
    pub sign: Option<Verdict>,
    /// Complete blocks used.
    pub blocks: u32,
    /// Sequentially valid p-value for "no difference".
    pub p: Option<f64>,
    /// Whether the difference holds after Holm's correction over all arms of this metric.
    pub holds_after_holm: bool,
    /// Blocks that a decision would probably need in all, if it is undecided or imprecise.
    pub blocks_needed: Option<u32>,
    /// Regime the blocks are from, where that is known.
    pub regime: Option<Regime>,
    /// The effect changed in the middle of the run: its two parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<EffectChange>,
    /// It made a difference which of the two came first in a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceEffect>,
    /// Some trials gave nothing: how many, and whether a verdict on the others stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Some trials completed nothing in their window: the counts, and what they say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// For `masked`: what both sides sit on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<Cap>,
}

impl Comparison {
    /// That has found nothing yet.
    pub(crate) const fn new(subject: Subject, metric: Metric) -> Self {
        Self {
            subject,
            against: None,
            metric,
            tax: None,
            lo: None,
            hi: None,
            within: None,
            base: None,
            with: None,
            difference_ns: None,
            verdict: Verdict::Undecided,
            sign: None,
            blocks: 0,
            p: None,
            holds_after_holm: false,
            blocks_needed: None,
            regime: None,
            change: None,
            place: None,
            missing: None,
            stalls: None,
            cap: None,
        }
    }

    /// What it found, to be said in words; `None` if that is nothing.
    pub fn effect(&self) -> Option<Effect> {
        Effect::new(self.metric.on(), self.tax, self.lo, self.hi)
    }

    /// The same of a part of the run.
    pub fn effect_of(&self, part: Estimate) -> Effect {
        Effect::of(self.metric.on(), part.value, [part.lo, part.hi])
    }
}

/// An effect that was another one after some block than before: a burst that only one arm had, a
/// cache that filled up under one. Each part has the interval that it would have alone; that the
/// place of the change was searched for is not in them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EffectChange {
    /// The last block before the change, counted from 1.
    pub after_block: u32,
    /// Complete blocks in the two parts.
    pub blocks: [u32; 2],
    /// The tax before it.
    pub before: Option<Estimate>,
    /// The tax since.
    pub since: Option<Estimate>,
    /// The change was seen after the run: `since` is what the depth check found at the same depth.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_depth_check: bool,
}

/// Trials, or saved results, that failed or completed nothing, of an arm and its baseline. Those
/// that are left may be the easy ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// Missing trials of the arm.
    pub arm: u32,
    /// Its trials in all.
    pub of_arm: u32,
    /// Missing trials of the baseline.
    pub base: u32,
    /// Its trials in all.
    pub of_base: u32,
    /// They leave no verdict: those that are missing could turn it around, or are too many.
    pub decides: bool,
}

/// A difference that depends on which trial came first in a block: something belongs to the place
/// of a trial, not to its arm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlaceEffect {
    /// The tax in blocks in which the baseline came first.
    pub base_first: f64,
    /// In those in which the arm did.
    pub arm_first: f64,
    /// Blocks of each kind.
    pub blocks: [u32; 2],
    /// Two-sided p-value for "both are the same".
    pub p: f64,
    /// The comparison's interval is that without it. Else there were too few blocks for that: the
    /// interval counts it as noise, and there is no `slower` or `faster`.
    pub taken_out: bool,
}

/// Trials that completed nothing in their window, of an arm and its baseline. They have no size,
/// so the verdict rests on signs, and there is no interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stalls {
    /// Stalled trials of the arm.
    pub arm: u32,
    /// Stalled trials of the baseline.
    pub base: u32,
    /// Blocks, with a trial of each.
    pub blocks: u32,
    /// With a verdict: at least so many times slower (faster), if that is beyond the margin.
    pub factor: Option<f64>,
    /// In each block in which only this arm (or only the baseline) stalled it was at least so many
    /// times slower than the other: no inference, just what was seen. `None` if both stalled.
    pub each: Option<f64>,
    /// The verdict is only about who stalls more often: nothing is said of the speed otherwise.
    pub only_more_often: bool,
    /// Without a verdict: so many more blocks like most so far would decide.
    pub more_blocks: Option<u32>,
}

#[cfg(test)]
impl Comparison {
    /// Of equal arms, for tests.
    pub(crate) fn example(verdict: Verdict, subject: Subject) -> Self {
        Self {
            tax: Some(0.0),
            lo: Some(-0.01),
            hi: Some(0.01),
            base: Some(4000.0),
            with: Some(4000.0),
            verdict,
            sign: Some(Verdict::Slower),
            blocks: 3,
            holds_after_holm: true,
            ..Self::new(subject, Metric::Throughput)
        }
    }
}
