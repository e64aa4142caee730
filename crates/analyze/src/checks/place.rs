use crate::analysis::{Against, Comparison, Doubt, DoubtKind, OrderMatters};
use crate::evidence::Evidence;

/// A difference that depends on which trial came first in a block. Only in the primary metric,
/// which decides when a run stops.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let found = evidence.primary().filter_map(|conclusion| {
        let Comparison { subject, against, metric, place, .. } = &conclusion.comparison;
        let place = (*place)?;
        let base = against.clone().or_else(|| evidence.names.first().cloned().map(Against::Arm));
        let kind = DoubtKind::OrderMatters(OrderMatters { metric: *metric, place, base });
        Some(Doubt::about(subject.clone(), kind, place.blocks.iter().sum()))
    });
    found.collect()
}
