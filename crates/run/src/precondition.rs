//! Writes the span of every arm, and then its workload until it is steady, before anything is
//! measured.

use std::time::Duration;

use iotax_analyze::{PASSES, Phases};
use iotax_experiment::Workload;
use iotax_record::{End, EndReason, ExperimentHead, Writer};

use crate::error::Error;
use crate::observer::{Event, Observer};
use crate::trials::{Setup, Sinks, Trials};

/// Preconditions the arms as [`iotax_analyze::precondition_spec`] says, those in memory left out.
/// Every pass and every round is a trial of the record. `measured`: the phases of the experiment to
/// come. `reserve`: the time that must be left of `plan.max_time_ns` for it.
///
/// # Errors
/// If the record cannot be written.
pub fn precondition(
    setup: Setup<'_>,
    (measured, reserve): (&[Workload], Duration),
    writer: &mut Writer<ExperimentHead>,
    phases: &mut Phases,
    observer: &mut dyn Observer,
) -> Result<End, Error> {
    let fills: Vec<&Workload> =
        measured.iter().filter(|workload| workload.fill().is_some()).collect();
    let spec = &setup.experiment.spec;
    let on_storage = |arm: &usize| !spec.arms[*arm].target.is_in_memory();
    let arms = (0..setup.plan.arms).filter(on_storage).collect();
    let trials = Trials::start(setup, Sinks { writer, phases, observer });
    let mut walk = Walk { trials, arms };
    walk.passes(&fills)?;
    let reason = walk.rounds(fills.len(), reserve)?;
    let gave_up = walk.trials.given_up().is_some();
    walk.trials.end(vec![reason], gave_up)
}

struct Walk<'a, 's> {
    trials: Trials<'a, 's>,
    /// Those that can be preconditioned.
    arms: Vec<usize>,
}

impl Walk<'_, '_> {
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
                    self.trials.sinks.observer.on(&starts);
                    self.trials.fill(pass, arm, (phase, of))?;
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
            let turns: Vec<(usize, usize)> =
                order.iter().flat_map(|arm| phases.iter().map(|phase| (*arm, *phase))).collect();
            for (place, (arm, phase)) in turns.iter().copied().enumerate() {
                if self.trials.is_stopped() {
                    return Ok(EndReason::Interrupted);
                }
                self.trials.announce(round, (arm, phase), (place, turns.len()));
                self.trials.run(PASSES + round, &[(arm, phase)])?;
            }
            longest = longest.max(self.trials.elapsed().saturating_sub(begun));
            self.trials.sinks.observer.on(&Event::RoundEnded);
            if let Some(reason) = self.trials.given_up() {
                return Ok(reason);
            }
            let phases = &self.trials.sinks.phases;
            if turns.iter().all(|(arm, phase)| phases.is_steady(*arm, *phase)) {
                return Ok(EndReason::Steady { rounds: round + 1 });
            }
        }
        Ok(EndReason::NotSteady { rounds: plan.max_blocks })
    }
}
