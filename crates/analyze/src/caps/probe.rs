//! The seam between the search and whoever makes its probes.

use std::fmt;

use iotax_record::{Environment, LoadRecord};
use iotax_spec::Probe;

use super::processors::Processors;
use crate::facts::JobFacts;

/// Makes probes.
pub trait Prober {
    /// Drives the load of a probe and returns one observation per place, in their order.
    ///
    /// # Errors
    /// [`Ended`] if there will be no more probes; the search ends with what it has.
    fn probe(&mut self, probe: &Probe) -> Result<Vec<Observation>, Ended>;

    /// Leaves all targets alone for so long.
    ///
    /// # Errors
    /// As [`Prober::probe`].
    fn pause(&mut self, pause_ns: u64) -> Result<(), Ended>;
}

/// Why there are no more probes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The user stopped it, or the record was cut off.
    Interrupted,
    /// A target does not work; for people.
    Failed(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("interrupted"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// What came of a probe on one target.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// I/Os completed in the window.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Length of the window, in nanoseconds.
    pub active_ns: u64,
    /// Mean latency, in nanoseconds.
    pub mean_latency_ns: f64,
    /// I/Os in flight, as counted; 0 if they were not.
    pub in_flight: f64,
    /// Share of its time that the load's busiest thread computed. `None` where waiting computes
    /// too, so that it says nothing.
    pub busy: Option<f64>,
    /// What all CPUs did meanwhile. `None` as for `busy`.
    pub processors: Option<Processors>,
    /// I/Os completed in each whole second of the window.
    pub per_second_ios: Vec<u32>,
    /// I/Os that failed.
    pub errors: u64,
    /// The first error, for people.
    pub first_error: Option<String>,
}

impl Observation {
    /// From what a load driver measured on this machine.
    pub fn of(load: &LoadRecord, environment: &Environment) -> Self {
        let Some(job) = load.jobs.first() else { return Self::default() };
        let facts = JobFacts::of(job, 0, true, false);
        let active_ns = facts.active_ns.max(1) as f64;
        let threads = f64::from(facts.threads.max(1));
        // That engine waits for simulated time by looking at the clock.
        let is_spinning = facts.engine == "vdisk";
        let processors = || Processors::of(&load.system, load.window_ns, environment);
        Self {
            processors: (!is_spinning).then(processors).flatten(),
            ios: facts.ios,
            bytes: facts.bytes(),
            active_ns: facts.active_ns,
            mean_latency_ns: facts.mean_latency_ns,
            in_flight: facts.in_flight_io_ns as f64 / active_ns,
            busy: (!is_spinning).then(|| facts.cpu_ns as f64 / (threads * active_ns)),
            per_second_ios: crate::facts::per_second_ios(job),
            errors: facts.errors,
            first_error: facts.first_error,
        }
    }

    /// I/Os per second.
    pub fn iops(&self) -> f64 {
        self.ios as f64 * 1e9 / self.active_ns.max(1) as f64
    }

    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 * 1e9 / self.active_ns.max(1) as f64
    }
}
