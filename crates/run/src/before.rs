//! Preconditioning and draining before anything is measured: writes the span of every arm, runs its
//! workload until it is steady, and spends its burst credits.

use std::time::Duration;

use iotax_analyze::PASSES;
use iotax_experiment::Workload;
use iotax_record::{End, EndReason, Outcome};

use crate::error::Error;
use crate::observer::Event;
use crate::trials::{Setup, Trials, Turn};

/// Preconditions the arms as [`iotax_analyze::precondition_spec`] says, except those in memory.
/// Every pass and every round is a trial of the record. `measured`: the phases of the later
/// experiment. `reserve`: the part of `plan.max_time_ns` that must be left for it.
///
/// # Errors
/// If the record cannot be written.
pub fn precondition(
    setup: Setup<'_>,
    measured: &[Workload],
    reserve: Duration,
) -> Result<End, Error> {
    let fills: Vec<&Workload> =
        measured.iter().filter(|workload| workload.fill().is_some()).collect();
    let spec = &setup.experiment.spec;
    let on_storage = |arm: &usize| !spec.arms[*arm].target.is_in_memory();
    let arms = (0..setup.plan.arms).filter(on_storage).collect();
    let trials = Trials::start(setup);
    let mut walk = Walk { trials, arms };
    walk.passes(&fills)?;
    let reason = walk.rounds(fills.len(), reserve)?;
    let gave_up = walk.trials.given_up().is_some();
    walk.trials.end(vec![reason], gave_up)
}

struct Walk<'a> {
    trials: Trials<'a>,
    /// Those that can be preconditioned.
    arms: Vec<usize>,
}

impl Walk<'_> {
    /// One pass over the span of every arm, then the next.
    fn passes(&mut self, fills: &[&Workload]) -> Result<(), Error> {
        for pass in 0..PASSES {
            for arm in self.arms.clone() {
                for (phase, of) in fills.iter().enumerate() {
                    if self.trials.is_stopped() {
                        return Ok(());
                    }
                    let name = &self.trials.spec().arms[arm].name;
                    let bytes = of.span_bytes();
                    let starts = Event::PassStarts { pass, passes: PASSES, arm: name, bytes };
                    self.trials.setup.observer.on(&starts);
                    self.trials.fill(pass, Turn { arm, phase }, of)?;
                }
            }
        }
        Ok(())
    }

    /// Rounds of the phases from `first` on, until all are steady on all arms. Returns why it
    /// ended.
    fn rounds(&mut self, first: usize, reserve: Duration) -> Result<EndReason, Error> {
        let plan = self.trials.setup.plan;
        let phases: Vec<usize> = (first..plan.phases.len()).collect();
        if phases.is_empty() {
            return Ok(EndReason::SpanWritten);
        }
        let limit = plan.max_time_ns.map(Duration::from_nanos);
        let mut longest = Duration::ZERO;
        for round in 0..plan.max_blocks {
            let begun = self.trials.elapsed();
            if limit.is_some_and(|limit| begun + longest + reserve > limit) {
                return Ok(EndReason::TimeUp);
            }
            let order = plan.order(round, |arm| self.arms.contains(&arm));
            let of_arm = |arm| phases.iter().map(move |phase| Turn { arm, phase: *phase });
            let turns: Vec<Turn> = order.into_iter().flat_map(of_arm).collect();
            for (place, turn) in turns.iter().copied().enumerate() {
                if self.trials.is_stopped() {
                    return Ok(EndReason::Interrupted);
                }
                self.trials.announce(round, turn, place, turns.len());
                self.trials.run(PASSES + round, &[turn])?;
            }
            longest = longest.max(self.trials.elapsed().saturating_sub(begun));
            self.trials.setup.observer.on(&Event::RoundEnded);
            if let Some(reason) = self.trials.given_up() {
                return Ok(reason);
            }
            let phases = &self.trials.setup.phases;
            if turns.iter().all(|turn| phases.is_steady(turn.arm, turn.phase)) {
                return Ok(EndReason::Steady { rounds: round + 1 });
            }
        }
        Ok(EndReason::NotSteady { rounds: plan.max_blocks })
    }
}

/// Loads one arm after the other with each phase, as [`iotax_analyze::drain_spec`] says, until
/// `phases` finds it drained. Every stretch is a trial of the record.
///
/// # Errors
/// If the record cannot be written.
pub fn drain(setup: Setup<'_>) -> Result<End, Error> {
    let plan = setup.plan;
    let mut trials = Trials::start(setup);
    let of_arm = |arm| (0..plan.phases.len()).map(move |phase| Turn { arm, phase });
    let loads: Vec<Turn> = (0..plan.arms).flat_map(of_arm).collect();
    for (place, turn) in loads.iter().copied().enumerate() {
        for stretch in 0..plan.max_blocks {
            if trials.is_stopped() || trials.setup.phases.is_drained(turn.arm, turn.phase) {
                break;
            }
            trials.announce(stretch, turn, place, loads.len());
            let trial = trials.run(stretch, &[turn])?.remove(0);
            if matches!(trial.outcome, Outcome::Failed { .. }) {
                break;
            }
        }
    }
    trials.end(vec![EndReason::Drained], false)
}
