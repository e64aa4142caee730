//! Implements the waits of replay threads: for other threads, for a point in time, and for the end.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

use iotax_vdisk::sleep_until_about;
use rustix::thread::{clock_nanosleep_absolute, futex};
use rustix::time::{ClockId, Timespec};

use crate::counters::clock_ns;

/// Maximum wait before a thread checks whether the replay has ended.
const LOOK_NS: u64 = 50_000_000;

pub(super) fn now_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

/// CPU time that this thread has used.
pub(super) fn cpu_now_ns() -> u64 {
    clock_ns(ClockId::ThreadCPUTime)
}

/// What ends a replay before its last node.
pub(super) struct Halt<'a> {
    pub user: &'a AtomicBool,
    /// A thread failed, or the trace could not be read.
    pub broken: AtomicBool,
    /// All threads except timer-driven ones have finished.
    pub ended: AtomicBool,
    /// Threads skip think times, to finish what is left.
    pub hurried: AtomicBool,
    /// All threads have finished, so readers must end.
    has_no_threads: AtomicBool,
    /// The time is up.
    pub limit_ns: AtomicU64,
}

impl<'a> Halt<'a> {
    pub(super) const fn new(user: &'a AtomicBool) -> Self {
        Self {
            user,
            broken: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            hurried: AtomicBool::new(false),
            has_no_threads: AtomicBool::new(false),
            limit_ns: AtomicU64::new(u64::MAX),
        }
    }

    pub(super) fn hurries(&self) -> bool {
        self.hurried.load(Ordering::Relaxed)
    }

    pub(super) fn end_reading(&self) {
        self.has_no_threads.store(true, Ordering::Relaxed);
    }

    /// For readers.
    pub(super) fn ends_reading(&self) -> bool {
        self.has_no_threads.load(Ordering::Relaxed) || self.is_raised()
    }

    pub(super) fn is_raised(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
            || self.broken.load(Ordering::Relaxed)
            || self.user.load(Ordering::Relaxed)
    }

    pub(super) fn is_over(&self, now_ns: u64) -> bool {
        now_ns >= self.limit_ns.load(Ordering::Relaxed) || self.is_raised()
    }

    /// Waits until about `until_ns`; false if the replay is over before that.
    ///
    /// It can end up to 100 us early. To spin until then would take CPU time from the other threads of
    /// the replay.
    pub(super) fn wait_until(&self, until_ns: u64) -> bool {
        loop {
            let now_ns = now_ns();
            if self.is_over(now_ns) {
                return false;
            }
            let left_ns = until_ns.saturating_sub(now_ns);
            if left_ns == 0 || self.hurries() {
                return true;
            }
            if left_ns <= LOOK_NS {
                sleep_until_about(until_ns);
                return !self.is_over(self::now_ns());
            }
            // An early end is noticed above.
            let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(now_ns + LOOK_NS));
        }
    }

    /// Uses CPU time until the thread has used this much; false if the replay is over before that.
    pub(super) fn burn_until(&self, cpu_ns: u64) -> bool {
        while cpu_now_ns() < cpu_ns && !self.hurries() {
            if self.is_raised() {
                return false;
            }
        }
        true
    }
}

fn timespec(time_ns: u64) -> Timespec {
    let [seconds, rest] = [time_ns / 1_000_000_000, time_ns % 1_000_000_000];
    Timespec { tv_sec: seconds.cast_signed(), tv_nsec: rest.cast_signed() }
}

/// The signals that a track has sent. On a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Signals {
    count: AtomicU64,
    /// When the last was sent.
    sent_ns: AtomicU64,
    /// The low bits of the count, for the kernel.
    word: AtomicU32,
    waiting: AtomicU32,
}

/// How a wait for a signal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    /// It had been sent before.
    Not,
    Until {
        /// When it was sent, or when the maximum wait expired.
        time_ns: u64,
        since_ns: u64,
        now_ns: u64,
    },
    /// The replay is over.
    Over,
}

impl Signals {
    /// Only the thread of the track does so.
    pub(super) fn send(&self, now_ns: u64) {
        let count = self.count.load(Ordering::Relaxed) + 1;
        self.sent_ns.store(now_ns, Ordering::Relaxed);
        self.count.store(count, Ordering::Release);
        self.word.store(low(count), Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            let everyone = u32::MAX >> 1;
            // Without a waiter there is nothing to do, and nothing else can go wrong.
            let _ = futex::wake_bitset(&self.word, futex::Flags::PRIVATE, everyone, bit(count));
        }
    }

    /// Waits until `count` signals were sent, or until `until_ns`.
    pub(super) fn wait(&self, count: u64, until_ns: u64, halt: &Halt<'_>) -> Waited {
        if self.count.load(Ordering::Acquire) >= count {
            return Waited::Not;
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let waited = self.wait_for(count, until_ns, halt);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        waited
    }

    fn wait_for(&self, count: u64, until_ns: u64, halt: &Halt<'_>) -> Waited {
        let mut first_ns = None;
        loop {
            let word = self.word.load(Ordering::SeqCst);
            let sent = self.count.load(Ordering::Acquire);
            let sent_ns = self.sent_ns.load(Ordering::Relaxed);
            let now_ns = now_ns();
            let since_ns = *first_ns.get_or_insert(now_ns);
            if sent >= count {
                // The stored time may belong to a later signal.
                let is_its_own = self.count.load(Ordering::Acquire) == count;
                let time_ns = if is_its_own { sent_ns.min(now_ns) } else { now_ns };
                return Waited::Until { time_ns, since_ns, now_ns };
            }
            if halt.is_over(now_ns) {
                return Waited::Over;
            }
            if now_ns >= until_ns {
                return Waited::Until { time_ns: until_ns, since_ns, now_ns };
            }
            let look = timespec(until_ns.min(now_ns + LOOK_NS));
            let private = futex::Flags::PRIVATE;
            // Whatever ends it, what it waits for is looked at again.
            let _ = futex::wait_bitset(&self.word, private, word, Some(&look), bit(count));
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits")]
const fn low(count: u64) -> u32 {
    count as u32
}

/// Separates waiters for different counts, in most cases.
fn bit(count: u64) -> NonZeroU32 {
    NonZeroU32::new(1 << (low(count) % u32::BITS)).expect("one bit is set")
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn who_waits_is_woken_by_its_own_signal() {
        let (stop, signals) = (AtomicBool::new(false), Signals::default());
        let halt = Halt::new(&stop);
        thread::scope(|scope| {
            let waiting: Vec<_> = (1..=100)
                .map(|count| {
                    scope.spawn({
                        let (signals, halt) = (&signals, &halt);
                        move || signals.wait(count, u64::MAX, halt)
                    })
                })
                .collect();
            (0..100).for_each(|_| signals.send(now_ns()));
            for waiting in waiting {
                assert!(matches!(waiting.join().unwrap(), Waited::Not | Waited::Until { .. }));
            }
        });
        let until_ns = now_ns();
        let waited = signals.wait(101, until_ns, &halt);
        assert!(matches!(waited, Waited::Until { time_ns, .. } if time_ns == until_ns));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(signals.wait(101, u64::MAX, &halt), Waited::Over);
        assert!(!halt.wait_until(u64::MAX));
        assert!(!halt.burn_until(u64::MAX));
    }
}
