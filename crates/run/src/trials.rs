//! The trial loop: bring an arm up, run its load, record the result, and decide whether that is
//! enough.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iotax_analyze::{Lengths, Phases, Sustained};
use iotax_experiment::plan::{Phase, Plan, SliceLengths};
use iotax_experiment::{Draft, IndexEnds, Spec, Workload};
use iotax_record::{
    End, EndReason, ExperimentHead, JobRecord, LoadRecord, Outcome, Trial, TrialLength, Writer,
};

use crate::clock::{Clock, nanos};
use crate::error::Error;
use crate::host::{Files, Host, Measured, Task, TrialRequest};
use crate::observer::{Event, Observer};

/// An arm that failed this often in a row is given up.
const GIVE_UP_AFTER: u32 = 3;

/// What a run needs.
pub struct Setup<'a> {
    /// Head of the record; its spec is what is run.
    pub experiment: &'a ExperimentHead,
    /// The schedule.
    pub plan: &'a Plan,
    /// Where it is run.
    pub host: &'a mut dyn Host,
    /// Set from outside to end the run early.
    pub stop: &'a AtomicBool,
    /// The clock of the time limit.
    pub clock: &'a dyn Clock,
    /// Each arm's sustained rate without burst credits. Credits that were earned again are spent
    /// before each trial.
    pub sustained: &'a Sustained,
    /// How much of the time limit is over already.
    pub spent: Duration,
    /// Receives the results, for disk, analysis and observers.
    pub writer: &'a mut Writer<ExperimentHead>,
    pub phases: &'a mut Phases,
    pub observer: &'a mut dyn Observer,
}

/// Runs the experiment to its end: blocks of trials, each recorded as it ends. It stops when the
/// data decide, the blocks or the time run out, nothing works any more, or the user stops it.
pub fn trials(setup: Setup<'_>) -> Result<End, Error> {
    let mut trials = Trials::start(setup);
    let reasons = trials.blocks()?;
    let gave_up = trials.given_up().is_some();
    trials.end(reasons, gave_up)
}

/// A phase that is run on an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    pub arm: usize,
    pub phase: usize,
}

/// The trials of a run.
pub(crate) struct Trials<'a> {
    pub(crate) setup: Setup<'a>,
    started: Duration,
    count: u32,
    /// Length of the trials of the present block in slices.
    slices: u32,
    /// Slices were given up for trials of the usual length.
    is_usual: bool,
    /// Failures in a row, per arm and phase.
    failures: Vec<Vec<u32>>,
}

impl<'a> Trials<'a> {
    /// Starts a run.
    pub(crate) fn start(setup: Setup<'a>) -> Self {
        let started = setup.clock.now();
        let failures = vec![vec![0; setup.plan.phases.len()]; setup.plan.arms];
        setup.host.watch_programs();
        Self { setup, started, count: 0, slices: 1, is_usual: false, failures }
    }

    /// Runs blocks until there is a reason to stop, and returns it.
    fn blocks(&mut self) -> Result<Vec<EndReason>, Error> {
        let plan = self.setup.plan;
        let mut budget = Budget::new(plan.max_time_ns, plan.block_ns(plan.arms));
        budget.slices_take(plan.measured_ns());
        budget.takes_in(self.setup.spent);
        let mut open = vec![vec![true; plan.arms]; plan.phases.len()];
        let mut lengths = SliceLengths::default();
        let (mut block, mut most) = (0, plan.max_blocks);
        while block < most {
            let started = self.elapsed();
            self.slices = if self.is_usual {
                1
            } else {
                lengths.next(plan, block, |slices| budget.allows(block, started, slices))
            };
            if !budget.allows(block, started, 1) {
                return Ok(vec![EndReason::TimeUp]);
            }
            if !self.block(block, &open)? {
                return Ok(vec![EndReason::Interrupted]);
            }
            budget.block_took(self.elapsed().saturating_sub(started), self.slices);
            if let Some(reason) = self.given_up() {
                return Ok(vec![reason]);
            }
            block += 1;
            if !self.is_usual && self.slices == 1 && !plan.is_look(block) {
                continue;
            }
            let Setup { phases, observer, .. } = &mut self.setup;
            let progress = phases.decide();
            observer.on(&Event::Looked(&progress));
            open = phases.open(&progress);
            if !progress.stop.is_empty() {
                return Ok(progress.stop);
            }
            lengths.set_next(progress.lengths.next());
            if progress.lengths == Lengths::Differ && !self.is_usual {
                self.is_usual = true;
                let spec = self.spec().with(Draft::give_up_slices);
                let usual = Plan::new(&spec);
                budget = budget.anew(usual.block_ns(plan.arms));
                most = block + usual.max_blocks;
            }
        }
        Ok(vec![EndReason::AllRun])
    }

