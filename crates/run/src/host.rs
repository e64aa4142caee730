//! Where trials run: the seam between the trial loop and the machines that it measures.
//!
//! What goes over it is owned and serialisable, so that the other side may be this process
//! ([`crate::Local`]), an agent on another host ([`crate::agent::Remote`]), or a script in virtual time.

use std::path::Path;
use std::time::Duration;

use iotax_experiment::{Arm, Driver, IndexEnds, Target, Workload};
use iotax_inspect::{NetworkSubject, ProbeOptions};
use iotax_load::LayoutProgress;
use iotax_record::{Counters, HostRecord, HostRole, LoadRecord, OtherPrograms, Site};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::way::subject;

/// Arms that come up, and go down again.
pub trait Arms {
    /// Brings arm `arm` (index in the spec) up, if it is not up already.
    ///
    /// # Errors
    /// Whatever keeps it, or the arm before it from going down.
    fn up(&mut self, arm: usize) -> Result<Files, Error>;

    /// What the target of arm `arm` turned out to be. Of arms that take turns, more is known after
    /// their first.
    fn site(&self, arm: usize) -> &Site;

    /// Whether arm `arm` is made anew for its turns, so that its files must be laid out again.
    fn is_made_anew(&self, arm: usize) -> bool;

    /// Takes all arms down.
    ///
    /// # Errors
    /// The first thing that could not be removed. It stays in the journal of the host.
    fn down(self: Box<Self>) -> Result<(), Error>;
}

/// Performs trials on arms that are up.
pub trait Runner {
    /// Lays out the files of `workloads` on arm `arm`. `progress` is told bytes done, and in all.
    ///
    /// # Errors
    /// Whatever makes the target unsuitable for them; full disks and I/O errors; if it was stopped.
    fn prepare(
        &mut self,
        arm: usize,
        driver: Driver,
        workloads: &[&Workload],
        progress: &LayoutProgress<'_>,
    ) -> Result<(), Error>;

    /// Performs one trial.
    ///
    /// # Errors
    /// If there was none: a load that fails is part of what was measured.
    fn trial(&mut self, request: &TrialRequest) -> Result<Measured, Error>;

    /// Performs trials on different arms, at the same time where they are on hosts of their own.
    fn trials(&mut self, requests: &[TrialRequest]) -> Vec<Result<Measured, Error>> {
        requests.iter().map(|request| self.trial(request)).collect()
    }

    /// Looks at the programs that run beside the load, before the first trial.
    fn watch_programs(&mut self) {}

    /// What other programs used since then; `None` where trials are not run by this process.
    fn other_programs(&mut self) -> Option<OtherPrograms> {
        None
    }

    /// Whether it can drive load on several arms at the same time, side by side on one host.
    fn drives_side_by_side(&self) -> bool {
        false
    }

    /// Performs several trials at the same time, without draining, on arms that may be up side by
    /// side.
    ///
    /// # Errors
    /// If an arm could not be brought up: a load that fails is one of what is returned.
    fn together(&mut self, requests: &[TrialRequest]) -> Result<Vec<Load>, Error> {
        self.trials(requests).into_iter().map(|measured| Ok(measured?.load)).collect()
    }
}

/// Where an experiment is run: a machine, or several that pass for one.
pub trait Host: Arms + Runner {}

impl<T: Arms + Runner> Host for T {}

/// Looks at this machine: what lies under the targets of `arms` that are paths, and what the load
/// generator itself costs.
pub fn here(arms: &[Arm], role: HostRole) -> HostRecord {
    let environment = iotax_inspect::environment();
    let paths: Vec<&Path> =
        arms.iter().flat_map(|arm| arm.target.each()).filter_map(Target::path).collect();
    let network: Vec<NetworkSubject> =
        arms.iter().flat_map(|arm| arm.target.each()).filter_map(subject).collect();
    let machine = (!paths.is_empty() || !network.is_empty()).then(|| {
        let environment = Some(environment.clone());
        // A measurement has counters of its own, and should not wait for these.
        let look = ProbeOptions {
            metadata: None,
            watch: Duration::ZERO,
            environment,
            ..ProbeOptions::default()
        };
        Box::new(iotax_inspect::machine(&paths, &network, &look))
    });
    HostRecord {
        id: iotax_inspect::host_id(),
        role,
        environment,
        generator_ns_per_io: Some(iotax_load::calibrate()),
        io_uring: Some(iotax_load::io_uring_is_allowed()),
        machine,
        instance: None,
    }
}

/// The files that workloads need on an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Files {
    /// As they were left.
    AreThere,
    /// To be laid out: the arm was made anew.
    Missing,
}

/// One run of a workload on one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRequest {
    /// The arm, index in the spec.
    pub arm: usize,
    /// What drives its load.
    pub driver: Driver,
    /// What is to be done.
    pub task: Task,
    /// Which ends of an index this host is.
    #[serde(default)]
    pub index_ends: IndexEnds,
    /// Discarded start, in nanoseconds; instead of the workload's own.
    pub ramp_ns: u64,
    /// Measured window, in nanoseconds; instead of the workload's own.
    pub time_ns: u64,
    /// All offsets, sizes, gaps and data follow from it.
    pub seed: u64,
    /// What the arm keeps up once its burst credits are spent: those that came back are spent
    /// before the trial.
    pub sustained_iops: Option<f64>,
}

/// What a trial does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    Run(Workload),
    /// Writes once all that the workload uses.
    Fill(Workload),
}

impl Task {
    /// How many jobs the workload has.
    pub(crate) fn jobs(&self) -> usize {
        let (Self::Run(workload) | Self::Fill(workload)) = self;
        workload.jobs.len()
    }
}

/// What a load came to, or why there is none.
pub type Load = Result<LoadRecord, String>;

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Time for spending burst credits before it, in nanoseconds.
    pub drained_ns: u64,
    /// What the load came to.
    pub load: Load,
    /// What the host's kernel counted meanwhile.
    pub counters: Option<Counters>,
}
