//! Which arms are drawn where each takes a line or a strip of its own.

use iotax_analyze::Analysis;

use iotax_wording::verdict::comparison::primary_of_each;

/// Arms up to which all are drawn.
const MAX_ARMS: usize = 12;

/// Indices of all arms; of very many the baseline, those that lie outside of the others, and then
/// those that differ most, in their order.
pub(super) fn shown(analysis: &Analysis) -> Vec<usize> {
    let arms = &analysis.arms;
    if arms.len() <= MAX_ARMS {
        return (0..arms.len()).collect();
    }
    let slow = analysis.outliers.iter().flat_map(|found| &found.slow).map(|slow| &*slow.arm);
    let mut by_size: Vec<_> = primary_of_each(analysis)
        .into_iter()
        .filter_map(|c| Some((c.subject.arm()?, c.tax?)))
        .collect();
    by_size.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
    let rest = by_size.into_iter().map(|(arm, _)| arm).chain(arms.iter().map(|arm| &*arm.name));
    let mut shown: Vec<usize> = Vec::new();
    for name in [&*analysis.baseline].into_iter().chain(slow).chain(rest) {
        let arm = arms.iter().position(|arm| arm.name == name);
        shown.extend(arm.filter(|arm| shown.len() < MAX_ARMS && !shown.contains(arm)));
    }
    shown.sort_unstable();
    shown
}
