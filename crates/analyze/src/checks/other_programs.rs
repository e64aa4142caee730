use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Share of all CPU time that others may use.
const MAX_SHARE: f64 = 0.2;

/// CPU time used by anything but this process.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
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
    found.into_iter().map(|worst| worst.doubt(|share| DoubtKind::OtherPrograms { share })).collect()
}
