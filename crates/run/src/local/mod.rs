//! Trials in this process, on this machine.

mod sampling;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use iotax_experiment::{Driver, Spec, Workload};
use iotax_inspect::Programs;
use iotax_load::{Filler, IoTarget, LayoutProgress, LoadDriver, LoadProgress, Request};
use iotax_record::{JobRecord, OtherPrograms, Site};
use iotax_rig::{Options, Rig};

use crate::clock::nanos;
use crate::drivers::Drivers;
use crate::error::Error;
use crate::host::{Arms, Files, Load, Measured, Runner, Task, TrialRequest};

/// Length of a check whether credits are spent.
const LOOK_NS: u64 = 2_000_000_000;
/// Maximum number of checks before a trial: few credits are earned while other arms are loaded.
const MOST_LOOKS: u32 = 15;
/// The longest time that repeated draining may take before a trial.
pub const LONGEST_LOOKS_NS: u64 = LOOK_NS * MOST_LOOKS as u64;
/// At this factor above the sustained rate, credits are being spent.
const DRAINED: f64 = 1.05;

/// This machine: its rig and its load drivers.
#[derive(Debug)]
pub struct Local {
    // Dropped first: files that are open would keep the rig from unmounting.
    drivers: Drivers,
    rig: Rig,
    stop: Arc<AtomicBool>,
    live: Arc<LoadProgress>,
    /// The programs at the time of the first trial.
    programs: Option<Programs>,
    /// Whether some layers are daemons that it started.
    in_system: bool,
}

impl Local {
    /// Examines the targets of the arms of `spec`, and makes what they need. The flag in `options`
    /// also ends loads; `live` counts progress, for display.
    ///
    /// # Errors
    /// As [`Rig::open`], and [`Drivers::find`].
    pub fn open(
        spec: &Spec,
        options: Options<'_>,
        live: &Arc<LoadProgress>,
    ) -> Result<Self, Error> {
        Self::with_drivers(spec, options, live, Drivers::find(spec)?)
    }

    /// The same with these drivers.
    ///
    /// # Errors
    /// As [`Rig::open`].
    pub fn with_drivers(
        spec: &Spec,
        options: Options<'_>,
        live: &Arc<LoadProgress>,
        drivers: Drivers,
    ) -> Result<Self, Error> {
        let stop = Arc::clone(&options.stop);
        let rig = Rig::open(spec, options)?;
        let in_system = spec.arms.iter().any(|arm| arm.target.is_in_system());
        Ok(Self { rig, drivers, stop, live: Arc::clone(live), programs: None, in_system })
    }
}

impl Arms for Local {
    fn up(&mut self, arm: usize) -> Result<Files, Error> {
        self.rig.up_all(arm)?;
        Ok(if self.is_made_anew(arm) { Files::Missing } else { Files::AreThere })
    }

    fn site(&self, arm: usize) -> &Site {
        self.rig.site(arm)
    }

    fn is_made_anew(&self, arm: usize) -> bool {
        self.rig.is_made_anew(arm)
    }

    fn down(self: Box<Self>) -> Result<(), Error> {
        // An open file would keep a file system from being unmounted.
        self.drivers.release();
        Ok(self.rig.down()?)
    }
}

impl Local {
    /// The working directory of an arm's load, by a name that other processes can use; `None` if
    /// there is none, or several.
    ///
    /// # Errors
    /// If the arm does not come up.
    pub fn directory(&mut self, arm: usize) -> Result<Option<PathBuf>, Error> {
        Ok(match *self.rig.up_all(arm)?.as_slice() {
            [("", IoTarget::Path(path) | IoTarget::Own(path))] => path.canonicalize().ok(),
            _ => None,
        })
    }
}

impl Runner for Local {
    fn prepare(
        &mut self,
        arm: usize,
        driver: Driver,
        workloads: &[&Workload],
        progress: &LayoutProgress<'_>,
    ) -> Result<(), Error> {
        let Self { rig, drivers, stop, .. } = self;
        let targets = rig.up_all(arm)?;
        for workload in workloads {
            drivers.of(driver, workload)?.prepare(workload, all(&targets), progress, stop)?;
        }
        Ok(())
    }

