//! The walk: down the layers until one answers, and up again.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::io::Parcel;
use crate::layer::{Flow, Layer};

/// The layers of an open disk, bottom first.
pub(crate) struct Stack {
    pub(crate) layers: Box<[Box<dyn Layer>]>,
}

impl Stack {
    /// Walks from the top. `None`: a worker has the I/O and will deliver it.
    pub(crate) fn walk(&self, io: Parcel) -> Option<Parcel> {
        self.walk_below(self.layers.len(), io)
    }

    /// Walks down from the layer below `index`, and all the way up.
    fn walk_below(&self, index: usize, mut io: Parcel) -> Option<Parcel> {
        let mut turned_at = None;
        for (at, layer) in self.layers[..index].iter().enumerate().rev() {
            match layer.down(io) {
                Flow::Next(onward) => io = onward,
                Flow::Turn(answered) => {
                    io = answered;
                    turned_at = Some(at);
                    break;
                }
                Flow::Hopped => return None,
            }
        }
        let turned_at = turned_at?;
        io.deepest = turned_at;
        for layer in &self.layers[turned_at + 1..] {
            layer.up(&mut io);
        }
        Some(io)
    }

    /// The life of a worker thread of the queue at `index`: until the queue is closed and empty.
    ///
    /// An I/O goes up through the layers *above* the queue here as well, as a bio's `end_io` runs
    /// where the bio completes; the submitter only picks up the result.
    pub(crate) fn work(&self, index: usize) {
        let Some(queue) = self.layers[index].work_queue() else { return };
        while let Some(io) = queue.parcels.take() {
            // A panic drops the parcel, which fails the I/O back to its submitter. The worker
            // goes on: layers hold no state that a panic can leave half-changed.
            let walked = catch_unwind(AssertUnwindSafe(|| self.walk_below(index, io)));
            if let Ok(Some(io)) = walked {
                io.deliver();
            }
        }
    }

    /// Lets the worker threads of every queue finish.
    pub(crate) fn close_queues(&self) {
        for queue in self.layers.iter().filter_map(|layer| layer.work_queue()) {
            queue.parcels.close();
        }
    }
}
