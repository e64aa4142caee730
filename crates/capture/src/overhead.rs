//! How much CPU time the recorder takes, of late and in all.

use std::collections::VecDeque;
use std::time::Duration;

/// A burst of I/O must be noticed, but not a single glance at the ring.
pub(crate) const WINDOW: Duration = Duration::from_secs(2);

/// CPU time used at some time of the recording.
#[derive(Debug, Clone, Copy)]
struct Sample {
    elapsed: Duration,
    used_ns: u64,
}

/// Shares of the machine's CPU time.
#[derive(Debug)]
pub(crate) struct Overhead {
    cpus: u32,
    /// The last of those before the window, and all in it.
    samples: VecDeque<Sample>,
}

impl Overhead {
    pub(crate) fn of_machine() -> Self {
        let cpus = aya::util::online_cpus().map_or(1, |cpus| cpus.len());
        Self::new(u32::try_from(cpus).unwrap_or(1).max(1))
    }

    fn new(cpus: u32) -> Self {
        let begin = Sample { elapsed: Duration::ZERO, used_ns: 0 };
        Self { cpus, samples: VecDeque::from([begin]) }
    }

    /// `used_ns` counts from the beginning of the recording.
    pub(crate) fn sample(&mut self, elapsed: Duration, used_ns: u64) {
        self.samples.push_back(Sample { elapsed, used_ns });
        while self.samples.get(1).is_some_and(|second| second.elapsed + WINDOW <= elapsed) {
            self.samples.pop_front();
        }
    }

    /// Share in the last 2 s, or since the beginning if that was later.
    pub(crate) fn recent(&self) -> f64 {
        let first = self.samples.front().copied();
        first.map_or(0.0, |first| self.since(first))
    }

    /// Share in the whole recording.
    pub(crate) fn whole(&self) -> f64 {
        self.since(Sample { elapsed: Duration::ZERO, used_ns: 0 })
    }

    fn since(&self, first: Sample) -> f64 {
        let Some(last) = self.samples.back() else { return 0.0 };
        let had = last.elapsed.saturating_sub(first.elapsed).as_secs_f64() * f64::from(self.cpus);
        let used = last.used_ns.saturating_sub(first.used_ns) as f64 / 1e9;
        if had > 0.0 { used / had } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_burst_late_in_a_recording_is_seen() {
        let mut overhead = Overhead::new(2);
        let mut used_ns = 0;
        for half_second in 1..=200_u32 {
            // Idle, then one whole CPU of two.
            used_ns += if half_second > 196 { 500_000_000 } else { 0 };
            overhead.sample(Duration::from_millis(500) * half_second, used_ns);
        }
        assert!((overhead.recent() - 0.5).abs() < 1e-9, "{}", overhead.recent());
        assert!((overhead.whole() - 0.01).abs() < 1e-9, "{}", overhead.whole());
    }

    proptest! {
        #[test]
        fn the_window_is_the_shortest_that_is_long_enough(
            steps in prop::collection::vec((1..3000_u64, 0..1_000_000_000_u64), 1..50)
        ) {
            let mut overhead = Overhead::new(3);
            let mut all = vec![(0_u64, 0_u64)];
            for (step_ms, used_ns) in steps {
                let (elapsed_ms, before_ns) = all[all.len() - 1];
                all.push((elapsed_ms + step_ms, before_ns + used_ns));
                let (elapsed_ms, total_ns) = all[all.len() - 1];
                overhead.sample(Duration::from_millis(elapsed_ms), total_ns);
                let old = all.iter().rev().find(|(then_ms, _)| then_ms + 2000 <= elapsed_ms);
                let (then_ms, then_ns) = old.copied().unwrap_or_default();
                let had_ns = (elapsed_ms - then_ms) as f64 * 3e6;
                let expected = (total_ns - then_ns) as f64 / had_ns;
                prop_assert!((overhead.recent() - expected).abs() < 1e-9);
            }
        }
    }
}
