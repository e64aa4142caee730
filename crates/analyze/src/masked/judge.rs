//! From equal throughput and the answer of each arm to its depth to the word `masked`.

use crate::analysis::{ArmDepths, Cap, Comparison, DepthResponse, Estimate};
use crate::conclude::Conclusion;
use crate::masked::depths::{Level, interval};
use crate::stats::verdict::Verdict;

/// Share of the cap from which on an arm sits on it.
const ON_CAP: f64 = 0.95;

/// Whether a cap may be behind the comparison.
pub(super) fn candidates(comparison: &Comparison) -> bool {
    comparison.metric.is_capped() && !is_pair_of_layers(comparison)
}

/// An interaction compares differences: a cap hides the layers themselves first.
fn is_pair_of_layers(comparison: &Comparison) -> bool {
    comparison.layer.as_deref().is_some_and(|layer| layer.contains(" x "))
}

/// Turns `equivalent` into `masked` where every arm of the comparison sits on a plateau that this
/// machine did not set. `levels` and `arms`: by arm, in the order of `names`.
pub(crate) fn judge(
    conclusions: &mut [Conclusion],
    names: &[String],
    levels: &[Vec<Level>],
    arms: &[ArmDepths],
) {
    for conclusion in conclusions {
        let comparison = &mut conclusion.comparison;
        if comparison.verdict != Verdict::Equivalent || !candidates(comparison) {
            continue;
        }
        let involved = involved(comparison, names);
        let on_plateau = |arm: &usize| {
            arms.get(*arm).is_some_and(|found| found.response == DepthResponse::Plateau)
        };
        if involved.iter().all(on_plateau) {
            comparison.cap = cap(&involved, levels);
        }
        if comparison.cap.is_some() {
            comparison.verdict = Verdict::Masked;
            comparison.sign = None;
        }
    }
}

/// With one I/O in flight an arm may still reach the cap: equal again, for the same reason.
pub(crate) fn even_one_at_a_time(comparisons: &mut [Comparison], cap: &Cap) {
    for comparison in comparisons.iter_mut().filter(|c| candidates(c)) {
        let reaches = |iops: Option<f64>| iops.is_some_and(|iops| iops >= ON_CAP * cap.iops.value);
        if comparison.verdict == Verdict::Equivalent
            && reaches(comparison.base)
            && reaches(comparison.with)
        {
            comparison.verdict = Verdict::Masked;
            comparison.sign = None;
            comparison.cap = Some(*cap);
        }
    }
}

/// The arms that a comparison rests on: the baseline and the arm, the bare and the full stack, or,
/// for a layer of a peel, all of them.
fn involved(comparison: &Comparison, names: &[String]) -> Vec<usize> {
    let last = names.len().saturating_sub(1);
    match (&comparison.arm, comparison.layer.as_deref()) {
        (Some(arm), _) => {
            let arm = names.iter().position(|name| name == arm);
            arm.map_or_else(|| (0..names.len()).collect(), |arm| vec![0, arm])
        }
        (None, Some("total")) => vec![0, last],
        (None, _) => (0..names.len()).collect(),
    }
}

/// The level at the depth of the comparison: the geometric mean over the trials of these arms.
fn cap(arms: &[usize], levels: &[Vec<Level>]) -> Option<Cap> {
    let own = || {
        let of_arms = arms.iter().filter_map(|arm| levels.get(*arm)).flatten();
        of_arms.filter(|level| level.is_own).flat_map(|level| &level.trials)
    };
    let iops = interval(&own().map(|trial| trial.1.ln()).collect::<Vec<_>>())?;
    let bytes = interval(&own().map(|trial| trial.2.ln()).collect::<Vec<_>>())?;
    let iops = Estimate { value: iops.mean.exp(), lo: iops.lo.exp(), hi: iops.hi.exp() };
    Some(Cap { iops, bytes_per_s: bytes.mean.exp() })
}
