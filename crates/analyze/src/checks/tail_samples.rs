use std::collections::BTreeSet;

use iotax_stats::tail::samples_needed;
use iotax_stats::verdict::Verdict;

use crate::analysis::{Doubt, DoubtKind};
use crate::compare::per_trial;
use crate::evidence::Evidence;

/// Too few I/Os per trial behind a p99 that should be compared.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let gated =
        |c: &&crate::conclude::Conclusion| c.comparison.verdict == Verdict::InsufficientTailSamples;
    let Some(metric) = evidence.conclusions.iter().find(gated).map(|c| c.comparison.metric) else {
        return Vec::new();
    };
    let needed = samples_needed(0.99);
    let arms: BTreeSet<usize> = evidence.trials.iter().filter_map(|trial| trial.arm).collect();
    arms.into_iter()
        .map(|arm| {
            let own = evidence.trials.iter().filter(|t| t.usable && t.arm == Some(arm));
            (arm, per_trial(own.copied(), metric))
        })
        .filter(|(_, has)| (1..needed).contains(has))
        .map(|(arm, has)| {
            let seconds = evidence.experiment.spec.workload().time_ns as f64 / 1e9;
            let enough = (seconds * needed as f64 / has as f64).ceil();
            let time_ns = 1_000_000_000 * iotax_quantity::whole(enough);
            let kind = DoubtKind::TailSamples { metric, has, needed, time_ns };
            let trials = evidence.count_usable(arm);
            Doubt::about(evidence.subject(arm), kind, trials)
        })
        .collect()
}
