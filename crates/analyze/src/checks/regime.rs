use iotax_stats::regime::LEVEL;
use iotax_stats::sample::count;

use crate::analysis::{Comparison, Doubt, DoubtKind, EffectChange, LevelShift};
use crate::evidence::Evidence;
use crate::metrics::Metric;

/// A level that changed for good in the middle of the run. One arm's is looked for first, since it
/// moves the mean of all arms, too.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let comparisons = evidence.primary().map(|conclusion| &conclusion.comparison);
    let changed: Vec<Doubt> = comparisons.filter_map(|of| Some(of_one(of, of.change?))).collect();
    let mut doubts =
        if changed.is_empty() { of_all(evidence).into_iter().collect() } else { changed };
    doubts.extend(since_then(evidence));
    doubts
}

/// Arms that the depth check found at another level.
fn since_then(evidence: &Evidence<'_>) -> Option<Doubt> {
    let first = evidence.shifts.first()?;
    let arms = evidence.shifts.iter();
    let arms =
        arms.map(|shift| LevelShift { arm: evidence.names[shift.arm].clone(), iops: shift.iops });
    let trials = count(first.trials);
    Some(Doubt::of_all(DoubtKind::LevelSince { arms: arms.collect() }, trials))
}

/// The effect of one arm (or layer).
fn of_one(comparison: &Comparison, change: EffectChange) -> Doubt {
    let Comparison { subject, metric, verdict, .. } = comparison;
    let is_decided = verdict.is_decided();
    let kind = DoubtKind::EffectChanged { metric: *metric, change, is_decided };
    Doubt::about(subject.clone(), kind, change.blocks[1])
}

/// The level of all arms: comparisons are within blocks, so it moves none of them.
fn of_all(evidence: &Evidence<'_>) -> Option<Doubt> {
    let metric = Metric::additive(evidence.experiment.spec.workload());
    let (blocks, levels) = evidence.blocks.levels(metric);
    let change = evidence.method.monitor(&levels, LEVEL)?;
    let last = blocks[change.before - 1];
    let trials = evidence.trials.iter().filter(|trial| trial.usable && trial.block > last).count();
    let (after, ratio) = (last + 1, change.step.exp());
    let trials = count(trials);
    Some(Doubt::of_all(DoubtKind::LevelChanged { metric, after, ratio }, trials))
}
