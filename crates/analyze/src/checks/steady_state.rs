use iotax_experiment::Design;
use iotax_quantity::{count, fell_or_rose, percent};
use iotax_stats::regime::{self, monitor};
use iotax_stats::steady::{MOST_EXCURSION, MOST_RANGE};
use iotax_stats::trend::trend;

use crate::analysis::{ArmPrecondition, Check, Warning};
use crate::evidence::Evidence;
use crate::metrics::Metric;

const PRECONDITION: &str = "A fresh SSD, or a volume whose blocks were never written, is filled by \
                            the measurement itself. --precondition writes the span first, and then \
                            the workload until it is steady.";
const AGAIN: &str = "The storage went on changing after it was preconditioned. More trials, or a \
                     longer --time, which also makes the rounds longer, show where it ends.";
const NOISY: &str = "What is measured next is a moment of a level that moves, or of storage noisier \
                     than SNIA's limits: comparisons within blocks stand, single figures do not. A \
                     longer --time makes rounds longer, and their noise less.";

/// Arms that did not become steady before, and writes that went on changing.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let unsteady = evidence.preconditioned.iter().filter_map(|arm| of_arm(evidence, arm));
    unsteady.chain(of_run(evidence)).collect()
}

/// An arm that preconditioning has left before it was steady.
fn of_arm(evidence: &Evidence<'_>, arm: &ArmPrecondition) -> Option<Warning> {
    if arm.steady != Some(false) {
        return None;
    }
    let rounds = count(arm.rounds.len() as u64, "round");
    let message = match arm.window {
        Some(window) => format!(
            "NOT steady after {rounds} of preconditioning: the last five range over {} of their \
             mean (steady: at most {}), and their line rises by {} of it (steady: at most {} \
             either way)",
            percent(window.range),
            percent(MOST_RANGE),
            percent(window.slope),
            percent(MOST_EXCURSION)
        ),
        None => {
            format!("NOT known to be steady after {rounds} of preconditioning: five are needed")
        }
    };
    let trials = evidence.trials.iter().filter(|t| t.usable && t.arm_name == arm.arm).count();
    Some(Warning {
        check: Check::NotSteady,
        arm: (evidence.names.len() > 1).then(|| arm.arm.clone()),
        message,
        advice: NOISY.to_owned(),
        trials: u32::try_from(trials).unwrap_or(u32::MAX),
    })
}

/// A level that all arms share and that moves one way from block to block. What changed at once is
/// told by the check for a change of regime, and not again.
fn of_run(evidence: &Evidence<'_>) -> Option<Warning> {
    let spec = &evidence.experiment.spec;
    let in_memory = spec.arms.iter().all(|arm| arm.target.is_in_memory());
    if !spec.workload().writes() || in_memory || has_changed_at_once(evidence) {
        return None;
    }
    let (_, levels) = evidence.blocks.levels(measured(evidence));
    let trend = trend(&levels).filter(|trend| trend.found)?;
    let (over, what) = if spec.design == Design::Single {
        ("trial", "the summary averages over all of it")
    } else {
        ("block", "comparisons are within blocks and stand, single figures do not")
    };
    let trials = evidence.trials.iter().filter(|trial| trial.usable).count();
    let is_steady = evidence.preconditioned.iter().any(|arm| arm.passes > 0);
    Some(Warning {
        check: Check::NotSteady,
        arm: None,
        message: format!(
            "writes were not at steady state: {} {} over {}, from {over} to {over}; {what}",
            measured(evidence).name(),
            fell_or_rose(trend.change.exp()),
            count(levels.len() as u64, over),
        ),
        advice: if is_steady { AGAIN } else { PRECONDITION }.to_owned(),
        trials: u32::try_from(trials).unwrap_or(u32::MAX),
    })
}

fn measured(evidence: &Evidence<'_>) -> Metric {
    let workload = evidence.experiment.spec.workload();
    Metric::additive(workload)
}

/// Whether the level of all arms, or the effect of one, is reported to have changed.
fn has_changed_at_once(evidence: &Evidence<'_>) -> bool {
    let (_, levels) = evidence.blocks.levels(measured(evidence));
    evidence.conclusions.iter().any(|conclusion| conclusion.comparison.change.is_some())
        || monitor(&levels, regime::LEVEL).is_some()
}
