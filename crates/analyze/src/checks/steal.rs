use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Share of all CPU time that the hypervisor may take.
const MAX_SHARE: f64 = 0.02;

/// The kernel counts steal in ticks of 10 ms: a shorter window would see little but those.
const SHORTEST_WINDOW_NS: u64 = 500_000_000;

/// CPU time that the hypervisor gave to others.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_trials(|trial, arm| {
        let cpus = f64::from(evidence.experiment.host(arm).environment.cpus.max(1));
        let share = trial.system.cpu_steal_ns? as f64 / (cpus * trial.window_ns as f64);
        let is_much = trial.window_ns >= SHORTEST_WINDOW_NS && share > MAX_SHARE;
        is_much.then_some((share, DoubtKind::Steal { share }))
    })
}
