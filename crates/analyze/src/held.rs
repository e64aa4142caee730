//! Arms that are loaded for longer than any trial takes, to find what short slices never use up.

use iotax_experiment::Spec;
use iotax_experiment::plan::AFTER_HELD;
use iotax_stats::verdict::Verdict;

use crate::analysis::Withheld;
use crate::conclude::Conclusion;
use crate::facts::TrialFacts;
use crate::lengths::{LengthEffect, Lengths};
use crate::masked;

/// Whether arms have not been held for as long as `spec` asks for, or too few blocks are over since
/// to tell what that shows.
pub(crate) fn is_due(spec: &Spec, trials: &[TrialFacts]) -> bool {
    let held = trials.iter().filter(|trial| spec.is_held_in(trial.window_ns));
    let held = held.map(|trial| trial.block).min();
    let latest = trials.iter().map(|trial| trial.block).max().unwrap_or(0);
    spec.hold_ns.is_some() && held.is_none_or(|held| latest < held + AFTER_HELD)
}

/// Says of each arm whose held slices differ that it does not keep up what short ones show, if they
/// are longer than the trials that would replace these.
pub(crate) fn judge(spec: &Spec, usual_ns: u64, effects: &mut [LengthEffect]) {
    for effect in effects {
        let is_held = effect.long_ns > usual_ns && spec.is_held_in(effect.long_ns);
        if effect.lengths == Lengths::Differ && is_held {
            effect.lengths = Lengths::NotKept;
        }
    }
}

/// Takes back what short slices say of arms that do not keep it up. What a host spends is not about
/// that.
pub(crate) fn take_back(
    conclusions: &mut [Conclusion],
    lengths: &[LengthEffect],
    names: &[String],
) {
    let is_kept = |arm: &usize| {
        let mut of_arm = lengths.iter().filter(|effect| effect.arm == *arm);
        of_arm.all(|effect| effect.lengths != Lengths::NotKept)
    };
    for conclusion in conclusions {
        let comparison = &mut conclusion.comparison;
        let is_about_slices =
            comparison.verdict.is_decided() || comparison.verdict == Verdict::Undecided;
        let arms = masked::involved(comparison, names);
        if comparison.metric.is_speed() && is_about_slices && !arms.iter().all(is_kept) {
            (comparison.verdict, comparison.sign) = (Verdict::Undecided, None);
            (comparison.holds_after_holm, comparison.blocks_needed) = (false, None);
            (conclusion.bounds, conclusion.withheld) = (None, Some(Withheld::NotKept));
        }
    }
}
