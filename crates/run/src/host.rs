//! The interface between the trial loop and the machines that it measures.
//!
//! All data that passes it is owned and serialisable, so the other side may be this process
//! ([`crate::Local`]), an agent on another host ([`crate::agent::Remote`]), or a script in virtual
//! time.

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
    /// If it cannot be brought up, or the previous arm cannot be taken down.
    fn up(&mut self, arm: usize) -> Result<Files, Error>;

    /// The facts about the target of arm `arm`. For arms that take turns, more is known after their
    /// first turn.
    fn site(&self, arm: usize) -> &Site;

    /// Whether arm `arm` is rebuilt for each of its turns, so that its files must be laid out
    /// again.
    fn is_made_anew(&self, arm: usize) -> bool;

    /// Takes all arms down.
    ///
    /// # Errors
    /// The first thing that could not be removed. It stays in the journal of the host.
    fn down(self: Box<Self>) -> Result<(), Error>;
}

/// Performs trials on arms that are up.
pub trait Runner {
    /// Lays out the files of `workloads` on arm `arm`. `progress` gets bytes done, and in all.
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

    /// Records the other running programs before the first trial.
    fn watch_programs(&mut self) {}

    /// What other programs used since then; `None` if this process does not run the trials.
    fn other_programs(&mut self) -> Option<OtherPrograms> {
        None
    }

    /// Whether it can load several arms at the same time on one host.
    fn drives_side_by_side(&self) -> bool {
        false
    }

    /// Performs several trials at the same time, without draining, on arms that can be up together.
    ///
    /// # Errors
    /// If an arm could not be brought up: a load that fails is one of what is returned.
    fn together(&mut self, requests: &[TrialRequest]) -> Result<Vec<Load>, Error> {
        self.trials(requests).into_iter().map(|measured| Ok(measured?.load)).collect()
    }
}

/// The host of an experiment: one machine, or several that act as one.
pub trait Host: Arms + Runner {}

impl<T: Arms + Runner> Host for T {}

/// Examines this machine: the storage under path targets of `arms`, and the cost of the load
/// generator itself.
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
    /// The part of a recording to replay, instead of all of it.
    #[serde(default)]
    pub part: Option<u32>,
    /// All offsets, sizes, gaps and data follow from it.
    pub seed: u64,
    /// The arm's sustained rate without burst credits. Credits that were earned again are spent
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

/// The record of a load, or why there is none.
pub type Load = Result<LoadRecord, String>;

/// The result of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Time for spending burst credits before it, in nanoseconds.
    pub drained_ns: u64,
    /// The record of the load.
    pub load: Load,
    /// The counters of the host's kernel during the trial.
    pub counters: Option<Counters>,
}
