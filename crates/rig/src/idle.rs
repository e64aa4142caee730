//! Whether a process works, however long that takes, or is stuck.

use std::fs;
use std::time::{Duration, Instant};

/// What a process has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    /// CPU time of all its threads, in the kernel's ticks.
    cpu_ticks: u64,
    /// Bytes that it read and wrote, where that is told.
    bytes: u64,
}

impl Work {
    /// Of process `pid`; `None` if that cannot be seen.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
        Self::read(&stat, &io)
    }

    fn read(stat: &str, io: &str) -> Option<Self> {
        // `pid (name) state ...`: the name may hold anything. CPU time in user and in kernel mode
        // are the fields 14 and 15 (proc(5)), the 12th and 13th behind the name.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |field: usize| fields.get(field)?.parse::<u64>().ok();
        let bytes = io.lines().filter_map(|line| line.split_once(": "));
        let bytes = bytes.filter_map(|(_, count)| count.parse::<u64>().ok());
        Some(Self {
            cpu_ticks: ticks(11)?.saturating_add(ticks(12)?),
            bytes: bytes.fold(0, u64::saturating_add),
        })
    }
}

/// How long a process has done nothing.
#[derive(Debug)]
pub(crate) struct Idle {
    work: Option<Work>,
    since: Instant,
}

impl Idle {
    /// It starts now.
    pub(crate) fn new(now: Instant) -> Self {
        Self { work: None, since: now }
    }

    /// The time since it was last seen to have done something more.
    pub(crate) fn observe(&mut self, now: Instant, work: Option<Work>) -> Duration {
        if work != self.work {
            self.work = work;
            self.since = now;
        }
        now.saturating_duration_since(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_works_is_not_idle_however_long_it_takes() {
        let start = Instant::now();
        let mut idle = Idle::new(start);
        let at = |seconds| start + Duration::from_secs(seconds);
        let work = |bytes| Some(Work { cpu_ticks: 1, bytes });
        for second in 0..1000 {
            assert_eq!(idle.observe(at(second), work(second)), Duration::ZERO);
        }
        assert_eq!(idle.observe(at(1009), work(999)), Duration::from_secs(10));
        assert_eq!(idle.observe(at(1010), work(1000)), Duration::ZERO);
    }

    #[test]
    fn what_cannot_be_seen_counts_as_idle() {
        let start = Instant::now();
        let mut idle = Idle::new(start);
        assert_eq!(idle.observe(start + Duration::from_secs(11), None), Duration::from_secs(11));
    }

    #[test]
    fn work_is_read_as_the_kernel_writes_it() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 9 0 0 0 120 30 0 0 20 0 4 0 99";
        let io = "rchar: 10\nwchar: 20\nread_bytes: 0\nwrite_bytes: 4096\n";
        assert_eq!(Work::read(stat, io), Some(Work { cpu_ticks: 150, bytes: 4126 }));
        assert_eq!(Work::read(stat, ""), Some(Work { cpu_ticks: 150, bytes: 0 }));
        assert_eq!(Work::read("7 (a", io), None);
        assert!(Work::of(std::process::id()).is_some());
    }
}
