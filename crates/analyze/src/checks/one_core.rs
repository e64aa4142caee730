use iotax_record::{Busiest, BusyOne, Environment, PathEnd};

use super::cpu_bound::BUSY;
use crate::analysis::{Doubt, DoubtKind, OneCore};
use crate::evidence::Evidence;
use crate::facts::{JobFacts, TrialFacts};

/// Share of a CPU's time with interrupts from which on it is them that it is busy with.
const MOSTLY: f64 = 0.5;
/// A load that was offered and that kept up was limited by nothing.
const KEPT_UP: f64 = 0.99;

/// Did one thread, or one CPU with interrupts, limit a flow, while the machine had CPUs left?
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_trials(|trial, arm| {
        let environment = &evidence.experiment.host(arm).environment;
        let kept_up = |job: &JobFacts| {
            job.offered_ios.is_some_and(|offered| job.ios as f64 >= KEPT_UP * offered as f64)
        };
        if trial.primary().is_none_or(kept_up) {
            return None;
        }
        let all = trial.busiest.iter().filter_map(|one| judge(one, trial, environment));
        all.max_by(|a, b| a.0.total_cmp(&b.0))
    })
}

/// The share of a CPU that it used, and what is to be said, if it is all and the machine had more.
fn judge(one: &Busiest, trial: &TrialFacts, near: &Environment) -> Option<(f64, DoubtKind)> {
    let window_ns = trial.window_ns as f64;
    let far = trial.far_end.filter(|far| one.end == PathEnd::Far && !far.same_host);
    let (cpus, busy_ns) = match far {
        Some(far) => (far.cpus, far.cpu_busy_ns?),
        None => (near.cpus, trial.system.cpu_busy_ns?),
    };
    let share = one.busy_ns as f64 / window_ns;
    let left = 1.0 - busy_ns as f64 / (f64::from(cpus) * window_ns);
    // Where all are busy, another check says so.
    if share < BUSY || left <= 1.0 - BUSY || !left.is_finite() {
        return None;
    }
    let (end, interrupts) = match &one.one {
        _ if one.end == PathEnd::Both => return None,
        BusyOne::Thread { .. } => (Some(one.end), 0.0),
        BusyOne::Cpu { interrupts_ns, .. } => {
            let interrupts = *interrupts_ns as f64 / one.busy_ns as f64;
            // CPUs of a machine with both ends are told once.
            if interrupts < MOSTLY || (one.end == PathEnd::Far && far.is_none()) {
                return None;
            }
            let is_both = trial.far_end.is_some_and(|far| far.same_host);
            (Some(one.end).filter(|_| !is_both), interrupts)
        }
    };
    let one = one.one.clone();
    let found = OneCore { end, one, share: share.min(1.0), interrupts, left };
    Some((share, DoubtKind::OneCore(found)))
}
