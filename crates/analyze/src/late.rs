//! Replays that could not keep up. What delays both arms alike makes them look alike, so a
//! difference stands, and equality does not.

use iotax_stats::verdict::Verdict;

use crate::analysis::Withheld;
use crate::conclude::Conclusion;
use crate::facts::TrialFacts;
use crate::masked;

/// Takes back that arms are equal if most of their trials were late.
pub(crate) fn withhold(conclusions: &mut [Conclusion], trials: &[TrialFacts], names: &[String]) {
    let is_late = |arm: &usize| {
        let of_arm = || trials.iter().filter(|trial| trial.usable && trial.arm == Some(*arm));
        2 * of_arm().filter(|trial| trial.replay_late.is_some()).count() > of_arm().count()
    };
    for conclusion in conclusions {
        let comparison = &mut conclusion.comparison;
        let is_equal = comparison.verdict == Verdict::Equivalent;
        if is_equal && masked::involved(comparison, names).iter().any(is_late) {
            (comparison.verdict, comparison.sign) = (Verdict::Undecided, None);
            (comparison.holds_after_holm, comparison.blocks_needed) = (false, None);
            (conclusion.bounds, conclusion.withheld) = (None, Some(Withheld::ReplayLate));
        }
    }
}