    /// The times of a phase's trials in the block under way.
    fn times(&self, phase: usize) -> Phase {
        let planned = self.setup.plan.phases[phase];
        let usual = workload(self.spec(), phase).slices.map(|slices| slices.usual);
        match usual.filter(|_| self.is_usual) {
            Some(usual) => usual,
            None => Phase { time_ns: self.setup.plan.window_ns(phase, self.slices), ..planned },
        }
    }

    /// The kind of length of the trials of the present block.
    const fn length(&self) -> TrialLength {
        match self.slices {
            _ if self.is_usual => TrialLength::Usual,
            1 => TrialLength::Planned,
            _ => TrialLength::LongSlice,
        }
    }

    /// Runs one trial of each phase on each arm that it is open for, with the requested number at
    /// the same time; false if the user stopped it.
    fn block(&mut self, block: u32, open: &[Vec<bool>]) -> Result<bool, Error> {
        let plan = self.setup.plan;
        let host = &self.setup.host;
        let turns = turns(plan, block, open, &|arm| host.site(arm).device_id.as_deref());
        let (mut place, count) = (0, turns.iter().map(Vec::len).sum());
        for together in turns {
            if self.is_stopped() {
                return Ok(false);
            }
            for turn in &together {
                self.announce(block, *turn, place, count);
                place += 1;
            }
            self.run(block, &together)?;
        }
        Ok(!self.is_stopped())
    }

    pub(crate) fn spec(&self) -> &'a Spec {
        &self.setup.experiment.spec
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.setup.clock.now().saturating_sub(self.started)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.setup.stop.load(Ordering::Relaxed)
    }

    /// Announces the next trial, at this place of the block.
    pub(crate) fn announce(
        &mut self,
        block: u32,
        turn: Turn,
        place: usize,
        trials_in_block: usize,
    ) {
        let spec = self.spec();
        let workload = workload(spec, turn.phase);
        let name = workload.name.as_str();
        self.setup.observer.on(&Event::TrialStarts {
            block,
            arm: &spec.arms[turn.arm].name,
            phase: spec.phases().any(|other| other.name != name).then_some(name),
            place,
            trials_in_block,
            unit: workload.unit(),
        });
    }

    /// Runs one trial on each of some arms at the same time, and keeps the results. A failure is
    /// recorded in the trial.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub(crate) fn run(&mut self, block: u32, turns: &[Turn]) -> Result<Vec<Trial>, Error> {
        let run = |turn: &Turn| (*turn, Task::Run(workload(self.spec(), turn.phase).clone()));
        let trials = self.perform(block, turns.iter().map(run).collect())?;
        for (turn, trial) in turns.iter().zip(&trials) {
            let failed = matches!(trial.outcome, Outcome::Failed { .. });
            let failures = &mut self.failures[turn.arm][turn.phase];
            *failures = if failed { *failures + 1 } else { 0 };
        }
        Ok(trials)
    }

    /// Why to end if an arm keeps failing: without it no block can be complete.
    pub(crate) fn given_up(&self) -> Option<EndReason> {
        let keeps_failing = |phases: &Vec<u32>| phases.iter().any(|n| *n >= GIVE_UP_AFTER);
        let arm = self.failures.iter().position(keeps_failing)?;
        let arm = self.spec().arms[arm].name.clone();
        Some(EndReason::ArmFailed { arm, times: GIVE_UP_AFTER })
    }

    /// Writes once everything that `of` uses on the arm; the phase is its [`Workload::fill`].
    ///
    /// # Errors
    /// If the record cannot be written.
    pub(crate) fn fill(&mut self, pass: u32, turn: Turn, of: &Workload) -> Result<(), Error> {
        self.perform(pass, vec![(turn, Task::Fill(of.clone()))]).map(drop)
    }

    /// Brings the arms up one after the other, then performs their trials at the same time.
    fn perform(&mut self, block: u32, tasks: Vec<(Turn, Task)>) -> Result<Vec<Trial>, Error> {
        let switching = self.elapsed();
        let (mut turns, mut requests) = (Vec::new(), Vec::new());
        for (turn, task) in tasks {
            let request = self.request(block, turn, task);
            let ready = self.bring_up(&request);
            if ready.is_ok() {
                requests.push(request);
            }
            turns.push((turn, ready));
        }
        let asked = self.elapsed();
        let mut measured = self.setup.host.trials(&requests).into_iter();
        let mut trials = Vec::new();
        for (Turn { arm, phase }, ready) in turns {
            let measured = ready.and_then(|()| measured.next().expect("one for each request"));
            let drained = measured.as_ref().map_or(0, |measured| measured.drained_ns);
            let (outcome, load, counters) = self.outcome(phase, measured);
            let trial = Trial {
                block,
                slot: self.count,
                arm: self.spec().arms[arm].name.clone(),
                phase: u32::try_from(phase).unwrap_or(u32::MAX),
                length: self.length(),
                started_ns: nanos(asked).saturating_add(drained),
                switch_ns: nanos(asked.saturating_sub(switching)).saturating_add(drained),
                outcome,
                load,
                counters,
            };
            self.keep(&trial)?;
            trials.push(trial);
        }
        Ok(trials)
    }

    fn request(&self, block: u32, Turn { arm, phase }: Turn, task: Task) -> TrialRequest {
        let times = self.times(phase);
        let of_phase = workload(self.spec(), phase);
        let parts = of_phase.parts().filter(|_| of_phase.is_sliced() && !self.is_usual);
        TrialRequest {
            // The same on all arms of a block.
            part: parts.map(|parts| block % parts),
            arm,
            driver: self.spec().arms[arm].driver,
            task,
            index_ends: IndexEnds::Both,
            ramp_ns: times.ramp_ns,
            time_ns: times.time_ns,
            seed: self.setup.plan.load_seed(block),
            sustained_iops: self.setup.sustained.iops(arm, phase),
        }
    }

    /// Brings an arm up with its files.
    fn bring_up(&mut self, request: &TrialRequest) -> Result<(), Error> {
        let phases: Vec<&Workload> = self.spec().phases().collect();
        let host = &mut self.setup.host;
        match host.up(request.arm)? {
            Files::AreThere => Ok(()),
            Files::Missing => host.prepare(request.arm, request.driver, &phases, &|_, _| ()),
        }
    }

    fn outcome(
        &self,
        phase: usize,
        measured: Result<Measured, Error>,
    ) -> (Outcome, Option<LoadRecord>, Option<iotax_record::Counters>) {
        let (load, counters) = match measured {
            Ok(measured) => (measured.load, measured.counters),
            Err(error) => (Err(error.to_string()), None),
        };
        let (outcome, load) = match load {
            Err(_) if self.is_stopped() => (Outcome::Interrupted, None),
            Err(error) => (Outcome::Failed { error }, None),
            Ok(load) if self.is_stopped() => (Outcome::Interrupted, Some(load)),
            Ok(load) => (outcome(&load, &workload(self.spec(), phase).primary), Some(load)),
        };
        (outcome, load, counters)
    }

    fn keep(&mut self, trial: &Trial) -> Result<(), Error> {
        self.count += 1;
        self.setup.writer.append(trial)?;
        self.setup.phases.add(trial);
        self.setup.observer.on(&Event::TrialEnded(trial));
        Ok(())
    }

    /// Marks the record as complete.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn end(self, reasons: Vec<EndReason>, gave_up: bool) -> Result<End, Error> {
        let end = End {
            reasons,
            wall_ns: nanos(self.elapsed()),
            interrupted: self.is_stopped(),
            gave_up,
            trials: Some(self.count),
            other_programs: self.setup.host.other_programs(),
        };
        self.setup.writer.finish(&end)?;
        Ok(end)
    }
}

