//! A depth check drives the same arms at the comparison's own depth, too: more trials of the same
//! thing. Where they disagree with the comparison by more than noise explains, something ended in
//! between (burst credits, a cache, another load), and the verdict is one of what is over.

use iotax_stats::sample::{count, mean, median, variance};
use iotax_stats::student::critical_t;
use iotax_stats::verdict::Verdict;

use super::DepthCheck;
use super::depths::{Level, interval};
use super::judge::{candidates, involved, may_be_masked};
use crate::analysis::{Comparison, EffectChange, Estimate};
use crate::conclude::Conclusion;
use crate::method::Method;
use crate::metrics::Metric;

/// A level this many times above or below every trial of the comparison is another one, as in the
/// search for a change during the run.
const SHIFT: f64 = 1.25;
/// Level of the test whether two means of log ratios differ. One is taken for each equal arm, so it
/// is low.
const ALPHA: f64 = 0.01;
/// Blocks of either below which nothing is compared.
const MIN_BLOCKS: usize = 3;

/// An arm whose level was another one in the depth check.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LevelShift {
    pub arm: usize,
    /// I/Os per second in the comparison, and in the depth check; medians.
    pub iops: [f64; 2],
    /// Trials of the depth check at this depth.
    pub trials: usize,
}

impl DepthCheck<'_> {
    /// The arms of which it shows another level.
    pub(crate) fn shifts(&self) -> Vec<LevelShift> {
        let shift = |(arm, levels): (usize, &Vec<Level>)| {
            let own = self.blocks.all.iter().filter_map(|b| Metric::Throughput.of(b.trials[arm]?));
            let before: Vec<f64> = own.collect();
            let since: Vec<f64> = own_level(levels)?.iter().map(|(_, iops)| *iops).collect();
            (before.len() >= MIN_BLOCKS && since.len() >= MIN_BLOCKS).then_some(())?;
            let iops = [median(&before), median(&since)];
            let least = before.iter().copied().fold(f64::INFINITY, f64::min);
            let most = before.iter().copied().fold(0.0, f64::max);
            let is_beyond = iops[1] * SHIFT <= least || iops[1] >= SHIFT * most;
            is_beyond.then_some(LevelShift { arm, iops, trials: since.len() })
        };
        self.levels.iter().enumerate().filter_map(shift).collect()
    }

    /// Takes verdicts back with which it disagrees.
    pub(crate) fn withhold(&self, conclusions: &mut [Conclusion], shifts: &[LevelShift]) {
        let is_shifted = |arm: usize| shifts.iter().any(|shift| shift.arm == arm);
        for conclusion in conclusions {
            let comparison = &conclusion.comparison;
            let is_said = comparison.verdict.is_decided() && candidates(comparison);
            if !is_said && !may_be_masked(conclusion, self.room) {
                continue;
            }
            // What a layer costs is a contrast of all arms: one that changed is enough.
            let arms = involved(comparison, self.names).into_iter().filter(|arm| *arm > 0);
            let mut disagree =
                arms.filter_map(|arm| self.disagreement(arm, is_shifted(0) || is_shifted(arm)));
            if let Some((compared, since)) = disagree.next() {
                conclusion.changed_since(self.method, compared, &since);
            }
        }
    }

    /// Log ratios of an arm and the first one in the depth check, and in how many blocks they were
    /// compared before, if both are not of one kind.
    fn disagreement(&self, arm: usize, is_shifted: bool) -> Option<(usize, Vec<f64>)> {
        let compared: Vec<f64> = (self.blocks.all.iter().filter_map(|block| block.pair(arm)))
            .filter_map(|(_, [base, with])| {
                let [base, with] = [base, with].map(|trial| Metric::Throughput.of(trial));
                Some((with? / base?).ln())
            })
            .collect();
        let (base, with) = (own_level(self.levels.first()?)?, own_level(self.levels.get(arm)?)?);
        let of_block = |of: u32| Some(base.iter().find(|(block, _)| *block == of)?.1);
        let pairs: Vec<[f64; 2]> =
            with.iter().filter_map(|(block, iops)| Some([of_block(*block)?, *iops])).collect();
        let since: Vec<f64> = pairs.iter().map(|[base, with]| (with / base).ln()).collect();
        (compared.len() >= MIN_BLOCKS && since.len() >= MIN_BLOCKS).then_some(())?;
        // At another level nothing says that the ratio is still the same: what is shown must be.
        let sum = |side: usize| pairs.iter().map(|pair| pair[side]).sum::<f64>();
        let shown = (sum(1) / sum(0)).ln();
        let matters = -(-self.method.margin).ln_1p();
        let is_another = is_shifted && (shown - mean(&compared)).abs() >= matters;
        (is_another || differ(&compared, &since, matters)).then_some((compared.len(), since))
    }
}

/// Whether two means of log ratios differ by `matters` at least, and by more than chance.
///
/// The larger spread of both is taken for both: few blocks may agree by accident, and windows of a
/// depth check are shorter.
fn differ(compared: &[f64], since: &[f64], matters: f64) -> bool {
    let difference = mean(since) - mean(compared);
    let spread = variance(compared).max(variance(since));
    let [n, m] = [compared.len(), since.len()].map(|n| n as f64);
    let error = (spread * (1.0 / n + 1.0 / m)).sqrt().max(f64::EPSILON);
    difference.abs() >= matters
        && difference.abs() > error * critical_t(ALPHA, compared.len() + since.len() - 2)
}

/// Blocks and rates at the comparison's own depth.
fn own_level(levels: &[Level]) -> Option<Vec<(u32, f64)>> {
    let own = levels.iter().find(|level| level.is_own)?;
    Some(own.trials.iter().map(|(block, iops, ..)| (*block, *iops)).collect())
}

impl Conclusion {
    /// `since`: log ratios in the depth check.
    fn changed_since(&mut self, method: &Method, compared: usize, since: &[f64]) {
        let comparison = &mut self.comparison;
        let before = comparison.tax.zip(comparison.lo.zip(comparison.hi));
        let before = before.map(|(value, (lo, hi))| Estimate { value, lo, hi });
        let cost = interval(since).map(|ratio| method.cost(comparison.metric, ratio));
        comparison.change = Some(EffectChange {
            after_block: self.blocks.last().map_or(0, |block| block + 1),
            blocks: [compared, since.len()].map(count),
            before,
            since: cost.map(Estimate::from),
            in_depth_check: true,
        });
        comparison.become_another();
    }
}

impl Comparison {
    /// What was measured is over: neither a verdict nor a size is left.
    pub(super) fn become_another(&mut self) {
        self.verdict = Verdict::EffectChanged;
        (self.tax, self.lo, self.hi) = (None, None, None);
        self.sign = None;
        self.holds_after_holm = false;
        self.difference_ns = None;
        self.blocks_needed = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_differ_if_neither_chance_nor_the_margin_explains_it() {
        let compared = [0.01, -0.01, 0.02, -0.02, 0.0];
        let matters = 0.05;
        assert!(differ(&compared, &[0.3, 0.31, 0.29], matters));
        assert!(!differ(&compared, &[0.04, 0.041, 0.039], matters), "within the margin");
        assert!(!differ(&compared, &[1.0, -0.9, 0.9], matters), "noise");
        // No spread at all in three blocks is an accident, and the other spread is taken.
        assert!(!differ(&[0.1, -0.1, 0.05, -0.05], &[0.12; 3], matters));
    }
}
