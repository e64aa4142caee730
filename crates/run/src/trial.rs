//! One trial: bring the arm up, drive the load, write down what came of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use iotax_analyze::Sustained;
use iotax_load::{Filler, Live, LoadDriver, Request, Target};
use iotax_plan::Plan;
use iotax_record::{JobRecord, LoadRecord, Outcome, Trial};
use iotax_rig::{Place, Rig};
use iotax_spec::{Spec, Workload};

use crate::drain;
use crate::drivers::Drivers;
use crate::nanos::nanos;
use crate::statistics;

/// What every trial of an experiment has in common.
pub(crate) struct Bench<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) plan: &'a Plan,
    pub(crate) rig: &'a mut Rig,
    pub(crate) drivers: &'a Drivers,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) live: Option<&'a Live>,
    pub(crate) started: Instant,
    pub(crate) sustained: &'a Sustained,
}

impl Bench<'_> {
    /// Runs one phase on arm `arm` once. Never fails: a failure is what the trial records.
    pub(crate) fn trial(&mut self, place: (u32, u32), arm: usize, phase: usize) -> Trial {
        let driver = self.drivers.of(&self.spec.arms[arm]).map_err(|error| error.to_string());
        self.driven(place, (arm, phase), driver)
    }

    /// Writes once all that `of` uses on arm `arm`; `phase` is its [`Workload::fill`].
    pub(crate) fn pass(
        &mut self,
        place: (u32, u32),
        arm: usize,
        (phase, of): (usize, &Workload),
    ) -> Trial {
        self.driven(place, (arm, phase), Ok(&Filler { of }))
    }

    fn driven(
        &mut self,
        (block, slot): (u32, u32),
        (arm, phase): (usize, usize),
        driver: Result<&dyn LoadDriver, String>,
    ) -> Trial {
        let switching = Instant::now();
        let made_anew = self.rig.is_made_anew(arm);
        let device = self.rig.site(arm).device.clone();
        let place = self.rig.up(arm).map_err(|error| error.to_string()).and_then(|place| {
            let (target, driver) = (target(place), driver?);
            if made_anew {
                for workload in self.spec.phases() {
                    let prepared = driver.prepare(workload, target, &|_, _| (), self.stop);
                    prepared.map_err(|error| error.to_string())?;
                }
            }
            Ok((target, driver))
        });
        let (workload, times) = (workload(self.spec, phase), self.plan.phases[phase]);
        let ready = place.map(|(target, driver)| {
            let request = Request {
                workload,
                target,
                ramp_ns: times.ramp_ns,
                time_ns: times.time_ns,
                seed: self.plan.load_seed(block),
                stop: self.stop,
                live: self.live,
            };
            if let Some(iops) = self.sustained.iops(arm, phase) {
                drain::again(driver, &request, iops);
            }
            (driver, request)
        });
        let switch_ns = nanos(switching.elapsed());
        let started_ns = nanos(self.started.elapsed());
        let ran =
            ready.map(|(driver, request)| statistics::measured(driver, request, device.as_deref()));
        let (result, statistics) = match ran {
            Ok((result, statistics)) => {
                (result.map_err(|error| error.to_string()), Some(statistics))
            }
            Err(error) => (Err(error), None),
        };
        let interrupted = self.stop.load(Ordering::Relaxed);
        let (outcome, load) = match result {
            Err(_) if interrupted => (Outcome::Interrupted, None),
            Err(error) => (Outcome::Failed { error }, None),
            Ok(load) if interrupted => (Outcome::Interrupted, Some(load)),
            Ok(load) => (outcome(&load, &workload.primary), Some(load)),
        };
        let arm = self.spec.arms[arm].name.clone();
        let phase = u32::try_from(phase).unwrap_or(u32::MAX);
        Trial { block, slot, arm, phase, started_ns, switch_ns, outcome, load, statistics }
    }
}

/// The workload of a phase.
pub(crate) fn workload(spec: &Spec, phase: usize) -> &Workload {
    spec.phases().nth(phase).expect("a phase of the plan")
}

/// Where the rig put an arm, as the load knows it.
pub fn target(place: Place<'_>) -> Target<'_> {
    match place {
        Place::Path(path) => Target::Path(path),
        Place::Own(path) => Target::Own(path),
        Place::Disk(disk) => Target::Disk(disk),
    }
}

/// Completed, unless some I/O failed or another program had something to say. A primary job that
/// completed nothing is no failure: it was slower than its window.
fn outcome(load: &LoadRecord, primary: &str) -> Outcome {
    let moved = |job: &JobRecord| job.read.ios + job.write.ios > 0;
    let mut reasons: Vec<String> = load
        .jobs
        .iter()
        .filter_map(|job| job.first_error.as_ref().map(|error| format!("{}: {error}", job.name)))
        .collect();
    reasons.extend(load.index.iter().filter_map(|index| index.first_error.clone()));
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
