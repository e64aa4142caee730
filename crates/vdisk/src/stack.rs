//! The walk: down the layers until one answers, and up again.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::io::Parcel;
use crate::layer::{Flow, OpenLayer};

/// The layers of an open disk, bottom first.
pub(crate) struct Stack {
    pub(crate) layers: Box<[Box<dyn OpenLayer>]>,
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use rustix::io::Errno;

    use super::*;
    use crate::clock::ManualClock;
    use crate::handoff::Handoff;
    use crate::io::{Io, Port, Request};
    use crate::layer::WorkQueue;

    struct Hop(Handoff<Parcel>);

    impl OpenLayer for Hop {
        fn down(&self, io: Parcel) -> Flow {
            self.0.push(io);
            Flow::Hopped
        }

        fn work_queue(&self) -> Option<WorkQueue<'_>> {
            Some(WorkQueue { parcels: &self.0, workers: 1 })
        }
    }

    /// Answers, or panics on every second I/O.
    struct Bomb(AtomicU64);

    impl OpenLayer for Bomb {
        fn down(&self, io: Parcel) -> Flow {
            assert!(self.0.fetch_add(1, Ordering::Relaxed).is_multiple_of(2), "a layer's bug");
            Flow::Turn(io)
        }
    }

    fn parcel(slot: usize, port: &Arc<Handoff<Box<Io>>>) -> Parcel {
        let clock = Arc::new(ManualClock::default());
        let port = Arc::clone(port) as Arc<dyn Port>;
        let mut io = Io::new(slot, 2, 0, 0, port, clock).unwrap();
        io.start(Request::flush());
        Parcel::new(Box::new(io))
    }

    #[test]
    fn a_panic_below_a_queue_fails_the_io_and_the_worker_goes_on() {
        let hop = Hop(Handoff::with_capacity(4));
        let stack = Stack { layers: Box::new([Box::new(Bomb(AtomicU64::new(0))), Box::new(hop)]) };
        let port = Arc::new(Handoff::with_capacity(4));
        for slot in 0..4 {
            assert!(stack.walk(parcel(slot, &port)).is_none());
        }
        stack.close_queues();
        stack.work(1);
        let results: Vec<_> =
            std::iter::from_fn(|| port.try_take()).map(|io| (io.slot, io.result)).collect();
        let (ok, failed) = (Ok(0), Err(Errno::IO));
        assert_eq!(results, [(0, ok), (1, failed), (2, ok), (3, failed)]);
    }

    #[test]
    fn an_io_left_in_a_queue_that_is_torn_down_comes_back_failed() {
        let hop = Hop(Handoff::with_capacity(1));
        let stack = Stack { layers: Box::new([Box::new(Bomb(AtomicU64::new(0))), Box::new(hop)]) };
        let port = Arc::new(Handoff::with_capacity(1));
        assert!(stack.walk(parcel(0, &port)).is_none());
        drop(stack);
        assert_eq!(port.try_take().map(|io| io.result), Some(Err(Errno::IO)));
    }
}
