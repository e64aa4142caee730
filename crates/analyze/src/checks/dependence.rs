use crate::analysis::Comparison;
use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Block differences that depend on each other: the interval would be too narrow. Only in the
/// primary metric, which decides when a run stops; the others have their verdict.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let primary = evidence.conclusions.first().map(|conclusion| conclusion.comparison.metric);
    let of_primary = evidence.conclusions.iter().filter(|c| Some(c.comparison.metric) == primary);
    let found = of_primary.filter_map(|conclusion| {
        let dependence = conclusion.decision.dependence?;
        let Comparison { subject, metric, blocks, .. } = &conclusion.comparison;
        let kind = DoubtKind::Dependence {
            metric: *metric,
            autocorrelation: dependence.autocorrelation,
            bound: dependence.bound,
        };
        Some(Doubt::about(subject.clone(), kind, *blocks))
    });
    found.collect()
}
