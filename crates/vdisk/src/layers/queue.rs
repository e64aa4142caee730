//! `queue`: a hop through a work queue, as dm-crypt's kcryptd makes.
//!
//! Each I/O is handed to one of `workers` threads, which takes it through the layers below, and up
//! again all the way; the submitter picks up the result. So one I/O costs two hand-overs between
//! threads: a wake-up of a sleeping worker and, if it waits, one of the submitter.
//!
//! dm-crypt sends a write to kcryptd before it is encrypted, and a read after it has come from the
//! device. Where layers do real work decides where the CPU time goes:
//!
//! | stack | a write is encrypted by | a read is decrypted by | like dm-crypt |
//! |---|---|---|---|
//! | `file + aes + queue` | a worker | a worker | as it comes: both through the work queue |
//! | `file + queue + aes` | the submitter | a worker | with `no_write_workqueue` |
//! | `file + aes` | the submitter | the submitter | with both workqueues off |
//!
//! One difference remains: the file is read by the worker, not by the submitter, since reading a
//! file blocks, and a kernel's submission does not.

use iotax_layers::Queue;

use crate::handoff::Handoff;
use crate::layer::prelude::*;

const NAME: &str = "queue";
const MAX_WORKERS: u32 = 1024;

impl Recipe for Queue {
    fn build(&self, _place: &BuildPlace<'_>) -> Result<Box<dyn OpenLayer>, Error> {
        let is_possible = (1..=MAX_WORKERS).contains(&self.workers);
        Error::demand(is_possible, NAME, "workers", self.workers, "1 to 1024")?;
        Ok(Box::new(OpenQueue { workers: self.workers, parcels: Handoff::with_capacity(0) }))
    }
}

struct OpenQueue {
    workers: u32,
    parcels: Handoff<Parcel>,
}

impl OpenLayer for OpenQueue {
    fn down(&self, io: Parcel) -> Flow {
        self.parcels.push(io);
        Flow::Hopped
    }

    fn work_queue(&self) -> Option<WorkQueue<'_>> {
        Some(WorkQueue { parcels: &self.parcels, workers: self.workers })
    }
}
