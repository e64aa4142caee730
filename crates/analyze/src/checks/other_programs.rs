use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Share of all CPU time that others may use.
const MAX_SHARE: f64 = 0.2;

/// CPU time used by anything but this process.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_trials(|trial, arm| {
        let cpus = f64::from(evidence.experiment.host(arm).environment.cpus.max(1));
        let busy_ns = trial.system.cpu_busy_ns? as f64;
        let own_ns = trial.system.process_cpu_ns? as f64;
        let share = (busy_ns - own_ns) / (cpus * trial.window_ns as f64);
        // There the others are the layers themselves, which cannot be told from the rest.
        let is_told = share > MAX_SHARE && !evidence.is_in_system(arm);
        is_told.then(|| (share, DoubtKind::OtherPrograms { share: share.min(1.0) }))
    })
}
