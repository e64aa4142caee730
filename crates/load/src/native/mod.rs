//! The native load engines.

pub mod access;
pub mod buffers;
pub mod clock;
pub mod coordinator;
pub mod counts;
pub mod drive;
pub mod engines;
pub mod gate;
pub mod io;
pub mod io_errors;
pub mod merge;
pub mod pace;
pub mod setup;
pub mod sigbus;
pub mod usage;
pub mod window;

mod affinity;
mod calibrate;
mod fill;
mod index_threads;
#[cfg(test)]
pub mod testing;
mod warm;
mod worker;

pub use calibrate::calibrate;
pub use coordinator::invalidate;
pub use fill::Filler;

use std::sync::atomic::AtomicBool;

use iotax_record::LoadRecord;
use iotax_spec::Workload;

use crate::driver::{LoadDriver, Progress, Request, Target};
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
        target: Target<'_>,
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
