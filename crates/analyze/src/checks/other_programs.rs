use iotax_quantity::percent;

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;
use crate::metrics::Metric;

/// Share of all CPU time that others may use.
const MAX_SHARE: f64 = 0.2;

/// CPU time used by anything but this process.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let found = evidence.worst_per_arm(|trial, arm| {
        let cpus = f64::from(evidence.experiment.host(arm).environment.cpus.max(1));
        // There the others are the layers themselves, which cannot be told from the rest.
        if evidence.is_in_system(arm) {
            return None;
        }
        let busy_ns = trial.system.cpu_busy_ns? as f64;
        let own_ns = trial.system.process_cpu_ns? as f64;
        let share = (busy_ns - own_ns) / (cpus * trial.window_ns as f64);
        (share > MAX_SHARE).then_some((share, share.min(1.0)))
    });
    found
        .into_iter()
        .map(|worst| Warning {
            check: Check::Precision,
            message: format!(
                "others used {} of this machine's CPU time ({})",
                percent(worst.finding),
                worst.how_often()
            ),
            advice: format!(
                "If other programs are running, stop them: they slow some trials and not others. If \
                 none are, it is the kernel's own work for this arm, such as encryption or \
                 networking in kernel threads, and {} does not hold it.",
                Metric::cpu(evidence.experiment.spec.workload()).name()
            ),
            trials: worst.trials,
            arm: Some(worst.arm),
        })
        .collect()
}