pub(crate) fn workload(spec: &Spec, phase: usize) -> &Workload {
    spec.phases().nth(phase).expect("the plan has this phase")
}

/// Completed, unless some I/O failed or another program reported an error. It is not a failure if a
/// primary job completed nothing: it was slower than its window.
fn outcome(load: &LoadRecord, primary: &str) -> Outcome {
    let moved = |job: &JobRecord| job.ios() > 0;
    let mut reasons: Vec<String> = load
        .jobs
        .iter()
        .filter_map(|job| job.first_error.as_ref().map(|error| format!("{}: {error}", job.name)))
        .collect();
    reasons.extend(load.operations.iter().filter_map(|done| done.first_error.clone()));
    if let Some(iops) = load.stalled_below(primary) {
        let window = iotax_quantity::time(1e9 / iops);
        reasons.insert(0, format!("{primary} completed no I/O in its {window} window"));
    } else if !load.jobs.iter().any(moved) {
        let error = reasons.into_iter().next();
        let error = error.unwrap_or_else(|| "no I/O completed in the measured window".to_owned());
        return Outcome::Failed { error };
    }
    reasons.extend(load.warnings.iter().cloned());
    if reasons.is_empty() { Outcome::Completed } else { Outcome::Degraded { reasons } }
}

/// The trials (arm and phase) of a block in their order. Trials that run at the same time have
/// different arms, the same phase, and different devices according to `device`.
fn turns<'a>(
    plan: &Plan,
    block: u32,
    open: &[Vec<bool>],
    device: &dyn Fn(usize) -> Option<&'a str>,
) -> Vec<Vec<Turn>> {
    let mut together: Vec<Vec<usize>> = Vec::new();
    for arm in plan.order(block, |arm| open.iter().any(|open| open[arm])) {
        let shares = |other: &usize| device(arm).is_some_and(|own| device(*other) == Some(own));
        match together.last_mut() {
            Some(last) if last.len() < plan.at_once && !last.iter().any(shares) => last.push(arm),
            _ => together.push(vec![arm]),
        }
    }
    let of_phase = |arms: &[usize], phase: usize| -> Vec<Turn> {
        let arms = arms.iter().filter(|arm| open[phase][**arm]);
        arms.map(|arm| Turn { arm: *arm, phase }).collect()
    };
    let phases = 0..plan.phases.len();
    let turns =
        together.iter().flat_map(|arms| phases.clone().map(move |phase| of_phase(arms, phase)));
    turns.filter(|together| !together.is_empty()).collect()
}

