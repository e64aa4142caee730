//! The trial loop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use iotax_analyze::{Phases, Sustained};
use iotax_load::Live;
use iotax_plan::Plan;
use iotax_record::{End, Experiment, Outcome, Trial, Writer};
use iotax_rig::Rig;

use crate::budget::Budget;
use crate::drivers::Drivers;
use crate::error::Error;
use crate::nanos::nanos;
use crate::observer::{Event, Observer};
use crate::trial::{Bench, workload};

/// An arm that failed this often in a row is given up.
const GIVE_UP_AFTER: u32 = 3;

/// What a run needs.
pub struct Setup<'a> {
    /// Head of the record; its spec is what is run.
    pub experiment: &'a Experiment,
    /// The schedule.
    pub plan: &'a Plan,
    /// The arms, prepared.
    pub rig: &'a mut Rig,
    /// What drives the load.
    pub drivers: &'a Drivers,
    /// Set by someone else to end the run early.
    pub stop: &'a AtomicBool,
    /// Counters for a progress display.
    pub live: Option<&'a Live>,
    /// What each arm keeps up once its burst credits are spent: those that came back are spent
    /// before each trial.
    pub sustained: &'a Sustained,
    /// How much of the time limit is over already.
    pub spent: Duration,
}

/// Runs the experiment to its end: blocks of trials, each written down as it ends, until the data
/// decide, the blocks or the time run out, nothing works any more, or the user stops it.
pub fn run(
    setup: Setup<'_>,
    writer: &mut Writer,
    phases: &mut Phases,
    observer: &mut dyn Observer,
) -> Result<End, Error> {
    let started = Instant::now();
    let Setup { experiment, plan, rig, drivers, stop, live, sustained, spent } = setup;
    let spec = &experiment.spec;
    let bench = Bench { spec, plan, rig, drivers, stop, live, started, sustained };
    let mut walk = Walk {
        bench,
        writer,
        phases,
        observer,
        spent,
        slot: 0,
        failures: vec![vec![0; plan.phases.len()]; plan.arms],
    };
    let reason = walk.blocks()?;
    let interrupted = stop.load(Ordering::Relaxed);
    let gave_up = walk.given_up().is_some();
    let wall_ns = nanos(started.elapsed());
    let end = End { reason, wall_ns, interrupted, gave_up, trials: Some(walk.slot) };
    walk.writer.finish(&end)?;
    Ok(end)
}

struct Walk<'a> {
    bench: Bench<'a>,
    writer: &'a mut Writer,
    phases: &'a mut Phases,
    observer: &'a mut dyn Observer,
    spent: Duration,
    slot: u32,
    /// Failures in a row, per arm and phase.
    failures: Vec<Vec<u32>>,
}

impl Walk<'_> {
    /// Runs blocks until there is a reason to stop, and returns it in words.
    fn blocks(&mut self) -> Result<String, Error> {
        let plan = self.bench.plan;
        let mut budget =
            Budget::new(self.bench.started, plan.max_time_ns, plan.block_ns(plan.arms));
        budget.takes_in(self.spent);
        let mut open = vec![vec![true; plan.arms]; plan.phases.len()];
        for block in 0..plan.max_blocks {
            let block_started = Instant::now();
            if !budget.allows(block, block_started) {
                return Ok("the time was up".to_owned());
            }
            if !self.block(block, &open)? {
                return Ok("interrupted".to_owned());
            }
            budget.block_took(block_started.elapsed());
            let progress = self.phases.decide();
            self.observer.on(&Event::Looked(&progress));
            if let Some(arm) = self.given_up() {
                return Ok(format!("arm {arm} failed {GIVE_UP_AFTER} times in a row"));
            }
            if let Some(reason) = progress.stop {
                return Ok(reason);
            }
            open = self.phases.open(&progress);
        }
        Ok(format!("all {} blocks were run", plan.max_blocks))
    }

    /// Runs one trial of each phase on each arm that it is open for; false if the user stopped it.
    fn block(&mut self, block: u32, open: &[Vec<bool>]) -> Result<bool, Error> {
        let order = self.bench.plan.order(block, |_| true);
        let phases = self.bench.plan.phases.len();
        let turns = order.iter().flat_map(|arm| (0..phases).map(move |phase| (*arm, phase)));
        let turns: Vec<(usize, usize)> = turns.filter(|(arm, phase)| open[*phase][*arm]).collect();
        for (place, (arm, phase)) in turns.iter().copied().enumerate() {
            if self.bench.stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            self.observer.on(&Event::TrialStarts {
                block,
                arm: &self.bench.spec.arms[arm].name,
                phase: (phases > 1).then(|| workload(self.bench.spec, phase).name.as_str()),
                place,
                trials_in_block: turns.len(),
            });
            let trial = self.bench.trial((block, self.slot), arm, phase);
            self.keep((arm, phase), &trial)?;
        }
        Ok(!self.bench.stop.load(Ordering::Relaxed))
    }

    fn keep(&mut self, (arm, phase): (usize, usize), trial: &Trial) -> Result<(), Error> {
        self.slot += 1;
        let failed = matches!(trial.outcome, Outcome::Failed { .. });
        let failures = &mut self.failures[arm][phase];
        *failures = if failed { *failures + 1 } else { 0 };
        self.writer.append(trial)?;
        self.phases.add(trial);
        self.observer.on(&Event::TrialEnded(trial));
        Ok(())
    }

    /// Name of the first arm that keeps failing: without it no block can be complete.
    fn given_up(&self) -> Option<&str> {
        let arm = self
            .failures
            .iter()
            .position(|phases| phases.iter().any(|failures| *failures >= GIVE_UP_AFTER))?;
        Some(&self.bench.spec.arms[arm].name)
    }
}
