//! Time, injected, so that rates and delays are tested without waiting.

use std::cell::Cell;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
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

/// A quantile of the time by which timers wake a thread late, followed by stochastic approximation
/// (Robbins and Monro, 1951): a later wake-up moves it up by `steps_up` steps, an earlier one down by
/// one, which balances where 1 wake-up in `steps_up + 1` is later.
struct Lateness {
    first_ns: u64,
    steps_up: u64,
    bounds_ns: RangeInclusive<u64>,
}

const STEP_NS: u64 = 200;
/// Beyond the bound, the scheduler gave the CPU to another thread; spinning does not help.
const P95: Lateness = Lateness { first_ns: 50_000, steps_up: 19, bounds_ns: 3_000..=150_000 };
const MEDIAN: Lateness = Lateness { first_ns: 10_000, steps_up: 1, bounds_ns: 1_000..=100_000 };

impl Lateness {
    /// What is known of the calling thread; lowers its timer slack to 1 ns on first use.
    fn known_ns(&self, of_thread: &Cell<u64>) -> u64 {
        if of_thread.get() == 0 {
            // With the usual slack, timers are 50 us late.
            let _ = set_current_timer_slack(NonZeroU64::new(1));
            of_thread.set(self.first_ns);
        }
        of_thread.get()
    }

    fn next_ns(&self, known_ns: u64, late_ns: u64) -> u64 {
        let next_ns = if late_ns > known_ns {
            known_ns + self.steps_up * STEP_NS
        } else {
            known_ns - STEP_NS
        };
        next_ns.clamp(*self.bounds_ns.start(), *self.bounds_ns.end())
    }

    /// Sleeps until `instant_ns` minus what is known; not at all if that is over.
    fn sleep(&self, of_thread: &Cell<u64>, instant_ns: u64) {
        let known_ns = self.known_ns(of_thread);
        let wake_at_ns = instant_ns.saturating_sub(known_ns);
        if MonotonicClock.now_ns() < wake_at_ns {
            sleep_on_kernel_timer(wake_at_ns);
            let late_ns = MonotonicClock.now_ns().saturating_sub(wake_at_ns);
            of_thread.set(self.next_ns(known_ns, late_ns));
        }
    }
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
        sleep_until(instant_ns);
    }
}

thread_local! {
    // Zero until first used.
    static P95_NS: Cell<u64> = const { Cell::new(0) };
    static MEDIAN_NS: Cell<u64> = const { Cell::new(0) };
}

/// Returns when `CLOCK_MONOTONIC` reads at least `instant_ns`; at once if it already does. Precise
/// to within microseconds, with as little CPU as that allows.
///
/// A sleeping thread is woken late: by the timer slack (50 us unless lowered) and by the time the
/// CPU needs to leave its idle state, a few microseconds on bare metal and 20 to 60 us in a
/// virtual machine. So: lower the slack, sleep until the 95th percentile of the lateness that this
/// thread has seen before the instant, spin the rest.
pub fn sleep_until(instant_ns: u64) {
    P95_NS.with(|of_thread| P95.sleep(of_thread, instant_ns));
    while MonotonicClock.now_ns() < instant_ns {
        std::hint::spin_loop();
    }
}

/// Returns when `CLOCK_MONOTONIC` reads about `instant_ns`, at most 100 us before it; never spins.
///
/// The timer is set early by the median of the lateness that this thread has seen.
pub fn sleep_until_about(instant_ns: u64) {
    MEDIAN_NS.with(|of_thread| {
        // A signal ends a sleep early.
        while MonotonicClock.now_ns() + MEDIAN.known_ns(of_thread) < instant_ns {
            MEDIAN.sleep(of_thread, instant_ns);
        }
    });
}

fn sleep_on_kernel_timer(instant_ns: u64) {
    let instant = Timespec {
        tv_sec: (instant_ns / 1_000_000_000).cast_signed(),
        tv_nsec: (instant_ns % 1_000_000_000).cast_signed(),
    };
    // A signal ends the sleep early; callers cover the rest.
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

    /// Of a lateness that is uniform on 0..100 us.
    fn settled_ns(of: &Lateness) -> u64 {
        let (mut known_ns, mut tail_sum) = (of.first_ns, 0);
        for index in 0..200_000_u64 {
            let late_ns = index.wrapping_mul(7_919) % 100_000;
            known_ns = of.next_ns(known_ns, late_ns);
            if index >= 100_000 {
                tail_sum += known_ns;
            }
        }
        tail_sum / 100_000
    }

    #[test]
    fn lateness_settles_at_its_quantile() {
        assert!((90_000..100_000).contains(&settled_ns(&P95)));
        assert!((45_000..55_000).contains(&settled_ns(&MEDIAN)));
    }

    #[test]
    fn lateness_stays_in_its_bounds() {
        for of in [&P95, &MEDIAN] {
            let [low, high] = [*of.bounds_ns.start(), *of.bounds_ns.end()];
            assert_eq!([of.next_ns(low, 0), of.next_ns(high, u64::MAX)], [low, high]);
        }
    }

    #[test]
    fn a_sleep_until_about_an_instant_ends_at_most_100_us_before_it() {
        for wait_ns in [0, 5_000, 50_000, 300_000, 1_000_000] {
            let instant_ns = MonotonicClock.now_ns() + wait_ns;
            sleep_until_about(instant_ns);
            assert!(MonotonicClock.now_ns() + 100_000 >= instant_ns, "{wait_ns}");
        }
    }

    #[test]
    fn an_instant_in_the_past_returns_at_once() {
        sleep_until(0);
    }
}
