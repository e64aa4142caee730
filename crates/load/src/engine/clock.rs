//! Time as the hot path reads it.

use iotax_vdisk::{Clock, MonotonicClock, sleep_until};

/// The time stamp counter, tied to `CLOCK_MONOTONIC` when made.
///
/// One reading costs a `rdtsc` and a multiply-and-shift, about half of `clock_gettime`. The tie is
/// renewed for every trial: the kernel slews its clock by parts per million, which over a trial of
/// a minute stays below a millisecond. Where the counter cannot be trusted, `quanta` falls back
/// to `CLOCK_MONOTONIC` itself.
#[derive(Debug, Clone)]
pub(crate) struct TscClock {
    counter: quanta::Clock,
    anchor_raw: u64,
    anchor_ns: u64,
}

impl TscClock {
    /// Calibrates (once per process, some milliseconds) and ties the counter to the clock.
    pub(crate) fn anchored_now() -> Self {
        let counter = quanta::Clock::new();
        Self { anchor_raw: counter.raw(), anchor_ns: MonotonicClock.now_ns(), counter }
    }
}

impl Clock for TscClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.anchor_ns + self.counter.delta_as_nanos(self.anchor_raw, self.counter.raw())
    }

    fn sleep_until(&self, instant_ns: u64) {
        let left_ns = instant_ns.saturating_sub(self.now_ns());
        sleep_until(MonotonicClock.now_ns() + left_ns);
        // The two clocks may differ by some nanoseconds after a long sleep.
        while self.now_ns() < instant_ns {
            std::hint::spin_loop();
        }
    }
}
