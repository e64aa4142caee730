//! Writes the span of every arm, and then its workload until it is steady, before anything is
//! measured.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use iotax_analyze::{PASSES, Phases};
use iotax_record::{End, Outcome, Trial, Writer};
use iotax_spec::Workload;

use crate::error::Error;
use crate::nanos::nanos;
use crate::observer::{Event, Observer};
use crate::trial::{Bench, workload};
use crate::walk::Setup;

/// Preconditions the arms as [`iotax_analyze::precondition_spec`] says, those in memory left out.
/// Every pass and every round is a trial of the record. `measured`: the phases of the experiment to
/// come. `reserve`: the time that must be left of `plan.max_time_ns` for it.
///
/// # Errors
/// If the record cannot be written.
pub fn precondition(
    setup: Setup<'_>,
    (measured, reserve): (&[Workload], Duration),
    writer: &mut Writer,
    phases: &mut Phases,
    observer: &mut dyn Observer,
) -> Result<End, Error> {
    let started = Instant::now();
    let Setup { experiment, plan, rig, drivers, stop, live, sustained, spent: _ } = setup;
    let spec = &experiment.spec;
    let bench = Bench { spec, plan, rig, drivers, stop, live, started, sustained };
    let fills: Vec<&Workload> =
        measured.iter().filter(|workload| workload.fill().is_some()).collect();
    let arms = (0..plan.arms).filter(|arm| !spec.arms[*arm].target.is_in_memory()).collect();
    let mut walk = Walk { bench, writer, phases, observer, arms, slot: 0 };
    walk.passes(&fills)?;
    let reason = walk.rounds(fills.len(), reserve)?;
    let end = End {
        reason,
        wall_ns: nanos(started.elapsed()),
        interrupted: stop.load(Ordering::Relaxed),
        gave_up: false,
        trials: Some(walk.slot),
    };
    walk.writer.finish(&end)?;
    Ok(end)
}

struct Walk<'a> {
    bench: Bench<'a>,
    writer: &'a mut Writer,
    phases: &'a mut Phases,
    observer: &'a mut dyn Observer,
    /// Those that can be preconditioned.
    arms: Vec<usize>,
    slot: u32,
}

impl Walk<'_> {
    /// One pass over the span of every arm, then the next.
    fn passes(&mut self, fills: &[&Workload]) -> Result<(), Error> {
        for pass in 0..PASSES {
            for arm in self.arms.clone() {
                for (phase, of) in fills.iter().enumerate() {
                    if self.is_stopped() {
                        return Ok(());
                    }
                    self.observer.on(&Event::PassStarts {
                        pass,
                        passes: PASSES,
                        arm: &self.bench.spec.arms[arm].name,
                        bytes: of.span_bytes(),
                    });
                    let trial = self.bench.pass((pass, self.slot), arm, (phase, of));
                    self.keep(&trial)?;
                }
            }
        }
        Ok(())
    }

    /// Rounds of the phases from `first` on, until all are steady on all arms. Returns why it
    /// ended.
    fn rounds(&mut self, first: usize, reserve: Duration) -> Result<String, Error> {
        let plan = self.bench.plan;
        let phases: Vec<usize> = (first..plan.phases.len()).collect();
        if phases.is_empty() {
            return Ok("the span was written; the workload only reads".to_owned());
        }
        let limit = plan.max_time_ns.map(Duration::from_nanos);
        let mut longest = Duration::ZERO;
        for round in 0..plan.max_blocks {
            let begun = Instant::now();
            let ends = self.bench.started.elapsed() + longest + reserve;
            if limit.is_some_and(|limit| ends > limit) {
                return Ok("the time was up".to_owned());
            }
            let order = plan.order(round, |arm| self.arms.contains(&arm));
            let turns: Vec<(usize, usize)> =
                order.iter().flat_map(|arm| phases.iter().map(|phase| (*arm, *phase))).collect();
            for (place, (arm, phase)) in turns.iter().copied().enumerate() {
                if self.is_stopped() {
                    return Ok("interrupted".to_owned());
                }
                self.observer.on(&Event::TrialStarts {
                    block: round,
                    arm: &self.bench.spec.arms[arm].name,
                    phase: (phases.len() > 1)
                        .then(|| workload(self.bench.spec, phase).name.as_str()),
                    place,
                    trials_in_block: turns.len(),
                });
                let trial = self.bench.trial((PASSES + round, self.slot), arm, phase);
                self.keep(&trial)?;
                if let Outcome::Failed { error } = &trial.outcome {
                    return Ok(format!("a round failed on arm {}: {error}", trial.arm));
                }
            }
            longest = longest.max(begun.elapsed());
            self.observer.on(&Event::RoundEnded);
            if turns.iter().all(|(arm, phase)| self.phases.is_steady(*arm, *phase)) {
                return Ok(format!("all arms were steady after {} rounds", round + 1));
            }
        }
        Ok(format!("not all arms were steady after {} rounds", plan.max_blocks))
    }

    fn keep(&mut self, trial: &Trial) -> Result<(), Error> {
        self.slot += 1;
        self.writer.append(trial)?;
        self.phases.add(trial);
        self.observer.on(&Event::TrialEnded(trial));
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.bench.stop.load(Ordering::Relaxed)
    }
}
