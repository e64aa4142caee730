//! Detects whether the load generator itself was paused: stopped by a signal, or frozen with its
//! cgroup or its machine. Then it issued nothing for a while, and the I/Os in flight seem to have
//! taken that long, although no storage was slow.
//!
//! The thread that waits for the window to close sleeps in short steps anyway, and knows when each
//! should have ended. That costs the I/O nothing. A step that ends late has one of four reasons:
//!
//! - no CPU was free: the kernel counts how long a runnable thread waited
//!   (`/proc/thread-self/schedstat`), including for a used-up CPU quota;
//! - the hypervisor had no CPU for the VM: that is steal time (`/proc/stat`);
//! - its memory had to be read back: its major faults;
//! - none of these: it was stopped. A stopped or frozen thread cannot run, so the other counters do
//!   not grow.
//!
//! A machine that was suspended as a whole does not even count the time: its `CLOCK_BOOTTIME`
//! continues, its `CLOCK_MONOTONIC` does not.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::thread;
use std::time::Duration;

use iotax_record::PauseRecord;
use rustix::time::ClockId;

use crate::counters::{Usage, clock_ns, each_cpu, tick_ns};

/// Lateness that nothing else explains, from which on it is a pause. Timers, interrupts and busy
/// machines delay a thread by less, or are counted; and a shorter pause moves a window of 5 s by 2
/// % at most.
const LEAST_NS: u64 = 100_000_000;
/// The same where the kernel does not say how long threads wait for a CPU.
const LEAST_UNEXPLAINED_NS: u64 = 1_000_000_000;

/// How often the baseline of what is costly to read is renewed.
const RENEWED_NS: u64 = 1_000_000_000;

/// Sleeps, and notices when it was not let wake.
pub(crate) struct Pulse {
    /// How long this thread has waited for a CPU; `None` if the kernel does not say.
    waits: Option<File>,
    before: Reading,
    /// When all of `before` was read last.
    renewed_ns: u64,
    /// The time that nothing explains, and when it began, on the monotonic clock.
    pauses: Vec<(u64, u64)>,
}

/// What a pause is told from.
#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    monotonic_ns: u64,
    boottime_ns: u64,
    waited_ns: Option<u64>,
    stolen_ns: u64,
    major_faults: u64,
}

impl Pulse {
    /// Of the thread that calls it.
    pub(crate) fn start() -> Self {
        let waits = File::open("/proc/thread-self/schedstat").ok();
        let mut pulse =
            Self { waits, before: Reading::default(), renewed_ns: 0, pauses: Vec::new() };
        pulse.renew();
        pulse
    }

    /// Sleeps for so long, or longer if it has to.
    pub(crate) fn sleep(&mut self, time: Duration) {
        let now_ns = clock_ns(ClockId::Monotonic);
        if now_ns - self.renewed_ns > RENEWED_NS {
            self.renew();
        }
        self.before = Reading {
            monotonic_ns: clock_ns(ClockId::Monotonic),
            boottime_ns: clock_ns(ClockId::Boottime),
            waited_ns: self.waited_ns(),
            ..self.before
        };
        thread::sleep(time);
        let slept_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let woke_ns = clock_ns(ClockId::Monotonic);
        let suspended_ns = suspended(&self.before, woke_ns, clock_ns(ClockId::Boottime));
        let late_ns = woke_ns.saturating_sub(self.before.monotonic_ns + slept_ns);
        if late_ns.max(suspended_ns) < LEAST_NS {
            return;
        }
        let from = self.before;
        self.renew();
        let held_ns = held(&from, &self.before, slept_ns).max(suspended_ns);
        if held_ns > 0 {
            self.pauses.push((from.monotonic_ns, held_ns));
        }
    }

    fn renew(&mut self) {
        self.before = self.now();
        self.renewed_ns = self.before.monotonic_ns;
    }

    /// The pauses that ended after this instant of the monotonic clock.
    pub(crate) fn since(&self, opens_ns: u64) -> Option<PauseRecord> {
        let all = self.pauses.iter().filter(|(from, held)| from + held > opens_ns);
        record(&all.map(|(_, held)| *held).collect::<Vec<_>>())
    }

    fn waited_ns(&self) -> Option<u64> {
        let mut text = [0_u8; 96];
        let length = self.waits.as_ref()?.read_at(&mut text, 0).ok()?;
        waited(std::str::from_utf8(&text[..length]).ok()?)
    }

    fn now(&self) -> Reading {
        Reading {
            monotonic_ns: clock_ns(ClockId::Monotonic),
            boottime_ns: clock_ns(ClockId::Boottime),
            waited_ns: self.waited_ns(),
            stolen_ns: fs::read_to_string("/proc/stat").map_or(0, |stat| most_stolen_ns(&stat)),
            major_faults: Usage::of_this_thread().major_faults,
        }
    }
}

