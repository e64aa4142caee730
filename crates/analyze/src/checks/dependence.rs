use iotax_stats::dependence::Dependence;

use crate::analysis::{Comparison, Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Block differences that depend on each other: the interval would be too narrow. Only in the
/// primary metric, which decides when a run stops; the others have their verdict.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let found = evidence.primary().filter_map(|conclusion| {
        let Dependence { autocorrelation, bound, .. } = conclusion.decision.dependence?;
        let Comparison { subject, metric, blocks, .. } = &conclusion.comparison;
        let kind = DoubtKind::Dependence { metric: *metric, autocorrelation, bound };
        Some(Doubt::about(subject.clone(), kind, *blocks))
    });
    found.collect()
}
