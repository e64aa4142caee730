//! From per-block values to comparisons with verdicts: the one place where they are formed.

use iotax_stats::gate::Reach;
use iotax_stats::holm;
use iotax_stats::rci::Interval;
use iotax_stats::sample::{self, count};
use iotax_stats::sequential::{Decision, Series};
use iotax_stats::stopping::Mode;
use iotax_stats::trimmed::trimmed_mean;
use iotax_stats::verdict::{Sign, Verdict};

use crate::analysis::{Comparison, PlaceEffect, Regime, Withheld};
use crate::block_differences::BlockDifferences;
use crate::change::{self, Change};
use crate::method::Method;
use crate::metrics::{Better, Metric, Trait};
use crate::place;
use crate::stalled::Judged;

/// What a rule is held against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleBounds {
    /// The cost between two bounds that hold one by one.
    pub cost: Interval,
    /// On the scale of log ratios.
    pub reach: Reach,
}

/// A comparison with what it rests on.
#[derive(Debug, Clone)]
pub(crate) struct Conclusion {
    pub comparison: Comparison,
    pub decision: Decision,
    /// The p-value for "no difference" if the blocks depend on each other as much as they well may.
    pub p_if_dependent: f64,
    /// Blocks behind it.
    pub blocks: Vec<u32>,
    /// Standard deviation of the log ratios from block to block.
    pub spread: Option<f64>,
    /// For rules.
    pub bounds: Option<RuleBounds>,
    /// Why the interval's own verdict was taken back.
    pub withheld: Option<Withheld>,
}

impl Conclusion {
    const fn new(comparison: Comparison, decision: Decision, blocks: Vec<u32>) -> Self {
        Self {
            comparison,
            decision,
            p_if_dependent: 1.0,
            blocks,
            spread: None,
            bounds: None,
            withheld: None,
        }
    }

    /// About two layers together: shown, but it does not decide when a run stops.
    pub(crate) const fn is_interaction(&self) -> bool {
        self.comparison.subject.is_interaction()
    }
}

#[cfg(test)]
impl Conclusion {
    /// That rests on nothing, for tests.
    pub(crate) fn example(comparison: Comparison) -> Self {
        let decision = Decision::without_size(3, comparison.verdict, None);
        Self::new(comparison, decision, vec![0, 1, 2])
    }
}

/// Concludes on the rows of one family (one metric, all arms or all layers): Holm's procedure
/// runs over them.
pub(crate) fn conclude(method: &Method, mut rows: Vec<BlockDifferences>) -> Vec<Conclusion> {
    let Some(metric) = rows.first().map(|row| row.metric) else { return Vec::new() };
    let sequential = method.sequential(metric);
    let places: Vec<Option<PlaceEffect>> =
        rows.iter_mut().map(|row| place::take_out(method, row)).collect();
    let changes: Vec<Option<Change>> =
        rows.iter_mut().map(|row| change::split(method, row)).collect();
    let family = rows.len();
    let judged: Vec<Option<Judged>> = rows
        .iter()
        .map(|row| row.stalled.as_ref().map(|blocks| blocks.judge(method, family)))
        .collect();
    let p_of =
        |(row, (change, judged)): (&BlockDifferences, (&Option<Change>, &Option<Judged>))| {
            match judged {
                Some(judged) => judged.p,
                None => sequential.sequential_p(unspent(row, change.as_ref())),
            }
        };
    let p: Vec<f64> = rows.iter().zip(changes.iter().zip(&judged)).map(p_of).collect();
    let adjusted = holm::adjusted(&p);
    let mut decisions: Vec<Decision> =
        rows.iter().map(|row| sequential.conclude(row.series())).collect();
    let p_if_dependent: Vec<f64> = rows
        .iter()
        .zip(&changes)
        .map(|(row, change)| sequential.sequential_p_if_dependent(unspent(row, change.as_ref())))
        .collect();
    if sequential.goal().mode != Mode::Tight && !sequential.design().is_of_slices() {
        // What holds for one of several comparisons may not hold for the family.
        for (decision, adjusted) in decisions.iter_mut().zip(holm::adjusted(&p_if_dependent)) {
            if decision.verdict.is_signed() && adjusted > method.alpha {
                method.withhold(decision);
                decision.is_guarded = true;
            }
        }
    }
    if !method.simultaneous {
        // Else each interval already pays for all of them.
        sequential.withhold_by_family(&mut decisions, &adjusted);
    }
    rows.into_iter()
        .zip(decisions.into_iter().zip(changes).zip(judged))
        .zip(p.into_iter().zip(adjusted).zip(places.into_iter().zip(p_if_dependent)))
        .map(|((row, ((mut decision, change), judged)), ((p, adjusted), (place, dependent)))| {
            let holds = adjusted <= method.alpha;
            if let Some(judged) = &judged {
                return row.stalled(method, decision, judged, holds);
            }
            let withheld = withheld(method, &mut decision, place.as_ref());
            if let Some(change) = &change {
                change.restrict(&mut decision);
            }
            let p = (decision.blocks > 0).then_some(p);
            let mut conclusion = row.conclusion(method, decision, p, holds, change);
            conclusion.comparison.place = place;
            Conclusion { withheld, p_if_dependent: dependent, ..conclusion }
        })
        .collect()
}

