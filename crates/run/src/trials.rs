//! One trial after the other: bring the arm up, have the load driven, write down what came of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iotax_analyze::{Phases, Sustained};
use iotax_experiment::plan::Plan;
use iotax_experiment::{IndexEnds, Spec, Workload};
use iotax_record::{End, EndReason, ExperimentHead, JobRecord, LoadRecord, Outcome, Trial, Writer};

use crate::clock::Clock;
use crate::error::Error;
use crate::host::{Files, Host, Measured, Task, TrialRequest};
use crate::nanos::nanos;
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
    /// Set by someone else to end the run early.
    pub stop: &'a AtomicBool,
    /// What the time limit counts.
    pub clock: &'a dyn Clock,
    /// What each arm keeps up once its burst credits are spent: those that came back are spent
    /// before each trial.
    pub sustained: &'a Sustained,
    /// How much of the time limit is over already.
    pub spent: Duration,
}

/// Where what is measured goes: to disk, to the analysis, and to whoever watches.
pub(crate) struct Sinks<'a> {
    pub(crate) writer: &'a mut Writer<ExperimentHead>,
    pub(crate) phases: &'a mut Phases,
    pub(crate) observer: &'a mut dyn Observer,
}

/// The trials of a run.
pub(crate) struct Trials<'a, 's> {
    pub(crate) setup: Setup<'a>,
    pub(crate) sinks: Sinks<'s>,
    started: Duration,
    count: u32,
    /// Failures in a row, per arm and phase.
    failures: Vec<Vec<u32>>,
}

impl<'a, 's> Trials<'a, 's> {
    /// Starts a run.
    pub(crate) fn start(setup: Setup<'a>, sinks: Sinks<'s>) -> Self {
        let started = setup.clock.now();
        let failures = vec![vec![0; setup.plan.phases.len()]; setup.plan.arms];
        Self { setup, sinks, started, count: 0, failures }
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

    /// Says that the trial of `phase` on arm `arm` comes next, at this place of so many.
    pub(crate) fn announce(
        &mut self,
        block: u32,
        (arm, phase): (usize, usize),
        (place, trials_in_block): (usize, usize),
    ) {
        let spec = self.spec();
        let workload = workload(spec, phase);
        let name = workload.name.as_str();
        self.sinks.observer.on(&Event::TrialStarts {
            block,
            arm: &spec.arms[arm].name,
            phase: spec.phases().any(|other| other.name != name).then_some(name),
            place,
            trials_in_block,
            unit: workload.unit(),
        });
    }

    /// Runs one phase on one arm once, for each of some arms at the same time, and keeps what came of
    /// it. A failure is what the trial records.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub(crate) fn run(
        &mut self,
        block: u32,
        turns: &[(usize, usize)],
    ) -> Result<Vec<Trial>, Error> {
        let tasks = turns
            .iter()
            .map(|(arm, phase)| (*arm, *phase, Task::Run(workload(self.spec(), *phase).clone())));
        let trials = self.perform(block, tasks.collect())?;
        for ((arm, phase), trial) in turns.iter().zip(&trials) {
            let failed = matches!(trial.outcome, Outcome::Failed { .. });
            let failures = &mut self.failures[*arm][*phase];
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

    /// Writes once all that `of` uses on arm `arm`; `phase` is its [`Workload::fill`].
    ///
    /// # Errors
    /// If the record cannot be written.
    pub(crate) fn fill(
        &mut self,
        pass: u32,
        arm: usize,
        (phase, of): (usize, &Workload),
    ) -> Result<Trial, Error> {
        let mut trials = self.perform(pass, vec![(arm, phase, Task::Fill(of.clone()))])?;
        Ok(trials.remove(0))
    }

    /// Brings the arms up one after the other, then performs their trials at the same time.
    fn perform(
        &mut self,
        block: u32,
        tasks: Vec<(usize, usize, Task)>,
    ) -> Result<Vec<Trial>, Error> {
        let switching = self.elapsed();
        let (mut turns, mut requests) = (Vec::new(), Vec::new());
        for (arm, phase, task) in tasks {
            let request = self.request(block, (arm, phase), task);
            let ready = self.bring_up(&request);
            if ready.is_ok() {
                requests.push(request);
            }
            turns.push((arm, phase, ready));
        }
        let asked = self.elapsed();
        let mut measured = self.setup.host.trials(&requests).into_iter();
        let mut trials = Vec::new();
        for (arm, phase, ready) in turns {
            let measured = ready.and_then(|()| measured.next().expect("one for each request"));
            let drained = measured.as_ref().map_or(0, |measured| measured.drained_ns);
            let (outcome, load, counters) = self.outcome(phase, measured);
            let trial = Trial {
                block,
                slot: self.count,
                arm: self.spec().arms[arm].name.clone(),
                phase: u32::try_from(phase).unwrap_or(u32::MAX),
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

    fn request(&self, block: u32, (arm, phase): (usize, usize), task: Task) -> TrialRequest {
        let times = self.setup.plan.phases[phase];
        TrialRequest {
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
        self.sinks.writer.append(trial)?;
        self.sinks.phases.add(trial);
        self.sinks.observer.on(&Event::TrialEnded(trial));
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
        };
        self.sinks.writer.finish(&end)?;
        Ok(end)
    }
}

pub(crate) fn workload(spec: &Spec, phase: usize) -> &Workload {
    spec.phases().nth(phase).expect("a phase of the plan")
}

/// Completed, unless some I/O failed or another program had something to say. A primary job that
/// completed nothing is no failure: it was slower than its window.
fn outcome(load: &LoadRecord, primary: &str) -> Outcome {
    let moved = |job: &JobRecord| job.ios() > 0;
    let mut reasons: Vec<String> = load
        .jobs
        .iter()
        .filter_map(|job| job.first_error.as_ref().map(|error| format!("{}: {error}", job.name)))
        .collect();
    reasons.extend(load.operations.iter().filter_map(|done| done.first_error.clone()));
    if let Some(iops) = load.stalled_below(primary) {
        let window = Duration::from_secs_f64(1.0 / iops);
        reasons.insert(0, format!("{primary} completed no I/O in its window of {window:.1?}"));
    } else if !load.jobs.iter().any(moved) {
        let error = reasons.into_iter().next();
        let error = error.unwrap_or_else(|| "no I/O completed in the measured window".to_owned());
        return Outcome::Failed { error };
    }
    reasons.extend(load.warnings.iter().cloned());
    if reasons.is_empty() { Outcome::Completed } else { Outcome::Degraded { reasons } }
}
