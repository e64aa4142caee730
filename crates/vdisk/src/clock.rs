//! Time, injected, so that rates and delays are tested without waiting.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

use crate::wait;

/// The time a disk lives in.
pub trait Clock: Send + Sync {
    /// Nanoseconds since a fixed instant; never goes backwards.
    fn now_ns(&self) -> u64;

    /// Returns once [`Clock::now_ns`] is at least `instant_ns`.
    fn sleep_until(&self, instant_ns: u64);
}

/// `CLOCK_MONOTONIC`.
///
/// Read through the vDSO (about 25 ns; a bare `rdtsc` would be 10 ns). It stays on the kernel's
/// clock because instants taken here are slept for on that clock, and only I/Os that carry
/// simulated time or pass a `throttle` read it at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    fn now_ns(&self) -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        // Monotonic time starts at boot: never negative, and u64 nanoseconds last 584 years.
        now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
    }

    fn sleep_until(&self, instant_ns: u64) {
        wait::sleep_until(instant_ns);
    }
}

/// A clock that moves only when told to: virtual time for tests and simulations.
#[derive(Debug, Default)]
pub struct ManualClock {
    now_ns: AtomicU64,
}

impl ManualClock {
    /// A clock that reads `now_ns`.
    pub const fn starting_at(now_ns: u64) -> Self {
        Self { now_ns: AtomicU64::new(now_ns) }
    }

    /// Moves the clock forward by `step_ns`.
    pub fn advance(&self, step_ns: u64) {
        self.now_ns.fetch_add(step_ns, Ordering::AcqRel);
    }
}

impl Clock for ManualClock {
    fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::Acquire)
    }

    /// Moves the clock to `instant_ns` at once; earlier instants leave it where it is.
    fn sleep_until(&self, instant_ns: u64) {
        self.now_ns.fetch_max(instant_ns, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotonic_time_never_goes_backwards_and_sleeping_reaches_the_instant() {
        let clock = MonotonicClock;
        let instant_ns = clock.now_ns() + 100_000;
        clock.sleep_until(instant_ns);
        assert!(clock.now_ns() >= instant_ns);
    }

    #[test]
    fn virtual_time_moves_only_forward() {
        let clock = ManualClock::starting_at(10);
        clock.advance(5);
        clock.sleep_until(12);
        assert_eq!(clock.now_ns(), 15);
        clock.sleep_until(20);
        assert_eq!(clock.now_ns(), 20);
    }
}