/// The blocks of a row, with the looks that were not used up before its effect changed.
fn unspent<'a>(row: &'a BlockDifferences, change: Option<&Change>) -> Series<'a> {
    let series = row.series();
    Series { first_look: series.first_look.max(Change::spent(change) + 1), ..series }
}

/// Why the interval's own verdict does not stand; where the place of the trials is why, it is taken
/// back here.
fn withheld(
    method: &Method,
    decision: &mut Decision,
    place: Option<&PlaceEffect>,
) -> Option<Withheld> {
    if decision.verdict.is_signed() && place.is_some_and(|place| !place.taken_out) {
        method.withhold(decision);
        return Some(Withheld::OrderMatters);
    }
    if decision.is_guarded {
        return Some(Withheld::IfDependent);
    }
    let own = decision.cost.map(|cost| Verdict::of(&cost, method.margin));
    let by_family =
        decision.verdict == Verdict::Undecided && own.is_some_and(|own| own != Verdict::Undecided);
    by_family.then_some(Withheld::AfterHolm)
}

impl BlockDifferences {
    /// The conclusion from signs. Where they say nothing yet, a word that forbids any other stays.
    fn stalled(self, method: &Method, own: Decision, judged: &Judged, holds: bool) -> Conclusion {
        let Judged { verdict, stalls, stop, p, base } = *judged;
        // Where only some trials stalled, the signs are those of throughput, and a median may go
        // the other way.
        let all_stalled = [stalls.arm, stalls.base].contains(&stalls.blocks);
        let is_told = self.metric != Metric::P50 || all_stalled || !verdict.is_signed();
        let verdict = if is_told { verdict } else { Verdict::Undecided };
        let gate = self.gate.filter(|_| !verdict.is_decided());
        let blocks = self.stalled.as_ref().map_or_else(Vec::new, |stalled| stalled.blocks.clone());
        let decision = Decision::without_size(blocks.len(), verdict, stop);
        let is_rate = self.metric.better() == Better::Higher;
        let plain = self.conclusion(method, own, Some(p), holds, None);
        let Comparison { subject, metric, p, .. } = plain.comparison;
        let comparison = Comparison {
            base: base.filter(|_| is_rate),
            verdict: gate.unwrap_or(verdict),
            blocks: stalls.blocks,
            p,
            holds_after_holm: holds && verdict.is_decided(),
            stalls: Some(stalls),
            ..Comparison::new(subject, metric)
        };
        Conclusion::new(comparison, decision, blocks)
    }

    fn conclusion(
        self,
        method: &Method,
        decision: Decision,
        p: Option<f64>,
        holds_after_holm: bool,
        change: Option<Change>,
    ) -> Conclusion {
        // Before the first look there is no interval, but there are figures to show.
        let shown = if decision.blocks == 0 { self.blocks.len() } else { decision.blocks };
        let mean = if self.metric.has(Trait::Trimmed) { trimmed_mean } else { sample::mean };
        let mean = |values: &[f64]| finite(mean(values)).filter(|_| !values.is_empty());
        let base = mean(&self.log_base[..shown.min(self.log_base.len())]).map(f64::exp);
        let ratio = mean(&self.log_ratios[..shown]).map(f64::exp);
        let verdict = self.gate.unwrap_or(decision.verdict);
        let has_size = self.gate.is_none() && verdict != Verdict::EffectChanged;
        let cost = decision.cost.filter(|_| has_size);
        // At the same look as the tax.
        let differences = self.differences_ns.get(..decision.blocks).unwrap_or_default();
        let difference_ns = method.estimate(differences).filter(|_| has_size);
        let series = self.series();
        let spread = series.summary(decision.blocks).map(|summary| summary.sd);
        let bounds = method.bounds(self.metric, series, decision.blocks);
        let blocks = self.blocks[..shown].to_vec();
        let comparison = Comparison {
            tax: cost.map(|c| c.mean),
            lo: cost.map(|c| c.lo),
            hi: cost.map(|c| c.hi),
            base,
            with: base.zip(ratio).filter(|_| self.is_pair).map(|(base, ratio)| base * ratio),
            difference_ns,
            verdict,
            sign: decision.sign.filter(|_| verdict == Verdict::Equivalent).map(word),
            blocks: count(decision.blocks),
            p,
            holds_after_holm: holds_after_holm && verdict.is_decided(),
            blocks_needed: decision
                .projection
                .filter(|_| has_size)
                .and_then(|projection| u32::try_from(projection.total_blocks).ok()),
            regime: change.map(|_| Regime::AfterChange).filter(|_| has_size),
            change: change.map(|change| change.effect),
            ..Comparison::new(self.subject, self.metric)
        };
        Conclusion { spread, bounds, ..Conclusion::new(comparison, decision, blocks) }
    }
}

pub(crate) fn word(sign: Sign) -> Verdict {
    match sign {
        Sign::Slower => Verdict::Slower,
        Sign::Faster => Verdict::Faster,
    }
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
