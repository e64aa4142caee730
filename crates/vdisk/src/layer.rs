//! Open layers, and how a declared layer becomes one.

use std::sync::Arc;

use crate::clock::Clock;
use crate::error::Error;
use crate::handoff::Handoff;
use crate::io::{Io, Parcel};
use crate::stats::BackingFacts;

/// Imports for the files of layers.
pub(crate) mod prelude {
    pub(crate) use crate::error::Error;
    pub(crate) use crate::io::{Io, Op, Parcel, Request};
    pub(crate) use crate::layer::{Base, BuildPlace, Flow, OpenLayer, Recipe, WorkQueue};
    pub(crate) use crate::stats::BackingFacts;
}

/// Where an I/O goes from a layer on its way down.
pub(crate) enum Flow {
    /// To the layer below.
    Next(Parcel),
    /// Answered here: up again, from the layer above.
    Turn(Parcel),
    /// Handed to a worker thread, which goes on with the layer below.
    Hopped,
}

/// One layer of an open stack, shared by all threads.
///
/// Layers never sleep: simulated time is added to [`Io::extra_ns`].
pub(crate) trait OpenLayer: Send + Sync {
    /// Takes the I/O on its way down.
    fn down(&self, io: Parcel) -> Flow;

    /// Sees the I/O again on its way up. Called once for each I/O that `down` passed on, whether
    /// it succeeded below or not; not called for one that turned here.
    fn up(&self, io: &mut Io) {
        let _ = io;
    }

    /// Smallest aligned unit of I/O that this layer accepts, bytes, a power of two.
    fn block_bytes(&self) -> u32 {
        1
    }

    /// Does this layer transform payloads, and so need a scratch buffer in each I/O?
    fn needs_scratch(&self) -> bool {
        false
    }

    /// The queue whose worker threads carry on below this layer.
    fn work_queue(&self) -> Option<WorkQueue<'_>> {
        None
    }

    /// The data at the bottom, if this layer is a base.
    fn base(&self) -> Option<&dyn Base> {
        None
    }

    /// Counters of this layer's own, by name.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Empties caches.
    fn drop_caches(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// The queue of a layer that hands I/O to worker threads.
pub(crate) struct WorkQueue<'a> {
    pub(crate) parcels: &'a Handoff<Parcel>,
    pub(crate) workers: u32,
}

/// A layer that holds the data.
pub(crate) trait Base {
    fn size_bytes(&self) -> u64;

    /// Can its I/O wait for a device, instead of keeping a CPU busy?
    fn waits(&self) -> bool;

    /// Writes `data` at `offset` below all layers, if it is new and nobody's data are in it.
    fn fill(&self, offset: u64, data: &[u8]) {
        let _ = (offset, data);
    }

    fn facts(&self) -> BackingFacts;
}

/// Facts about the stack being built, for opening a declared layer.
pub(crate) struct BuildPlace<'a> {
    /// Position from the bottom; index of this layer's word in [`Io::notes`].
    pub(crate) index: usize,
    /// Size of the device, bytes; 0 for the base itself, which decides it.
    pub(crate) size_bytes: u64,
    pub(crate) clock: &'a Arc<dyn Clock>,
    /// Faults follow from it.
    pub(crate) seed: u64,
}

/// A declared layer that this process can open.
pub(crate) trait Recipe {
    fn build(&self, place: &BuildPlace<'_>) -> Result<Box<dyn OpenLayer>, Error>;
}
