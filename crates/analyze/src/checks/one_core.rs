use iotax_quantity::percent;
use iotax_record::{Busiest, BusyOne, Environment, PathEnd};

use super::cpu_bound::BUSY;
use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;
use crate::facts::{JobFacts, TrialFacts};

/// Share of a CPU's time with interrupts from which on it is them that it is busy with.
const MOSTLY: f64 = 0.5;
/// A load that was offered and that kept up was limited by nothing.
const KEPT_UP: f64 = 0.99;

const ADVICE: &str = "The rate is that of one core and not the wire's. More flows (--set threads=N) use more of them; \
                      interrupts of one flow stay on one core.";

/// Did one thread, or one CPU with interrupts, limit a flow, while the machine had CPUs left?
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let found = evidence.worst_per_arm(|trial, arm| {
        let environment = &evidence.experiment.host(arm).environment;
        let kept_up = |job: &JobFacts| {
            job.offered_ios.is_some_and(|offered| job.ios as f64 >= KEPT_UP * offered as f64)
        };
        if trial.primary().is_none_or(kept_up) {
            return None;
        }
        let all = trial.busiest.iter().filter_map(|one| judge(one, trial, environment));
        all.max_by(|a, b| a.0.total_cmp(&b.0))
    });
    let warning = |worst: crate::evidence::Worst<String>| Warning {
        check: Check::OneCore,
        message: format!("{} ({})", worst.finding, worst.how_often()),
        advice: ADVICE.to_owned(),
        trials: worst.trials,
        arm: Some(worst.arm),
    };
    found.into_iter().map(warning).collect()
}

/// The share of a CPU that it used, and that in words, if it is all and the machine had more.
fn judge(one: &Busiest, trial: &TrialFacts, near: &Environment) -> Option<(f64, String)> {
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
    let end = match one.end {
        PathEnd::Near => "near",
        PathEnd::Far => "far",
        PathEnd::Both => return None,
    };
    let (of, left) = (percent(share.min(1.0)), percent(left));
    let told = match &one.one {
        BusyOne::Thread { name } => format!(
            "flow limited by one core at the {end} end: thread `{name}` used {of} of a CPU while the \
             machine had {left} left"
        ),
        BusyOne::Cpu { number, interrupts_ns } => {
            let interrupts = *interrupts_ns as f64 / one.busy_ns as f64;
            // CPUs of a machine with both ends are told once.
            if interrupts < MOSTLY || (one.end == PathEnd::Far && far.is_none()) {
                return None;
            }
            let place = match trial.far_end {
                Some(far) if far.same_host => String::new(),
                _ => format!(" at the {end} end"),
            };
            format!(
                "flow limited by one core{place}: CPU {number} was busy {of} of the time, {} of it with \
                 interrupts, while the machine had {left} left",
                percent(interrupts)
            )
        }
    };
    Some((share, told))
}
