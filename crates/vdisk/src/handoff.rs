//! Handing something to another thread: a queue that lets its taker sleep.
//!
//! A general channel spins for a while before it sleeps, which would make the hop through a work
//! queue look cheaper than the kernel's and burn the CPU under measurement. Here every taker that
//! finds nothing sleeps at once, and a sleeper costs its waker one system call: the price that a
//! work queue has. With nobody asleep there is no system call.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

struct State<T> {
    items: VecDeque<T>,
    sleepers: usize,
    closed: bool,
    /// The most items there can be at a time.
    expected: usize,
}

/// First in, first out, any number of threads on both sides.
pub(crate) struct Handoff<T> {
    state: Mutex<State<T>>,
    wake: Condvar,
}

impl<T> Handoff<T> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let state = State {
            items: VecDeque::with_capacity(capacity),
            sleepers: 0,
            closed: false,
            expected: 0,
        };
        Self { state: Mutex::new(state), wake: Condvar::new() }
    }

    /// Makes room for `more` items at a time than before, so that pushing does not allocate.
    pub(crate) fn expect_more(&self, more: usize) {
        let mut state = self.lock();
        state.expected += more;
        let missing = state.expected - state.items.len().min(state.expected);
        state.items.reserve(missing);
    }

    /// Takes back an [`Handoff::expect_more`].
    pub(crate) fn expect_fewer(&self, fewer: usize) {
        self.lock().expected -= fewer;
    }

    pub(crate) fn push(&self, item: T) {
        let mut state = self.lock();
        state.items.push_back(item);
        let wake = state.sleepers > 0;
        drop(state);
        if wake {
            self.wake.notify_one();
        }
    }

    pub(crate) fn try_take(&self) -> Option<T> {
        self.lock().items.pop_front()
    }

    /// Sleeps until there is an item; `None` once closed and empty.
    pub(crate) fn take(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            if state.closed {
                return None;
            }
            state.sleepers += 1;
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.sleepers -= 1;
        }
    }

    /// Sleeps until there is an item, at most for `limit`.
    pub(crate) fn take_within(&self, limit: Duration) -> Option<T> {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if state.closed || left.is_zero() {
                return None;
            }
            state.sleepers += 1;
            let (woken, _) =
                self.wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.sleepers -= 1;
        }
    }

    /// No more items will come; takers drain what is there.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_all();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // No code of ours can panic while the lock is held: a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn every_item_is_taken_once_by_some_taker() {
        let handoff = Arc::new(Handoff::with_capacity(4));
        let takers: Vec<_> = (0..4)
            .map(|_| {
                let handoff = Arc::clone(&handoff);
                std::thread::spawn(move || {
                    std::iter::from_fn(|| handoff.take()).collect::<Vec<_>>()
                })
            })
            .collect();
        let items = if cfg!(miri) { 100 } else { 10_000 };
        for item in 0..items {
            handoff.push(item);
        }
        handoff.close();
        let mut taken: Vec<i32> =
            takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect();
        taken.sort_unstable();
        assert_eq!(taken, (0..items).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_comes_within_the_limit() {
        let handoff = Handoff::<u8>::with_capacity(1);
        assert_eq!(handoff.take_within(Duration::from_micros(10)), None);
        handoff.push(3);
        assert_eq!(handoff.take_within(Duration::ZERO), Some(3));
        assert_eq!(handoff.try_take(), None);
    }
}
