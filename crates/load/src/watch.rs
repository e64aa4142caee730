//! The machine's counters beside a program that drives a load.

use std::fs;
use std::time::{Duration, Instant};

use iotax_record::{PauseRecord, SystemCounters};
use rustix::process::Pid;

use crate::counters::Reading;
use crate::pause;

/// Counters of a window as long as a program's, from the end of the ramp on, or to its last look at the
/// program if that ends before. fio and iperf3 do not say when their own window opens, so their start
/// (some 100 ms) makes this one a little early; what they do after their time, above all to print their
/// result, is not in.
pub(crate) struct Watch {
    opens: Instant,
    closes: Instant,
    window: Option<(Reading, Reading)>,
    /// The last look at the program, if it was stopped then since the look before that.
    stopped: Option<(Instant, Instant)>,
    last: Instant,
    /// How long it was stopped each time, in nanoseconds.
    pauses: Vec<u64>,
}

impl Watch {
    /// From now on.
    pub(crate) fn new(ramp_ns: u64, time_ns: u64) -> Self {
        let opens = Instant::now() + Duration::from_nanos(ramp_ns);
        Self {
            opens,
            closes: opens + Duration::from_nanos(time_ns),
            window: None,
            stopped: None,
            last: Instant::now(),
            pauses: Vec::new(),
        }
    }

    /// Reads the counters of the machine and of the program.
    pub(crate) fn glance(&mut self, pid: Pid) {
        let now = Instant::now();
        self.note(now, is_stopped(pid));
        if now < self.opens || now > self.closes {
            return;
        }
        let now = Reading::of(pid);
        match &mut self.window {
            Some((_, last)) => last.update(now),
            None => self.window = Some((now.clone(), now)),
        }
    }

    /// Takes note of whether the program is stopped: whatever it times is then longer, and no storage
    /// is slow.
    fn note(&mut self, now: Instant, is_stopped: bool) {
        if is_stopped {
            let (since, _) = self.stopped.unwrap_or((self.last, now));
            self.stopped = Some((since, now));
        } else {
            self.end_of_stop();
        }
        self.last = now;
    }

    fn end_of_stop(&mut self) {
        let Some((since, until)) = self.stopped.take() else { return };
        if since < self.closes && until > self.opens {
            self.pauses.push(u64::try_from((until - since).as_nanos()).unwrap_or(u64::MAX));
        }
    }

    /// The times in which it was stopped, as far as they reach into the window.
    pub(crate) fn paused(&mut self) -> Option<PauseRecord> {
        self.end_of_stop();
        pause::record(&self.pauses)
    }

    pub(crate) fn counters(self) -> SystemCounters {
        self.window.map(|(first, last)| last.since(&first)).unwrap_or_default()
    }
}

/// Whether a process is stopped by a signal or a debugger.
fn is_stopped(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| {
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
        matches!(state, Some("T" | "t"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_NS: u64 = 3_600_000_000_000;

    fn counted(ramp_ns: u64, time_ns: u64) -> SystemCounters {
        let mut watch = Watch::new(ramp_ns, time_ns);
        while Instant::now() <= watch.opens && ramp_ns == 0 {}
        let own = rustix::process::getpid();
        watch.glance(own);
        // Something for the process to have used in between.
        std::hint::black_box((0..20_000_000_u64).sum::<u64>());
        watch.glance(own);
        watch.counters()
    }

    #[test]
    fn only_what_lies_in_the_window_is_counted() {
        assert!(counted(0, HOUR_NS).process_cpu_ns.is_some());
        assert_eq!(counted(HOUR_NS, HOUR_NS), SystemCounters::default(), "before it opens");
        assert_eq!(counted(0, 0), SystemCounters::default(), "after it has closed");
    }

    #[test]
    fn times_in_which_it_is_stopped_are_told_as_far_as_they_reach_into_the_window() {
        let second = Duration::from_secs(1);
        let mut watch = Watch::new(1_000_000_000, 5_000_000_000);
        let start = watch.opens.checked_sub(second).unwrap();
        let looks =
            [(0, true), (1, false), (2, false), (3, true), (4, true), (5, false), (8, true)];
        for (at, is_stopped) in looks {
            watch.note(start + at * second, is_stopped);
        }
        let paused = watch.paused().unwrap();
        assert_eq!((paused.count, paused.total_ns), (2, 2_000_000_000 + 3_000_000_000));
        assert!(Watch::new(0, HOUR_NS).paused().is_none());
    }
}
