//! Time, injected, so that rates and delays are tested without waiting.

use std::cell::Cell;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::thread::{ClockId, Timespec, clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::clock_gettime;

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

const STEP_NS: u64 = 200;
const STEPS_UP: u64 = 19;
const MIN_MARGIN_NS: u64 = 3_000;
/// A longer delay means that the scheduler gave the CPU to another thread; spinning does not help.
const MAX_MARGIN_NS: u64 = 150_000;

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
        sleep_until(instant_ns);
    }
}

thread_local! {
    /// Zero until the thread's timer slack has been lowered.
    static MARGIN_NS: Cell<u64> = const { Cell::new(0) };
}

/// Returns when `CLOCK_MONOTONIC` reads at least `instant_ns`; at once if it already does. Precise
/// to within microseconds, with as little CPU as that allows.
///
/// A sleeping thread is woken late: by the timer slack (50 us unless lowered) and by the time the
/// CPU needs to leave its idle state, a few microseconds on bare metal and 20 to 60 us in a
/// virtual machine. So: lower the slack, sleep until `margin` before the instant, spin the rest.
///
/// The margin follows the 95th percentile of the lateness that this thread has seen, by
/// stochastic approximation (Robbins and Monro, 1951): late beyond the margin moves it up by 19
/// steps, otherwise down by one, which balances where 1 wake-up in 20 comes too late.
///
/// Lowers the calling thread's timer slack to 1 ns on first use.
pub fn sleep_until(instant_ns: u64) {
    let clock = MonotonicClock;
    MARGIN_NS.with(|cell| {
        let mut margin_ns = cell.get();
        if margin_ns == 0 {
            // Without the lower slack waiting still ends at the right instant, by a longer spin.
            let _ = set_current_timer_slack(NonZeroU64::new(1));
            margin_ns = 50_000;
            cell.set(margin_ns);
        }
        let wake_at_ns = instant_ns.saturating_sub(margin_ns);
        if clock.now_ns() < wake_at_ns {
            sleep_on_kernel_timer(wake_at_ns);
            let late_ns = clock.now_ns().saturating_sub(wake_at_ns);
            cell.set(next_margin_ns(margin_ns, late_ns));
        }
    });
    while clock.now_ns() < instant_ns {
        std::hint::spin_loop();
    }
}

fn next_margin_ns(margin_ns: u64, late_ns: u64) -> u64 {
    let next_ns =
        if late_ns > margin_ns { margin_ns + STEPS_UP * STEP_NS } else { margin_ns - STEP_NS };
    next_ns.clamp(MIN_MARGIN_NS, MAX_MARGIN_NS)
}

fn sleep_on_kernel_timer(instant_ns: u64) {
    let instant = Timespec {
        tv_sec: (instant_ns / 1_000_000_000).cast_signed(),
        tv_nsec: (instant_ns % 1_000_000_000).cast_signed(),
    };
    // A signal ends the sleep early; the spin that follows covers the rest.
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &instant);
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

#[cfg(test)]
mod monotonic_clock_tests {
    use super::*;

    #[test]
    fn monotonic_time_never_goes_backwards_and_sleeping_reaches_the_instant() {
        let clock = MonotonicClock;
        let instant_ns = clock.now_ns() + 100_000;
        clock.sleep_until(instant_ns);
        assert!(clock.now_ns() >= instant_ns);
    }

    #[test]
    fn the_margin_settles_where_one_wake_up_in_twenty_is_too_late() {
        let mut margin_ns = 50_000;
        // Lateness uniform on 0..100 us: the 95th percentile is 95 us.
        let mut tail_sum = 0;
        for index in 0..200_000_u64 {
            let late_ns = index.wrapping_mul(7_919) % 100_000;
            margin_ns = next_margin_ns(margin_ns, late_ns);
            if index >= 100_000 {
                tail_sum += margin_ns;
            }
        }
        let mean_ns = tail_sum / 100_000;
        assert!((90_000..100_000).contains(&mean_ns), "{mean_ns}");
    }

    #[test]
    fn the_margin_stays_in_its_bounds() {
        assert_eq!(next_margin_ns(MIN_MARGIN_NS, 0), MIN_MARGIN_NS);
        assert_eq!(next_margin_ns(MAX_MARGIN_NS, u64::MAX), MAX_MARGIN_NS);
    }

    #[test]
    fn an_instant_in_the_past_returns_at_once() {
        sleep_until(0);
    }
}
