//! Preconditioning as the Solid State Storage Performance Test Specification of SNIA has it: the
//! span is written twice, whatever the workload, and then the workload is driven in rounds until
//! the last five are steady.
//!
//! Rounds are those of the experiment to come: one trial of each phase on each arm, in the seeded
//! order of its blocks, and all arms go on until all are steady. So arms on one device are never
//! written at the same time, each has rested as long between two rounds as it will between two
//! trials, and none is measured younger than the others.

use iotax_experiment::{Arm, SidePhase, SideRole, Spec, Stop, StopMode, Workload};
use iotax_stats::sample::count;
use iotax_stats::steady::{self, Window};

use crate::analysis::{ArmPrecondition, NotPreconditioned, Steadiness, TrialOutcome};
use crate::facts::TrialFacts;
use crate::metrics::Metric;

/// Passes over the span.
pub const PASSES: u32 = 2;
const MOST_ROUNDS: u32 = 25;

/// What preconditions the arms of `spec`: a pass over the span for each phase that has one, and the
/// phases that write, as they are. The first are driven [`PASSES`] times; the others in rounds, at
/// most [`Stop::max_blocks`] of them. `None` if nothing has a span.
pub fn precondition_spec(spec: &Spec) -> Option<Spec> {
    let phases = || spec.phases().enumerate();
    let fills = phases()
        .filter_map(|(of, phase)| Some((SidePhase { of, role: SideRole::Fill }, phase.fill()?)));
    let rounds = phases()
        .filter(|(_, phase)| has_rounds(phase))
        .map(|(of, phase)| (SidePhase { of, role: SideRole::Rounds }, phase.clone()));
    let phases: Vec<_> = fills.chain(rounds).collect();
    if phases.is_empty() {
        return None;
    }
    let stop = Stop {
        mode: StopMode::Quick,
        min_blocks: MOST_ROUNDS,
        max_blocks: MOST_ROUNDS,
        max_blocks_asked: true,
        ..spec.stop
    };
    Some(spec.beside(phases, stop))
}

/// Whether a phase is driven in rounds.
fn has_rounds(phase: &Workload) -> bool {
    phase.writes() && phase.fill().is_some()
}

/// What tells whether a workload is steady: what its verdicts are about.
fn figures(workload: &Workload, rounds: &[&TrialFacts]) -> Vec<f64> {
    let measured = rounds.iter().filter(|round| round.usable);
    // A round that completed nothing is as far from steady as can be.
    measured.map(|round| Metric::additive(workload).of(round).unwrap_or(0.0)).collect()
}

/// Whether the last rounds of a workload are steady.
pub(crate) fn is_steady(workload: &Workload, rounds: &[&TrialFacts]) -> bool {
    steady::is_steady(&figures(workload, rounds))
}

/// How `arm` was preconditioned for `workload`. `passes`, `rounds`: the trials; `None` if there
/// were to be none.
pub(crate) fn arm(
    arm: &Arm,
    workload: &Workload,
    passes: Option<&[&TrialFacts]>,
    rounds: Option<&[&TrialFacts]>,
) -> ArmPrecondition {
    let writes = rounds.is_some();
    let (passes, rounds) = (passes.unwrap_or_default(), rounds.unwrap_or_default());
    // One that took all the time there was did not reach the end.
    let longest_ns = workload.fill().map_or(0, |fill| fill.time_ns);
    let is_whole = |pass: &&&TrialFacts| {
        pass.usable && pass.outcome == TrialOutcome::Completed && pass.window_ns < longest_ns
    };
    let whole = passes.iter().filter(is_whole);
    let whole = count(whole.count());
    let jobs = || passes.iter().filter_map(|pass| pass.primary());
    let figures = figures(workload, rounds);
    let window = Window::of(&figures);
    let failed = passes.iter().chain(rounds).rev().find_map(|trial| match &trial.why {
        Some(why) => Some(NotPreconditioned::Failed(why.clone())),
        None if trial.outcome == TrialOutcome::Paused => {
            trial.paused.map(|paused| NotPreconditioned::Paused(paused.total_ns))
        }
        None => None,
    });
    let short = if workload.fill().is_none() {
        Some(NotPreconditioned::NoSpan)
    } else if arm.target.is_in_memory() {
        Some(NotPreconditioned::InMemory)
    } else if failed.is_some() && (whole < PASSES || writes && figures.is_empty()) {
        failed
    } else if whole < PASSES {
        Some(NotPreconditioned::Passes(whole))
    } else if !writes {
        Some(NotPreconditioned::OnlyReads)
    } else if figures.len() < steady::WINDOW_ROUNDS {
        Some(NotPreconditioned::Rounds(count(figures.len())))
    } else {
        None
    };
    ArmPrecondition {
        arm: arm.name.clone(),
        passes: whole,
        written_bytes: jobs().map(|job| job.write_bytes).sum(),
        fill_seconds: passes.iter().map(|pass| pass.window_ns as f64 / 1e9).sum(),
        metric: (writes && !rounds.is_empty()).then(|| Metric::additive(workload)),
        steady: (writes && !rounds.is_empty()).then(|| window.is_some_and(|w| w.is_steady())),
        window: window.map(|w| Steadiness { range: w.range, slope: w.excursion }),
        rounds: figures,
        short,
    }
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, Design, Draft, Engine, Target};

    use super::*;

    #[test]
    fn each_phase_has_its_pass_and_its_rounds() {
        let preset = |name: &str| Workload::preset(name).unwrap();
        let nothing = {
            let mut workload = preset("randread-4k");
            workload.name = "nothing".to_owned();
            workload.jobs[0].engine = Engine::Null;
            workload
        };
        let arm = Arm::new("target", Target::parse("/mnt/a").unwrap());
        let phases =
            vec![preset("randread-4k"), nothing, preset("randwrite-4k"), preset("mixed-70-30")];
        let spec = Draft::new(phases, vec![arm], Design::Single).resolve().unwrap();
        let made = precondition_spec(&spec).unwrap();
        let place = |of, role| made.side_phase(SidePhase { of, role });
        let places =
            [0, 1, 2, 3].map(|of| [SideRole::Fill, SideRole::Rounds].map(|role| place(of, role)));
        let none = [None, None];
        assert_eq!(places, [[Some(0), None], none, [Some(1), Some(3)], [Some(2), Some(4)]]);
        let names: Vec<&str> = made.phases().map(|phase| phase.name.as_str()).collect();
        assert_eq!(names[1], "randwrite-4k to write the span");
        assert_eq!(names[3..], ["randwrite-4k to be steady", "mixed-70-30 to be steady"]);
        // What is derived must be as valid as what is written.
        assert_eq!(made.phases().filter(|phase| phase.primary == "fill").count(), 3);
    }
}
