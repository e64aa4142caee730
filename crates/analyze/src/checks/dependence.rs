use crate::analysis::{Check, Warning, named};
use crate::evidence::Evidence;

/// Block differences that depend on each other: the interval would be too narrow. Only in the
/// primary metric, which decides when a run stops; the others have their verdict.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let primary = evidence.conclusions.first().map(|conclusion| conclusion.comparison.metric);
    let of_primary = evidence.conclusions.iter().filter(|c| Some(c.comparison.metric) == primary);
    let found = of_primary.filter_map(|conclusion| {
        let dependence = conclusion.decision.dependence?;
        let comparison = &conclusion.comparison;
        Some(Warning {
            check: Check::Dependence,
            arm: Some(named(&comparison.subject)),
            message: format!(
                "successive blocks are correlated in {}: {:.2}, where {} independent blocks stay \
                 below {:.2}",
                comparison.metric.name(),
                dependence.autocorrelation,
                comparison.blocks,
                dependence.bound
            ),
            advice: "Something changes slowly and hits the arms differently: a background job, \
                     credits that refill, a volume that fills up. Find it, or pause between \
                     trials; more blocks alone do not help."
                .to_owned(),
            trials: comparison.blocks,
        })
    });
    found.collect()
}
