//! The trial loop.

use iotax_analyze::Phases;
use iotax_experiment::plan::Plan;
use iotax_record::{End, EndReason, ExperimentHead, Writer};

use crate::budget::Budget;
use crate::error::Error;
use crate::observer::{Event, Observer};
use crate::trials::{Setup, Sinks, Trials};

/// Runs the experiment to its end: blocks of trials, each written down as it ends, until the data
/// decide, the blocks or the time run out, nothing works any more, or the user stops it.
pub fn run(
    setup: Setup<'_>,
    writer: &mut Writer<ExperimentHead>,
    phases: &mut Phases,
    observer: &mut dyn Observer,
) -> Result<End, Error> {
    let mut trials = Trials::start(setup, Sinks { writer, phases, observer });
    let reasons = blocks(&mut trials)?;
    let gave_up = trials.given_up().is_some();
    trials.end(reasons, gave_up)
}

/// Runs blocks until there is a reason to stop, and returns it.
fn blocks(trials: &mut Trials<'_, '_>) -> Result<Vec<EndReason>, Error> {
    let plan = trials.setup.plan;
    let mut budget = Budget::new(plan.max_time_ns, plan.block_ns(plan.arms));
    budget.takes_in(trials.setup.spent);
    let mut open = vec![vec![true; plan.arms]; plan.phases.len()];
    for block in 0..plan.max_blocks {
        let started = trials.elapsed();
        if !budget.allows(block, started) {
            return Ok(vec![EndReason::TimeUp]);
        }
        if !run_block(trials, block, &open)? {
            return Ok(vec![EndReason::Interrupted]);
        }
        budget.block_took(trials.elapsed().saturating_sub(started));
        let Sinks { phases, observer, .. } = &mut trials.sinks;
        let progress = phases.decide();
        observer.on(&Event::Looked(&progress));
        open = phases.open(&progress);
        if let Some(reason) = trials.given_up() {
            return Ok(vec![reason]);
        }
        if !progress.stop.is_empty() {
            return Ok(progress.stop);
        }
    }
    Ok(vec![EndReason::AllRun])
}

/// Runs one trial of each phase on each arm that it is open for, as many at the same time as was asked
/// for; false if the user stopped it.
fn run_block(trials: &mut Trials<'_, '_>, block: u32, open: &[Vec<bool>]) -> Result<bool, Error> {
    let plan = trials.setup.plan;
    let host = &trials.setup.host;
    let turns = turns(plan, block, open, &|arm| host.site(arm).device_id.as_deref());
    let (mut place, count) = (0, turns.iter().map(Vec::len).sum());
    for together in turns {
        if trials.is_stopped() {
            return Ok(false);
        }
        for turn in &together {
            trials.announce(block, *turn, (place, count));
            place += 1;
        }
        trials.run(block, &together)?;
    }
    Ok(!trials.is_stopped())
}

/// The trials of a block, arm and phase, in their order; those that are performed at the same time are
/// of different arms, of one phase, and on no device that `device` says to be the same.
fn turns<'a>(
    plan: &Plan,
    block: u32,
    open: &[Vec<bool>],
    device: &dyn Fn(usize) -> Option<&'a str>,
) -> Vec<Vec<(usize, usize)>> {
    let mut together: Vec<Vec<usize>> = Vec::new();
    for arm in plan.order(block, |arm| open.iter().any(|open| open[arm])) {
        let shares = |other: &usize| device(arm).is_some_and(|own| device(*other) == Some(own));
        match together.last_mut() {
            Some(last) if last.len() < plan.at_once && !last.iter().any(shares) => last.push(arm),
            _ => together.push(vec![arm]),
        }
    }
    let of_phase = |arms: &[usize], phase: usize| -> Vec<(usize, usize)> {
        let arms = arms.iter().filter(|arm| open[phase][**arm]);
        arms.map(|arm| (*arm, phase)).collect()
    };
    let phases = 0..plan.phases.len();
    let turns =
        together.iter().flat_map(|arms| phases.clone().map(move |phase| of_phase(arms, phase)));
    turns.filter(|together| !together.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, Spec, Stop, Workload};

    use super::*;

    #[test]
    fn arms_of_one_phase_take_their_turns_together() {
        let arms = ["a=/a", "b=/b", "c=/c"].map(|text| Arm::parse(text).unwrap()).to_vec();
        let first = Workload::preset("randread-4k").unwrap();
        let mut spec = Spec::compare(first, arms, Stop::default(), 7).unwrap();
        spec.phases.push(Workload::preset("etcd-wal").unwrap());
        let plan = |at_once: u32| Plan::new(&Spec { at_once, ..spec.clone() });
        let taken = |at_once, open: &[Vec<bool>]| turns(&plan(at_once), 0, open, &|_| None);
        let all = vec![vec![true; 3]; 2];
        let order: Vec<usize> = taken(1, &all).iter().step_by(2).map(|turn| turn[0].0).collect();
        let [a, b, c] = order[..] else { panic!("{order:?}") };
        let one_by_one = [(a, 0), (a, 1), (b, 0), (b, 1), (c, 0), (c, 1)].map(|turn| vec![turn]);
        assert_eq!(taken(1, &all), one_by_one);
        let two = [vec![(a, 0), (b, 0)], vec![(a, 1), (b, 1)], vec![(c, 0)], vec![(c, 1)]];
        assert_eq!(taken(2, &all), two);
        // Those on one device do not.
        let device = |arm| (arm != c).then_some("one disk");
        let apart = [vec![(a, 0)], vec![(a, 1)], vec![(b, 0), (c, 0)], vec![(b, 1), (c, 1)]];
        assert_eq!(turns(&plan(2), 0, &all, &device), apart);
        let mut open = all;
        open[0][b] = false;
        open[1][c] = false;
        assert_eq!(taken(2, &open), [vec![(a, 0)], vec![(a, 1), (b, 1)], vec![(c, 0)]]);
    }
}
