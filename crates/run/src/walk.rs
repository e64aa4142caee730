//! The trial loop.

use iotax_analyze::Phases;
use iotax_record::{End, Experiment, Outcome, Writer};

use crate::budget::Budget;
use crate::error::Error;
use crate::observer::{Event, Observer};
use crate::trials::{Setup, Sinks, Trials};

/// An arm that failed this often in a row is given up.
const GIVE_UP_AFTER: u32 = 3;

/// Runs the experiment to its end: blocks of trials, each written down as it ends, until the data
/// decide, the blocks or the time run out, nothing works any more, or the user stops it.
pub fn run(
    setup: Setup<'_>,
    writer: &mut Writer<Experiment>,
    phases: &mut Phases,
    observer: &mut dyn Observer,
) -> Result<End, Error> {
    let failures = vec![vec![0; setup.plan.phases.len()]; setup.plan.arms];
    let trials = Trials::start(setup, Sinks { writer, phases, observer });
    let mut walk = Walk { trials, failures };
    let reason = walk.blocks()?;
    let gave_up = walk.given_up().is_some();
    walk.trials.end(reason, gave_up)
}

struct Walk<'a, 's> {
    trials: Trials<'a, 's>,
    /// Failures in a row, per arm and phase.
    failures: Vec<Vec<u32>>,
}

impl Walk<'_, '_> {
    /// Runs blocks until there is a reason to stop, and returns it in words.
    fn blocks(&mut self) -> Result<String, Error> {
        let plan = self.trials.setup.plan;
        let mut budget = Budget::new(plan.max_time_ns, plan.block_ns(plan.arms));
        budget.takes_in(self.trials.setup.spent);
        let mut open = vec![vec![true; plan.arms]; plan.phases.len()];
        for block in 0..plan.max_blocks {
            let started = self.trials.elapsed();
            if !budget.allows(block, started) {
                return Ok("the time was up".to_owned());
            }
            if !self.block(block, &open)? {
                return Ok("interrupted".to_owned());
            }
            budget.block_took(self.trials.elapsed().saturating_sub(started));
            let Sinks { phases, observer, .. } = &mut self.trials.sinks;
            let progress = phases.decide();
            observer.on(&Event::Looked(&progress));
            open = phases.open(&progress);
            if let Some(arm) = self.given_up() {
                return Ok(format!("arm {arm} failed {GIVE_UP_AFTER} times in a row"));
            }
            if let Some(reason) = progress.stop {
                return Ok(reason);
            }
        }
        Ok(format!("all {} blocks were run", plan.max_blocks))
    }

    /// Runs one trial of each phase on each arm that it is open for; false if the user stopped it.
    fn block(&mut self, block: u32, open: &[Vec<bool>]) -> Result<bool, Error> {
        let plan = self.trials.setup.plan;
        let order = plan.order(block, |_| true);
        let turns = order.iter().flat_map(|arm| (0..plan.phases.len()).map(move |ph| (*arm, ph)));
        let turns: Vec<(usize, usize)> = turns.filter(|(arm, phase)| open[*phase][*arm]).collect();
        for (place, (arm, phase)) in turns.iter().copied().enumerate() {
            if self.trials.is_stopped() {
                return Ok(false);
            }
            self.trials.announce(block, (arm, phase), (place, turns.len()));
            let trial = self.trials.run(block, arm, phase)?;
            let failed = matches!(trial.outcome, Outcome::Failed { .. });
            let failures = &mut self.failures[arm][phase];
            *failures = if failed { *failures + 1 } else { 0 };
        }
        Ok(!self.trials.is_stopped())
    }

    /// Name of the first arm that keeps failing: without it no block can be complete.
    fn given_up(&self) -> Option<&str> {
        let keeps_failing = |phases: &Vec<u32>| phases.iter().any(|n| *n >= GIVE_UP_AFTER);
        let arm = self.failures.iter().position(keeps_failing)?;
        Some(&self.trials.spec().arms[arm].name)
    }
}
