//! Time, injected, so that rates and delays are tested without waiting.

use std::sync::atomic::{AtomicU64, Ordering};

/// The time a disk lives in.
pub trait Clock: Send + Sync {
    /// Nanoseconds since a fixed instant; never goes backwards.
    fn now_ns(&self) -> u64;

    /// Returns once [`Clock::now_ns`] is at least `instant_ns`.
    fn sleep_until(&self, instant_ns: u64);
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
    fn virtual_time_moves_only_forward() {
        let clock = ManualClock::starting_at(10);
        clock.advance(5);
        clock.sleep_until(12);
        assert_eq!(clock.now_ns(), 15);
        clock.sleep_until(20);
        assert_eq!(clock.now_ns(), 20);
    }
}
