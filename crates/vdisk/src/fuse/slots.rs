//! The slots: one I/O with its buffer for each request in flight, made when first needed and
//! reused ever after.
//!
//! Last in, first out, so that a light load keeps using the few buffers that are in the CPU's
//! caches, and memory is only touched for as many as were ever in flight together.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::io::Io;

struct State {
    free: Vec<Box<Io>>,
    made: usize,
    waiting: usize,
}

/// A bounded pool of I/Os.
pub(crate) struct Slots {
    state: Mutex<State>,
    came_home: Condvar,
    limit: usize,
}

impl Slots {
    /// At most `limit` I/Os.
    pub(crate) fn new(limit: usize) -> Self {
        let state = State { free: Vec::with_capacity(limit), made: 0, waiting: 0 };
        Self { state: Mutex::new(state), came_home: Condvar::new(), limit }
    }

    /// A free I/O: `make` makes the one with the given slot number if none is; sleeps while all
    /// are in flight.
    pub(crate) fn take(&self, make: impl FnOnce(usize) -> Box<Io>) -> Box<Io> {
        let mut state = self.lock();
        loop {
            if let Some(io) = state.free.pop() {
                return io;
            }
            if state.made < self.limit {
                state.made += 1;
                let slot = state.made - 1;
                drop(state);
                return make(slot);
            }
            state = self.sleep(state);
        }
    }

    /// Takes an I/O back.
    pub(crate) fn give(&self, io: Box<Io>) {
        let mut state = self.lock();
        state.free.push(io);
        let wake = state.waiting > 0;
        drop(state);
        if wake {
            self.came_home.notify_all();
        }
    }

    /// Waits until all I/Os are back, and frees them.
    pub(crate) fn clear(&self) {
        let mut state = self.lock();
        while state.free.len() < state.made {
            state = self.sleep(state);
        }
        state.made = 0;
        state.free.clear();
    }

    fn sleep<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.waiting += 1;
        state = self.came_home.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code of ours can panic while the lock is held: a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::clock::ManualClock;
    use crate::handoff::Handoff;

    fn io(slot: usize) -> Box<Io> {
        let port = Arc::new(Handoff::with_capacity(1));
        Box::new(Io::new(slot, 1, 0, 0, port, Arc::new(ManualClock::default())).unwrap())
    }

    #[test]
    fn the_last_one_back_is_the_next_one_out() {
        let slots = Slots::new(3);
        let [first, second] = [slots.take(io), slots.take(io)];
        assert_eq!((first.slot, second.slot), (0, 1));
        slots.give(second);
        slots.give(first);
        assert_eq!(slots.take(io).slot, 0);
        assert_eq!(slots.take(io).slot, 1);
        assert_eq!(slots.take(io).slot, 2);
    }

    #[test]
    fn taking_beyond_the_limit_and_clearing_wait_for_one_to_come_home() {
        let slots = Slots::new(1);
        let only = slots.take(io);
        let given = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let taker = scope.spawn(|| {
                let io = slots.take(io);
                assert!(given.load(Ordering::Acquire));
                slots.give(io);
            });
            let clearer = scope.spawn(|| {
                slots.clear();
                assert!(given.load(Ordering::Acquire));
            });
            given.store(true, Ordering::Release);
            slots.give(only);
            taker.join().unwrap();
            clearer.join().unwrap();
        });
    }
}
