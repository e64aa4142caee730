//! The seam between those who want a load and those who can produce one.

use std::sync::atomic::AtomicBool;

use iotax_experiment::{IndexEnds, Job, Workload};
use iotax_record::LoadRecord;

use crate::error::Error;
use crate::live::LoadProgress;
use crate::target::IoTarget;

/// One run of a workload on one target.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub workload: &'a Workload,
    /// Which ends of its index are here.
    pub index_ends: &'a IndexEnds,
    pub target: IoTarget<'a>,
    /// Discarded start; instead of the workload's own.
    pub ramp_ns: u64,
    /// Measured window; instead of the workload's own.
    pub time_ns: u64,
    /// All offsets, sizes, gaps and data follow from it.
    pub seed: u64,
    /// Set by the user to stop early: the record then covers what there is.
    pub stop: &'a AtomicBool,
    /// For a progress display.
    pub live: Option<&'a LoadProgress>,
}

/// What was due of a job that was at it for so long; `None` of a closed loop.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(crate) fn offered_ios(job: &Job, active_ns: u64) -> Option<u64> {
    let iops = job.pace.offered_iops()?;
    Some((iops * active_ns as f64 / 1e9).round() as u64)
}

/// Called with (bytes done, bytes in all) while test files are laid out.
pub type LayoutProgress<'a> = dyn Fn(u64, u64) + 'a;

/// Runs whole workloads.
pub trait LoadDriver {
    /// Lays out what the workload needs on the target. What is there already is used as it is, so
    /// this may be called before every trial.
    ///
    /// # Errors
    /// Whatever makes the target unsuitable for the workload, before anything is written; then
    /// full disks and I/O errors; [`Error::Interrupted`] if `stop` was set.
    fn prepare(
        &self,
        workload: &Workload,
        target: IoTarget<'_>,
        progress: &LayoutProgress<'_>,
        stop: &AtomicBool,
    ) -> Result<(), Error>;

    /// Runs the workload once. Failing I/Os are part of the record.
    ///
    /// # Errors
    /// Whatever keeps the load from starting, or breaks it down.
    fn run(&self, request: &Request<'_>) -> Result<LoadRecord, Error>;
}
