//! Finished I/Os whose simulated time is not over yet, held back by one thread for all.
//!
//! Nobody else sleeps: the threads that serve requests go on serving, however many I/Os are held.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::num::NonZeroU64;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::thread::set_current_timer_slack;

use crate::clock::Clock;
use crate::io::Io;

/// A sleeping thread wakes up late, by 20 to 100 us in a virtual machine with an idle CPU. So the
/// sleep ends early and the rest is spun, but only for this part of the wait: the CPU belongs to
/// the load, and where I/Os are due closely after each other the CPU is not idle anyway.
const SPUN_PART: u64 = 8;
/// No wait needs more than this.
const MAX_SPIN_NS: u64 = 80_000;
/// Less than this is not worth a sleep.
const MIN_SPIN_NS: u64 = 5_000;
/// How long to spin before looking again for an I/O that is due earlier.
const LOOK_NS: u64 = 1_000;

/// An I/O, ordered by the instant at which it counts: the earliest is the greatest.
struct Due(Box<Io>);

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.ready_at_ns.cmp(&self.0.ready_at_ns)
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Due {}

struct State {
    heap: BinaryHeap<Due>,
    /// When the thread will look again by itself; 0 while it is awake.
    sleeps_until_ns: u64,
    closed: bool,
}

/// The I/Os held back.
pub(crate) struct Held {
    state: Mutex<State>,
    wake: Condvar,
    clock: Arc<dyn Clock>,
}

impl Held {
    /// Room for `capacity` I/Os without allocating.
    pub(crate) fn new(clock: Arc<dyn Clock>, capacity: usize) -> Self {
        let heap = BinaryHeap::with_capacity(capacity);
        let state = State { heap, sleeps_until_ns: 0, closed: false };
        Self { state: Mutex::new(state), wake: Condvar::new(), clock }
    }

    /// Holds `io` back until its instant; gives it back at once after [`Held::close`].
    pub(crate) fn push(&self, io: Box<Io>) -> Result<(), Box<Io>> {
        let mut state = self.lock();
        if state.closed {
            return Err(io);
        }
        // Waking the thread for a later I/O than the one it waits for would cost a system call
        // here and a context switch there, for nothing.
        let wake = io.ready_at_ns < state.sleeps_until_ns;
        state.heap.push(Due(io));
        drop(state);
        if wake {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Sleeps until at least one I/O is due and moves those that are to `due`. False once closed
    /// and empty.
    pub(crate) fn take_due(&self, due: &mut Vec<Box<Io>>) -> bool {
        let mut state = self.lock();
        let mut spin_from_ns = u64::MAX;
        loop {
            let now_ns = self.clock.now_ns();
            let everything = state.closed;
            while state.heap.peek().is_some_and(|Due(io)| everything || io.ready_at_ns <= now_ns) {
                due.extend(state.heap.pop().map(|Due(io)| io));
            }
            if !due.is_empty() || everything {
                return !due.is_empty();
            }
            state = self.sleep(state, now_ns, &mut spin_from_ns);
        }
    }

    /// Sleeps until about the first instant and then spins, from an instant that is kept in
    /// `spin_from_ns`; returns when something may be due.
    fn sleep<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        now_ns: u64,
        spin_from_ns: &mut u64,
    ) -> MutexGuard<'a, State> {
        let Some(first_ns) = state.heap.peek().map(|first| first.0.ready_at_ns) else {
            state.sleeps_until_ns = u64::MAX;
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.sleeps_until_ns = 0;
            return state;
        };
        let left_ns = first_ns - now_ns;
        if now_ns >= *spin_from_ns || left_ns <= MIN_SPIN_NS {
            drop(state);
            self.clock.sleep_until(first_ns.min(now_ns + LOOK_NS));
            return self.lock();
        }
        *spin_from_ns = first_ns - (left_ns / SPUN_PART).clamp(MIN_SPIN_NS, MAX_SPIN_NS);
        state.sleeps_until_ns = first_ns;
        let limit = Duration::from_nanos(*spin_from_ns - now_ns);
        let (mut state, waited) =
            self.wake.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner);
        state.sleeps_until_ns = 0;
        if waited.timed_out() {
            // Moves a clock that stands still until told to; on the real one it is later already.
            self.clock.sleep_until(*spin_from_ns);
        } else {
            // Woken for another one.
            *spin_from_ns = u64::MAX;
        }
        state
    }

    /// From now on nothing is held back.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_one();
    }

    /// The life of the thread that holds I/Os back: hands each to `release` when it is due.
    pub(crate) fn run(&self, mut release: impl FnMut(Box<Io>)) {
        // Without the lower slack I/Os are released some 50 us late, and no other harm is done.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        let mut due = Vec::new();
        while self.take_due(&mut due) {
            due.drain(..).for_each(&mut release);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code of ours can panic while the lock is held: a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::clock::MonotonicClock;
    use crate::handoff::Handoff;

    fn io(slot: usize, ready_at_ns: u64) -> Box<Io> {
        let port = Arc::new(Handoff::with_capacity(1));
        let mut io =
            Box::new(Io::new(slot, 1, 0, 0, port, Arc::new(ManualClock::default())).unwrap());
        io.ready_at_ns = ready_at_ns;
        io
    }

    fn slots(due: &mut Vec<Box<Io>>) -> Vec<usize> {
        due.drain(..).map(|io| io.slot).collect()
    }

    #[test]
    fn the_earliest_comes_first_and_none_before_its_instant() {
        let clock = Arc::new(ManualClock::starting_at(1));
        let held = Held::new(clock.clone(), 4);
        for (slot, ready_at_ns) in [(0, 900_000), (1, 300), (2, 30_000), (3, 300)] {
            assert!(held.push(io(slot, ready_at_ns)).is_ok());
        }
        let mut due = Vec::new();
        let mut order = Vec::new();
        while order.len() < 4 {
            assert!(held.take_due(&mut due));
            assert!(due.iter().all(|io| io.ready_at_ns <= clock.now_ns()));
            order.extend(slots(&mut due));
        }
        order[..2].sort_unstable();
        assert_eq!(order, [1, 3, 2, 0]);
    }

    #[test]
    fn an_earlier_one_wakes_the_thread_that_waits_for_a_later_one() {
        let clock = Arc::new(MonotonicClock);
        let held = Held::new(clock, 4);
        let hour_ns = 3_600_000_000_000;
        let now_ns = MonotonicClock.now_ns();
        assert!(held.push(io(0, now_ns + hour_ns)).is_ok());
        std::thread::scope(|scope| {
            let taker = scope.spawn(|| {
                let mut due = Vec::new();
                held.take_due(&mut due);
                slots(&mut due)
            });
            assert!(held.push(io(1, now_ns + 1_000_000)).is_ok());
            assert_eq!(taker.join().unwrap(), [1]);
        });
    }

    #[test]
    fn closing_releases_everything_and_holds_nothing_any_more() {
        let held = Held::new(Arc::new(ManualClock::default()), 4);
        assert!(held.push(io(0, u64::MAX)).is_ok());
        held.close();
        let mut due = Vec::new();
        assert!(held.take_due(&mut due));
        assert_eq!(slots(&mut due), [0]);
        assert!(!held.take_due(&mut due));
        assert_eq!(held.push(io(1, u64::MAX)).map_err(|io| io.slot), Err(1));
    }
}
