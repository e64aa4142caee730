use std::collections::BTreeSet;

use iotax_quantity::time;
use iotax_stats::tail::samples_needed;
use iotax_stats::verdict::Verdict;

use crate::analysis::{Check, Warning};
use crate::compare::per_trial;
use crate::evidence::Evidence;

/// Too few I/Os per trial behind a p99 that should be compared.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let gated =
        |c: &&crate::conclude::Conclusion| c.comparison.verdict == Verdict::InsufficientTailSamples;
    let Some(metric) = evidence.conclusions.iter().find(gated).map(|c| c.comparison.metric) else {
        return Vec::new();
    };
    let what = metric.samples_name(evidence.experiment.spec.workload());
    let needed = samples_needed(0.99);
    let arms: BTreeSet<usize> = evidence.trials.iter().filter_map(|trial| trial.arm).collect();
    arms.into_iter()
        .map(|arm| (arm, per_trial(evidence.usable(arm), metric)))
        .filter(|(_, samples)| (1..needed).contains(samples))
        .map(|(arm, samples)| {
            let time_ns = evidence.experiment.spec.workload().time_ns as f64;
            Warning {
                check: Check::Precision,
                arm: Some(evidence.names[arm].clone()),
                message: format!(
                    "a trial has {samples} {what} on average; its p99 needs {needed}, so that 100 lie \
                     beyond it"
                ),
                advice: format!(
                    "Measure longer per trial: --time {} or more at this rate. More trials do not \
                     help.",
                    time((time_ns * needed as f64 / samples as f64 / 1e9).ceil() * 1e9)
                        .replace(' ', "")
                ),
                trials: u32::try_from(evidence.usable(arm).count()).unwrap_or(u32::MAX),
            }
        })
        .collect()
}
