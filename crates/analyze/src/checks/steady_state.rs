use iotax_experiment::Subject;
use iotax_stats::regime::LEVEL;
use iotax_stats::sample::count;
use iotax_stats::trend::trend;

use crate::analysis::{ArmPrecondition, Doubt, DoubtKind};
use crate::evidence::Evidence;
use crate::metrics::Metric;

/// Arms that did not become steady before, and writes that went on changing.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let unsteady = evidence.preconditioned.iter().filter_map(|arm| of_arm(evidence, arm));
    unsteady.chain(of_run(evidence)).collect()
}

/// An arm that preconditioning has left before it was steady.
fn of_arm(evidence: &Evidence<'_>, arm: &ArmPrecondition) -> Option<Doubt> {
    if arm.steady != Some(false) {
        return None;
    }
    let rounds = count(arm.rounds.len());
    let trials = evidence.trials.iter().filter(|t| t.usable && t.arm_name == arm.arm).count();
    Some(Doubt {
        kind: DoubtKind::NotSteady { rounds, window: arm.window },
        of: (evidence.names.len() > 1).then(|| Subject::Arm(arm.arm.clone())),
        trials: count(trials),
        of_trials: None,
    })
}

/// A level that all arms share and that moves one way from block to block. What changed at once is
/// told by the check for a change of regime, and not again.
fn of_run(evidence: &Evidence<'_>) -> Option<Doubt> {
    let spec = &evidence.experiment.spec;
    let in_memory = spec.arms.iter().all(|arm| arm.target.is_in_memory());
    if !spec.workload().writes() || in_memory || has_changed_at_once(evidence) {
        return None;
    }
    let (_, levels) = evidence.blocks.levels(measured(evidence));
    let trend = trend(&levels).filter(|trend| trend.found)?;
    let trials = evidence.trials.iter().filter(|trial| trial.usable).count();
    let kind = DoubtKind::Trend {
        metric: measured(evidence),
        ratio: trend.change.exp(),
        over: count(levels.len()),
        is_preconditioned: evidence.preconditioned.iter().any(|arm| arm.passes > 0),
    };
    Some(Doubt::of_all(kind, count(trials)))
}

fn measured(evidence: &Evidence<'_>) -> Metric {
    let workload = evidence.experiment.spec.workload();
    Metric::additive(workload)
}

/// Whether the level of all arms, or the effect of one, is reported to have changed.
fn has_changed_at_once(evidence: &Evidence<'_>) -> bool {
    let (_, levels) = evidence.blocks.levels(measured(evidence));
    evidence.conclusions.iter().any(|conclusion| conclusion.comparison.change.is_some())
        || evidence.method.monitor(&levels, LEVEL).is_some()
}
