//! The machine's counters beside a program that drives a load.

use std::time::{Duration, Instant};

use iotax_record::SystemCounters;
use rustix::process::Pid;

use crate::counters::Reading;

/// Counters of a window as long as a program's, from the end of the ramp on, or to its last look at the
/// program if that ends before. fio and iperf3 do not say when their own window opens, so their start
/// (some 100 ms) makes this one a little early; what they do after their time, above all to print their
/// result, is not in.
pub(crate) struct Watch {
    opens: Instant,
    closes: Instant,
    window: Option<(Reading, Reading)>,
}

impl Watch {
    /// From now on.
    pub(crate) fn new(ramp_ns: u64, time_ns: u64) -> Self {
        let opens = Instant::now() + Duration::from_nanos(ramp_ns);
        Self { opens, closes: opens + Duration::from_nanos(time_ns), window: None }
    }

    /// Reads the counters of the machine and of the program.
    pub(crate) fn glance(&mut self, pid: Pid) {
        let now = Instant::now();
        if now < self.opens || now > self.closes {
            return;
        }
        let now = Reading::of(pid);
        match &mut self.window {
            Some((_, last)) => last.update(now),
            None => self.window = Some((now.clone(), now)),
        }
    }

    pub(crate) fn counters(self) -> SystemCounters {
        self.window.map(|(first, last)| last.since(&first)).unwrap_or_default()
    }
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
}