/// `None` of no pauses; `held`: how long each was.
pub(crate) fn record(held: &[u64]) -> Option<PauseRecord> {
    Some(PauseRecord {
        count: u32::try_from(held.len()).unwrap_or(u32::MAX),
        total_ns: held.iter().sum(),
        longest_ns: held.iter().copied().max()?,
    })
}

/// How long a thread that should have slept for `slept_ns` was held up by nothing that is counted.
fn held(before: &Reading, now: &Reading, slept_ns: u64) -> u64 {
    let passed_ns = now.monotonic_ns.saturating_sub(before.monotonic_ns);
    let late_ns = passed_ns.saturating_sub(slept_ns);
    if now.major_faults > before.major_faults {
        return 0;
    }
    let waited_ns = now.waited_ns.zip(before.waited_ns).map(|(now, before)| now - before.min(now));
    let stolen_ns = now.stolen_ns.saturating_sub(before.stolen_ns);
    let least_ns = if waited_ns.is_some() { LEAST_NS } else { LEAST_UNEXPLAINED_NS };
    let unexplained_ns = late_ns.saturating_sub(waited_ns.unwrap_or(0)).saturating_sub(stolen_ns);
    if unexplained_ns >= least_ns { unexplained_ns } else { 0 }
}

/// How long the machine was suspended.
fn suspended(before: &Reading, monotonic_ns: u64, boottime_ns: u64) -> u64 {
    let passed_ns = |now: u64, then: u64| now.saturating_sub(then);
    let (booted, counted) =
        (passed_ns(boottime_ns, before.boottime_ns), passed_ns(monotonic_ns, before.monotonic_ns));
    Some(booted.saturating_sub(counted)).filter(|ns| *ns >= LEAST_NS).unwrap_or(0)
}

/// From `schedstat`: time on a CPU, time waiting for one, time slices.
fn waited(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().nth(1)?.parse().ok()
}

/// The time stolen from the CPU that lost the most since the machine started.
fn most_stolen_ns(stat: &str) -> u64 {
    each_cpu(stat).map(|cpu| cpu.steal).max().unwrap_or(0) * tick_ns()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP_NS: u64 = 10_000_000;

    fn later(by_ns: u64) -> Reading {
        Reading { monotonic_ns: STEP_NS + by_ns, waited_ns: Some(0), ..Reading::default() }
    }

    fn found(now: Reading) -> u64 {
        let before = Reading { waited_ns: now.waited_ns.map(|_| 0), ..Reading::default() };
        held(&before, &now, STEP_NS)
    }

    #[test]
    fn what_nothing_explains_is_a_pause() {
        let second_ns = 1_000_000_000;
        assert_eq!(found(later(second_ns)), second_ns);
        assert_eq!(found(later(LEAST_NS - 1)), 0, "timers and interrupts");
        let starved = Reading { waited_ns: Some(second_ns - 1_000), ..later(second_ns) };
        assert_eq!(found(starved), 0, "no CPU was free");
        let stolen = Reading { stolen_ns: second_ns, ..later(second_ns) };
        assert_eq!(found(stolen), 0, "the hypervisor had none");
        let faulted = Reading { major_faults: 1, ..later(second_ns) };
        assert_eq!(found(faulted), 0, "its memory was elsewhere");
        let both = Reading { waited_ns: Some(second_ns), ..later(3 * second_ns) };
        assert_eq!(found(both), 2 * second_ns);
        let untold = |ns| Reading { waited_ns: None, ..later(ns) };
        assert_eq!((found(untold(second_ns / 2)), found(untold(second_ns))), (0, second_ns));
    }

    #[test]
    fn a_suspended_machine_counts_on_one_clock_alone() {
        let before = Reading { monotonic_ns: 5, boottime_ns: 7, ..Reading::default() };
        assert_eq!(suspended(&before, 5 + STEP_NS, 7 + STEP_NS), 0);
        assert_eq!(suspended(&before, 5 + STEP_NS, 7 + STEP_NS + 3_000_000_000), 3_000_000_000);
    }

    #[test]
    fn only_pauses_that_reach_into_the_window_count() {
        let mut pulse = Pulse::start();
        pulse.pauses = vec![(0, 100), (150, 100), (400, 300)];
        let record = pulse.since(200).unwrap();
        assert_eq!((record.count, record.total_ns, record.longest_ns), (2, 400, 300));
        assert_eq!(pulse.since(700), None);
    }

    #[test]
    fn the_kernels_files_are_read() {
        assert_eq!(waited("123 456 7\n"), Some(456));
        assert_eq!(waited(""), None);
        let stat =
            "cpu  1 2 3 4 5 6 7 30 0 0\ncpu0 1 2 3 4 5 6 7 10 0 0\ncpu1 1 2 3 4 5 6 7 20 0 0\n";
        assert_eq!(most_stolen_ns(stat), 20 * tick_ns());
        assert_eq!(most_stolen_ns("intr 5\n"), 0);
    }
}
