//! A depth check drives the same arms at the comparison's own depth, too: more trials of the same
//! thing. Where they disagree with the comparison by more than noise explains, something ended in
//! between (burst credits, a cache, another load), and the verdict is one of what is over.

use iotax_experiment::Subject;
use iotax_stats::sample::{mean, variance};
use iotax_stats::student::critical_t;
use iotax_stats::verdict::Verdict;

use super::depths::{Level, interval};
use super::judge::{candidates, may_be_masked};
use crate::analysis::{EffectChange, Estimate};
use crate::blocks::Blocks;
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

/// The arms of which the depth check shows another level. `levels`: by arm.
pub(crate) fn shifts(blocks: &Blocks<'_>, levels: &[Vec<Level>]) -> Vec<LevelShift> {
    let shift = |(arm, levels): (usize, &Vec<Level>)| {
        let own = blocks.all.iter().filter_map(|b| Metric::Throughput.of(b.trials[arm]?));
        let before = sorted(own.collect());
        let since = sorted(own_level(levels)?.iter().map(|(_, iops)| *iops).collect());
        (before.len() >= MIN_BLOCKS && since.len() >= MIN_BLOCKS).then_some(())?;
        let now = median(&since);
        let is_beyond = now * SHIFT <= before[0] || now >= SHIFT * before[before.len() - 1];
        let iops = [median(&before), now];
        is_beyond.then_some(LevelShift { arm, iops, trials: since.len() })
    };
    levels.iter().enumerate().filter_map(shift).collect()
}

/// Takes verdicts back with which the depth check disagrees.
pub(crate) fn withhold(
    conclusions: &mut [Conclusion],
    (names, method, room): (&[String], &Method, f64),
    blocks: &Blocks<'_>,
    levels: &[Vec<Level>],
    shifts: &[LevelShift],
) {
    let last = names.len().saturating_sub(1);
    let is_shifted = |arm: usize| shifts.iter().any(|shift| shift.arm == arm);
    for conclusion in conclusions {
        let comparison = &conclusion.comparison;
        let is_said = comparison.verdict.is_decided() && candidates(comparison);
        if !is_said && !may_be_masked(conclusion, room) {
            continue;
        }
        // What a layer costs is a contrast of all arms: one that changed is enough.
        let arms = match &comparison.subject {
            Subject::Arm(arm) => names.iter().position(|name| name == arm).into_iter().collect(),
            Subject::Total => vec![last],
            Subject::Layer(_) | Subject::Interaction(_) | Subject::Level(_) => {
                (1..names.len()).collect::<Vec<_>>()
            }
        };
        let found = arms.into_iter().find_map(|arm| {
            let is_shifted = is_shifted(0) || is_shifted(arm);
            disagreement(blocks, levels, arm, (is_shifted, method.margin))
        });
        if let Some((compared, since)) = found {
            conclusion.changed_since(method, compared, &since);
        }
    }
}

/// Log ratios of an arm and the first one in the depth check, and in how many blocks they were
/// compared before, if both are not of one kind.
fn disagreement(
    blocks: &Blocks<'_>,
    levels: &[Vec<Level>],
    arm: usize,
    (is_shifted, margin): (bool, f64),
) -> Option<(usize, Vec<f64>)> {
    let compared: Vec<f64> = (blocks.all.iter().filter_map(|block| block.pair(arm)))
        .filter_map(|(_, [base, with])| {
            let [base, with] = [base, with].map(|trial| Metric::Throughput.of(trial));
            Some((with? / base?).ln())
        })
        .collect();
    let (base, with) = (own_level(levels.first()?)?, own_level(levels.get(arm)?)?);
    let pairs: Vec<[f64; 2]> = with
        .iter()
        .filter_map(|(block, iops)| Some([base.iter().find(|(other, _)| other == block)?.1, *iops]))
        .collect();
    let since: Vec<f64> = pairs.iter().map(|[base, with]| (with / base).ln()).collect();
    (compared.len() >= MIN_BLOCKS && since.len() >= MIN_BLOCKS).then_some(())?;
    // At another level nothing says that the ratio is still the same: what is shown must be.
    let shown = (pairs.iter().map(|pair| pair[1]).sum::<f64>()
        / pairs.iter().map(|pair| pair[0]).sum::<f64>())
    .ln();
    let matters = -(-margin).ln_1p();
    let is_another = is_shifted && (shown - mean(&compared)).abs() >= matters;
    (is_another || differ(&compared, &since, matters)).then_some((compared.len(), since))
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

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Of sorted values.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        sorted[middle - 1].midpoint(sorted[middle])
    } else {
        sorted[middle]
    }
}

impl Conclusion {
    /// `since`: log ratios in the depth check.
    fn changed_since(&mut self, method: &Method, compared: usize, since: &[f64]) {
        let comparison = &mut self.comparison;
        let estimate = |value, lo, hi| Estimate { value, lo, hi };
        let before = comparison.tax.zip(comparison.lo.zip(comparison.hi));
        let cost = interval(since).map(|ratio| method.cost(comparison.metric, ratio));
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        comparison.change = Some(EffectChange {
            after_block: self.blocks.last().map_or(0, |block| block + 1),
            blocks: [compared, since.len()].map(count),
            before: before.map(|(tax, (lo, hi))| estimate(tax, lo, hi)),
            since: cost.map(Estimate::from),
            in_depth_check: true,
        });
        comparison.verdict = Verdict::EffectChanged;
        (comparison.tax, comparison.lo, comparison.hi) = (None, None, None);
        comparison.sign = None;
        comparison.holds_after_holm = false;
        comparison.difference_ns = None;
        comparison.blocks_needed = None;
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

    #[test]
    fn the_middle_of_values() {
        assert_eq!(median(&sorted(vec![3.0, 1.0, 2.0])), 2.0);
        assert_eq!(median(&sorted(vec![4.0, 1.0, 2.0, 3.0])), 2.5);
    }
}