    fn trial(&mut self, request: &TrialRequest) -> Result<Measured, Error> {
        let Self { rig, drivers, stop, live, .. } = self;
        let site = rig.site(request.arm).clone();
        let targets = rig.up_all(request.arm)?;
        let target = all(&targets);
        let filler;
        let filling;
        let (driver, workload): (&dyn LoadDriver, _) = match &request.task {
            Task::Run(workload) => (drivers.of(request.driver, workload)?, workload),
            Task::Fill(of) => {
                filler = Filler { of };
                filling = of.fill().unwrap_or_else(|| of.clone());
                (&filler, &filling)
            }
        };
        let load = Request { live: Some(live), ..asked(request, workload, target, stop) };
        let draining = Instant::now();
        if let Some(iops) = request.sustained_iops {
            drain_again(driver, &load, iops);
        }
        let drained_ns = nanos(draining.elapsed());
        let (load, counters) = sampling::measured(driver, load, live, &site);
        let load = load.map_err(|error| error.to_string());
        Ok(Measured { drained_ns, load, counters: Some(counters) })
    }

    fn watch_programs(&mut self) {
        self.programs = Some(Programs::now());
    }

    fn other_programs(&mut self) -> Option<OtherPrograms> {
        let before = self.programs.take()?;
        Some(Programs::now().since(&before, std::process::id(), self.in_system))
    }

    fn drives_side_by_side(&self) -> bool {
        true
    }

    fn together(&mut self, requests: &[TrialRequest]) -> Result<Vec<Load>, Error> {
        let Self { rig, drivers, stop, .. } = self;
        let arms: Vec<usize> = requests.iter().map(|request| request.arm).collect();
        let targets = rig.side_by_side(&arms)?;
        let one = |(request, target): (&TrialRequest, IoTarget<'_>)| {
            let (Task::Run(workload) | Task::Fill(workload)) = &request.task;
            let load = asked(request, workload, target, stop);
            let driver = drivers.of(request.driver, workload).map_err(|error| error.to_string())?;
            driver.run(&load).map_err(|error| error.to_string())
        };
        let mut loads = requests.iter().zip(targets);
        if requests.len() == 1 {
            return Ok(loads.next().map(one).into_iter().collect());
        }
        Ok(thread::scope(|scope| {
            let one = &one;
            let start = |(place, load)| {
                let thread = thread::Builder::new().name(format!("together-{place}"));
                thread.spawn_scoped(scope, move || one(load))
            };
            let started: Vec<_> = loads.enumerate().map(start).collect();
            started
                .into_iter()
                .map(|thread| match thread.map(thread::ScopedJoinHandle::join) {
                    Ok(Ok(load)) => load,
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    Err(error) => {
                        Err(format!("cannot start a thread for one of the loads: {error}"))
                    }
                })
                .collect()
        }))
    }
}

/// The targets of an arm as one: a single one has no name.
fn all<'a>(targets: &'a [(&'a str, IoTarget<'a>)]) -> IoTarget<'a> {
    match targets {
        [("", one)] => *one,
        several => IoTarget::Several(several),
    }
}

/// The request in terms of a load driver.
fn asked<'a>(
    request: &'a TrialRequest,
    workload: &'a Workload,
    target: IoTarget<'a>,
    stop: &'a AtomicBool,
) -> Request<'a> {
    let TrialRequest { ramp_ns, time_ns, part, seed, ref index_ends, .. } = *request;
    Request { workload, index_ends, target, ramp_ns, time_ns, part, seed, stop, live: None }
}

/// Spends burst credits that were earned again: loads until two seconds are no faster than the
/// sustained rate. An error shows in the next trial.
fn drain_again(driver: &dyn LoadDriver, request: &Request<'_>, sustained_iops: f64) {
    for _ in 0..MOST_LOOKS {
        let look = Request { ramp_ns: 0, time_ns: LOOK_NS, part: None, live: None, ..*request };
        let Ok(load) = driver.run(&look) else { return };
        let primary = load.jobs.iter().find(|job| job.name == request.workload.primary);
        let ios = primary.map_or(0, JobRecord::ios);
        let seconds = primary.map_or(0, |job| job.active_ns) as f64 / 1e9;
        let is_spent = ios as f64 <= DRAINED * sustained_iops * seconds;
        if is_spent || request.stop.load(Ordering::Relaxed) {
            return;
        }
    }
}
