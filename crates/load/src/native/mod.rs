//! The native load engines.

pub(crate) mod access;
pub(crate) mod buffers;
pub(crate) mod clock;
pub(crate) mod coordinator;
pub(crate) mod counts;
pub(crate) mod drive;
pub(crate) mod engines;
pub(crate) mod gate;
pub(crate) mod io;
pub(crate) mod io_errors;
pub(crate) mod merge;
pub(crate) mod pace;
pub(crate) mod setup;
pub(crate) mod sigbus;
pub(crate) mod usage;
pub(crate) mod window;

mod affinity;
mod calibrate;
mod fill;
mod index_threads;
#[cfg(test)]
pub(crate) mod testing;
mod warm;
mod worker;

pub use calibrate::calibrate;
pub(crate) use coordinator::invalidate;
pub use fill::Filler;

use std::sync::atomic::AtomicBool;

use iotax_record::LoadRecord;
use iotax_spec::Workload;
use iotax_vdisk::IoTarget;

use crate::driver::{LoadDriver, Progress, Request};
use crate::error::Error;
use crate::layout;
use crate::tree;

/// Drives I/O from this process: the engines `null`, `psync`, `mmap`, `io_uring`, `vdisk` and `metadata`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Native;

impl LoadDriver for Native {
    fn prepare(
        &self,
        workload: &Workload,
        target: IoTarget<'_>,
        progress: &Progress<'_>,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        tree::prepare(workload, target)?;
        layout::prepare(workload, target, progress, stop)
    }

    fn run(&self, request: &Request<'_>) -> Result<LoadRecord, Error> {
        coordinator::run(request)
    }
}
