//! The trial loop.

use iotax_analyze::Phases;
use iotax_record::{End, Experiment, Writer};

use crate::budget::Budget;
use crate::error::Error;
use crate::observer::{Event, Observer};
use crate::trials::{Setup, Sinks, Trials};

/// Runs the experiment to its end: blocks of trials, each written down as it ends, until the data
/// decide, the blocks or the time run out, nothing works any more, or the user stops it.
pub fn run(
    setup: Setup<'_>,
    writer: &mut Writer<Experiment>,
    phases: &mut Phases,
    observer: &mut dyn Observer,
) -> Result<End, Error> {
    let mut trials = Trials::start(setup, Sinks { writer, phases, observer });
    let reason = blocks(&mut trials)?;
    let gave_up = trials.given_up().is_some();
    trials.end(reason, gave_up)
}

/// Runs blocks until there is a reason to stop, and returns it in words.
fn blocks(trials: &mut Trials<'_, '_>) -> Result<String, Error> {
    let plan = trials.setup.plan;
    let mut budget = Budget::new(plan.max_time_ns, plan.block_ns(plan.arms));
    budget.takes_in(trials.setup.spent);
    let mut open = vec![vec![true; plan.arms]; plan.phases.len()];
    for block in 0..plan.max_blocks {
        let started = trials.elapsed();
        if !budget.allows(block, started) {
            return Ok("the time was up".to_owned());
        }
        if !run_block(trials, block, &open)? {
            return Ok("interrupted".to_owned());
        }
        budget.block_took(trials.elapsed().saturating_sub(started));
        let Sinks { phases, observer, .. } = &mut trials.sinks;
        let progress = phases.decide();
        observer.on(&Event::Looked(&progress));
        open = phases.open(&progress);
        if let Some(reason) = trials.given_up() {
            return Ok(reason);
        }
        if let Some(reason) = progress.stop {
            return Ok(reason);
        }
    }
    Ok(format!("all {} blocks were run", plan.max_blocks))
}

/// Runs one trial of each phase on each arm that it is open for; false if the user stopped it.
fn run_block(trials: &mut Trials<'_, '_>, block: u32, open: &[Vec<bool>]) -> Result<bool, Error> {
    let plan = trials.setup.plan;
    let order = plan.order(block, |_| true);
    let turns = order.iter().flat_map(|arm| (0..plan.phases.len()).map(move |ph| (*arm, ph)));
    let turns: Vec<(usize, usize)> = turns.filter(|(arm, phase)| open[*phase][*arm]).collect();
    for (place, (arm, phase)) in turns.iter().copied().enumerate() {
        if trials.is_stopped() {
            return Ok(false);
        }
        trials.announce(block, (arm, phase), (place, turns.len()));
        trials.run(block, arm, phase)?;
    }
    Ok(!trials.is_stopped())
}
