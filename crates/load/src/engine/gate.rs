//! The common start: no thread begins before all are ready, and none waits for one that failed.

use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Clone, Copy)]
enum Signal {
    Wait,
    Start(u64),
    Abort,
}

struct State {
    ready: usize,
    failed: bool,
    signal: Signal,
}

/// Where the threads of a load wait for each other.
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

/// A thread's promise to arrive. Dropping it unused - an error, a panic - opens the gate for
/// nobody.
pub(crate) struct Ticket<'a> {
    gate: &'a Gate,
    used: bool,
}

impl Gate {
    /// A closed gate.
    pub(crate) fn new() -> Self {
        let state = State { ready: 0, failed: false, signal: Signal::Wait };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// One per thread.
    pub(crate) fn ticket(&self) -> Ticket<'_> {
        Ticket { gate: self, used: false }
    }

    /// Waits for `threads` arrivals, then starts them all at the instant that `start_ns` returns.
    /// `None` if one failed before it arrived; all others are sent home.
    pub(crate) fn open(&self, threads: usize, start_ns: impl FnOnce() -> u64) -> Option<u64> {
        let mut state = self.lock();
        while state.ready < threads && !state.failed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let start = if state.failed { None } else { Some(start_ns()) };
        state.signal = start.map_or(Signal::Abort, Signal::Start);
        drop(state);
        self.changed.notify_all();
        start
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket<'_> {
    /// Says "ready", and returns the start; `None` if another thread failed.
    pub(crate) fn arrive(mut self) -> Option<u64> {
        self.used = true;
        let mut state = self.gate.lock();
        state.ready += 1;
        self.gate.changed.notify_all();
        loop {
            match state.signal {
                Signal::Wait => {
                    state = self.gate.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                Signal::Start(start_ns) => return Some(start_ns),
                Signal::Abort => return None,
            }
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if !self.used {
            self.gate.lock().failed = true;
            self.gate.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_start_at_one_instant() {
        let gate = Gate::new();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let ticket = gate.ticket();
                    scope.spawn(move || ticket.arrive())
                })
                .collect();
            assert_eq!(gate.open(4, || 77), Some(77));
            assert!(threads.into_iter().all(|thread| thread.join().unwrap() == Some(77)));
        });
    }

    #[test]
    fn nobody_waits_for_a_thread_that_failed() {
        let gate = Gate::new();
        std::thread::scope(|scope| {
            let ticket = gate.ticket();
            let waiting = scope.spawn(move || ticket.arrive());
            let ticket = gate.ticket();
            let panicking = scope.spawn(move || {
                let _held = ticket;
                panic!("setup went wrong");
            });
            assert!(panicking.join().is_err());
            assert_eq!(gate.open(2, || 77), None);
            assert_eq!(waiting.join().unwrap(), None);
        });
    }
}