/// The time an experiment may take.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: Option<Duration>,
    longest_block: Duration,
    /// The measured part of a block with trials of one slice.
    measured: Duration,
    /// The time used before it started.
    spent: Duration,
}

impl Budget {
    pub(crate) fn new(limit_ns: Option<u64>, expected_block_ns: u64) -> Self {
        let limit = limit_ns.map(Duration::from_nanos);
        let longest_block = Duration::from_nanos(expected_block_ns);
        Self { limit, longest_block, measured: Duration::ZERO, spent: Duration::ZERO }
    }

    /// Counts what was run before: the limit is for all of it.
    pub(crate) fn takes_in(&mut self, spent: Duration) {
        self.spent += spent;
    }

    /// Sets how much of a block of slices is measured, in nanoseconds.
    fn slices_take(&mut self, measured_ns: u64) {
        self.measured = Duration::from_nanos(measured_ns);
    }

    /// The same limit for blocks of another length.
    fn anew(&self, expected_block_ns: u64) -> Self {
        Self { longest_block: Duration::from_nanos(expected_block_ns), ..*self }
    }

    /// Notes how long a block of trials as long as so many slices really took, switching included.
    pub(crate) fn block_took(&mut self, duration: Duration, slices: u32) {
        let of_one = duration.saturating_sub(self.measured * slices.saturating_sub(1));
        self.longest_block = self.longest_block.max(of_one);
    }

    /// Whether one more block fits after so much time. The first block always does.
    pub(crate) fn allows(&self, block: u32, elapsed: Duration, slices: u32) -> bool {
        let whole = self.longest_block + self.measured * slices.saturating_sub(1);
        let over = self.spent + elapsed + whole;
        block == 0 || self.limit.is_none_or(|limit| over <= limit)
    }
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, Stop};

    use super::*;

    #[test]
    fn arms_of_one_phase_take_their_turns_together() {
        let arms = ["a=/a", "b=/b", "c=/c"].map(|text| Arm::parse(text).unwrap()).to_vec();
        let first = Workload::preset("randread-4k").unwrap();
        let mut spec = Spec::compare(first, arms, Stop::default(), 7).unwrap();
        spec = spec.with(|spec| spec.phases.push(Workload::preset("etcd-wal").unwrap()));
        let plan = |at_once: u32| Plan::new(&spec.with(|spec| spec.at_once = at_once));
        let pairs = |turns: Vec<Vec<Turn>>| -> Vec<Vec<(usize, usize)>> {
            let pair = |turn: Turn| (turn.arm, turn.phase);
            turns.into_iter().map(|all| all.into_iter().map(pair).collect()).collect()
        };
        let taken = |at_once, open: &[Vec<bool>]| pairs(turns(&plan(at_once), 0, open, &|_| None));
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
        assert_eq!(pairs(turns(&plan(2), 0, &all, &device)), apart);
        let mut open = all;
        open[0][b] = false;
        open[1][c] = false;
        assert_eq!(taken(2, &open), [vec![(a, 0)], vec![(a, 1), (b, 1)], vec![(c, 0)]]);
    }

    #[test]
    fn a_block_that_would_end_too_late_is_not_started() {
        let mut budget = Budget::new(Some(10_000_000_000), 3_000_000_000);
        let at = Duration::from_secs;
        assert!(budget.allows(1, at(7), 1));
        assert!(!budget.allows(1, at(8), 1));
        budget.block_took(Duration::from_secs(5), 1);
        assert!(!budget.allows(2, at(6), 1));
        budget.takes_in(Duration::from_secs(2));
        assert!(
            budget.allows(1, at(3), 1) && !budget.allows(1, at(4), 1),
            "7 s are over at the fifth"
        );
        let mut slices = Budget::new(Some(10_000_000_000), 300_000_000);
        slices.slices_take(200_000_000);
        slices.block_took(Duration::from_millis(2_100), 10);
        assert!(slices.allows(1, at(8), 9), "300 ms, and 8 times what is measured");
        assert!(!slices.allows(1, at(8), 10), "2.1 s");
        assert!(budget.allows(0, at(99), 1), "a run without any block would be of no use");
    }
}
