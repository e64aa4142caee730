use crate::analysis::{Against, Comparison, PlaceEffect};
use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// A difference that depends on which trial came first in a block. Only in the primary metric, which
/// decides when a run stops.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let primary = evidence.conclusions.first().map(|conclusion| conclusion.comparison.metric);
    let comparisons = evidence.conclusions.iter().map(|conclusion| &conclusion.comparison);
    comparisons
        .filter(|comparison| Some(comparison.metric) == primary)
        .filter_map(|comparison| Some(doubt(evidence, comparison, comparison.place?)))
        .collect()
}

fn doubt(evidence: &Evidence<'_>, comparison: &Comparison, place: PlaceEffect) -> Doubt {
    let Comparison { subject, against, metric, .. } = comparison;
    let first = evidence.names.first().cloned().map(Against::Arm);
    let kind = DoubtKind::OrderMatters { metric: *metric, place, base: against.clone().or(first) };
    Doubt::about(subject.clone(), kind, place.blocks.iter().sum())
}
