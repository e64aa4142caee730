//! How much CPU time the recorder takes, of late and in all.
//!
//! The CPU time of the BPF programs is measured in samples, because measuring makes them a third slower.

use std::collections::VecDeque;
use std::time::Duration;

/// A burst of I/O must be noticed, but not a single glance at the ring.
pub(crate) const WINDOW: Duration = Duration::from_secs(2);

/// What was done by some time of the recording.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    pub elapsed: Duration,
    /// CPU time of the recorder's own processes.
    pub used_ns: u64,
    pub events: u64,
}

/// Shares of the machine's CPU time.
#[derive(Debug)]
pub(crate) struct Overhead {
    cpus: u32,
    /// The last of those before the window, and all in it.
    done: VecDeque<Done>,
    in_kernel: InKernel,
    in_kernel_of_late: InKernel,
}

impl Overhead {
    pub(crate) fn of_machine() -> Self {
        let cpus = aya::util::online_cpus().map_or(1, |cpus| cpus.len());
        Self::new(u32::try_from(cpus).unwrap_or(1).max(1))
    }

    fn new(cpus: u32) -> Self {
        /// Most of the weight is in the last 10 samples.
        const OF_LATE: f64 = 0.9;
        Self {
            cpus,
            done: VecDeque::from([Done::default()]),
            in_kernel: InKernel::that_keeps(1.0),
            in_kernel_of_late: InKernel::that_keeps(OF_LATE),
        }
    }

    pub(crate) fn update(&mut self, done: Done) {
        self.done.push_back(done);
        while self.done.get(1).is_some_and(|second| second.elapsed + WINDOW <= done.elapsed) {
            self.done.pop_front();
        }
    }

    /// In a sample of this length, the BPF programs used this CPU time and recorded this many events.
    pub(crate) fn sample_programs(&mut self, length: Duration, used: Duration, events: u64) {
        self.in_kernel.sample(length, used, events);
        self.in_kernel_of_late.sample(length, used, events);
    }

    /// Share in the last 2 s, or since the beginning if that was later.
    pub(crate) fn recent(&self) -> f64 {
        self.done.front().map_or(0.0, |first| self.since(*first, &self.in_kernel_of_late))
    }

    /// Share in the whole recording.
    pub(crate) fn whole(&self) -> f64 {
        self.since(Done::default(), &self.in_kernel)
    }

    fn since(&self, first: Done, in_kernel: &InKernel) -> f64 {
        let Some(last) = self.done.back() else { return 0.0 };
        let seconds = last.elapsed.saturating_sub(first.elapsed).as_secs_f64();
        let used = last.used_ns.saturating_sub(first.used_ns) as f64 / 1e9;
        let events = last.events.saturating_sub(first.events) as f64;
        let had = seconds * f64::from(self.cpus);
        if had > 0.0 { (used + in_kernel.seconds_of(seconds, events)) / had } else { 0.0 }
    }
}

/// Estimates the CPU time of the BPF programs from samples. It grows with the recorded events, and with
/// time, because system calls of other programs cost some, too.
#[derive(Debug, Default)]
struct InKernel {
    /// What is left of the weight of older samples after each new one.
    keeps: f64,
    samples: f64,
    time_time: f64,
    time_events: f64,
    events_events: f64,
    time_used: f64,
    events_used: f64,
    used_used: f64,
}

impl InKernel {
    fn that_keeps(keeps: f64) -> Self {
        Self { keeps, ..Self::default() }
    }

    fn sample(&mut self, length: Duration, used: Duration, events: u64) {
        let (time, used, events) = (length.as_secs_f64(), used.as_secs_f64(), events as f64);
        let keeps = self.keeps;
        let add = |sum: &mut f64, value: f64| *sum = *sum * keeps + value;
        add(&mut self.samples, 1.0);
        add(&mut self.time_time, time * time);
        add(&mut self.time_events, time * events);
        add(&mut self.events_events, events * events);
        add(&mut self.time_used, time * used);
        add(&mut self.events_used, events * used);
        add(&mut self.used_used, used * used);
    }

    fn seconds_of(&self, seconds: f64, events: f64) -> f64 {
        let (per_second, per_event) = self.rates();
        per_second * seconds + per_event * events
    }

    /// CPU time per second and per event, by least squares. The events count for nothing until the
    /// samples show what they cost.
    fn rates(&self) -> (f64, f64) {
        let by_time = if self.time_time > 0.0 { self.time_used / self.time_time } else { 0.0 };
        let scale = self.time_time * self.events_events;
        let determinant = scale - self.time_events * self.time_events;
        if self.samples < 2.5 || determinant <= 1e-9 * scale {
            return (by_time, 0.0);
        }
        let of_events = self.time_time * self.events_used - self.time_events * self.time_used;
        let of_time = self.events_events * self.time_used - self.time_events * self.events_used;
        let (per_second, per_event) = (of_time / determinant, of_events / determinant);
        let rest = self.used_used - per_second * self.time_used - per_event * self.events_used;
        let variance = rest.max(0.0) / (self.samples - 2.0) * self.time_time / determinant;
        if per_event < 2.0 * variance.sqrt() {
            (by_time, 0.0)
        } else if per_second < 0.0 {
            (0.0, self.events_used / self.events_events)
        } else {
            (per_second, per_event)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LENGTH: Duration = Duration::from_millis(20);

    #[test]
    fn a_burst_late_in_a_recording_is_seen() {
        let mut overhead = Overhead::new(2);
        let mut used_ns = 0;
        for half_second in 1..=200_u32 {
            // Idle, then one whole CPU of two.
            used_ns += if half_second > 196 { 500_000_000 } else { 0 };
            let elapsed = Duration::from_millis(500) * half_second;
            overhead.update(Done { elapsed, used_ns, events: 0 });
        }
        assert!((overhead.recent() - 0.5).abs() < 1e-9, "{}", overhead.recent());
        assert!((overhead.whole() - 0.01).abs() < 1e-9, "{}", overhead.whole());
    }

    /// A sample that meets a burst of 50 ms does not stand for a second.
    #[test]
    fn a_short_burst_counts_for_what_it_is() {
        let mut overhead = Overhead::new(1);
        for second in 1..=20 {
            let events = if second == 18 { 20_000 } else { 0 };
            let used = Duration::from_nanos(4_000 + 500 * events);
            overhead.sample_programs(LENGTH, used, events);
            let elapsed = Duration::from_secs(second);
            let events = if second >= 18 { 50_000 } else { 0 };
            overhead.update(Done { elapsed, used_ns: 0, events });
        }
        // 25 ms for the burst, and 0.2 ms per second.
        let (recent, whole) = (overhead.recent(), overhead.whole());
        assert!((recent - 0.0002).abs() < 1e-6, "{recent}");
        assert!((whole - 0.0252 / 20.0 - 0.0038 / 20.0).abs() < 1e-6, "{whole}");
    }

    /// Others make system calls at varying rates, and the recorded program makes few at first.
    #[test]
    fn calls_of_others_do_not_count_as_the_programs() {
        let others_us = [4_000, 4_900, 4_300, 5_800, 4_100, 5_200, 4_700, 5_500, 4_400, 5_100];
        let few = [2, 1, 0, 3, 1, 0, 2, 1, 0, 1];
        let mut kernel = InKernel::that_keeps(1.0);
        assert!(kernel.seconds_of(1.0, 50.0) < 1e-12, "nothing is known yet");
        for (used_us, events) in others_us.into_iter().zip(few) {
            kernel.sample(LENGTH, Duration::from_micros(used_us), events);
        }
        let before = kernel.seconds_of(1.0, 50.0);
        assert!((before - 0.24).abs() < 1e-9, "{before}");
        let at_burst = kernel.seconds_of(1.0, 300_000.0);
        assert!((at_burst - 0.24).abs() < 1e-9, "too few events to know their cost: {at_burst}");
        kernel.sample(LENGTH, Duration::from_micros(4_800 + 3_000), 6_000);
        let after = kernel.seconds_of(1.0, 300_000.0);
        assert!((after - 0.24 - 0.15).abs() < 0.01, "{after}");
    }

    #[test]
    fn programs_that_have_begun_to_cost_more_are_noticed() {
        let mut overhead = Overhead::new(1);
        for second in 1..=600_u64 {
            let used_us = if second > 590 { 10_000 } else { 1 };
            overhead.sample_programs(LENGTH, Duration::from_micros(used_us), 0);
            overhead.update(Done { elapsed: Duration::from_secs(second), used_ns: 0, events: 0 });
        }
        assert!(overhead.recent() > 0.3, "{}", overhead.recent());
        assert!((overhead.whole() - 0.5 / 60.0).abs() < 1e-4, "{}", overhead.whole());
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
                let elapsed = Duration::from_millis(elapsed_ms);
                overhead.update(Done { elapsed, used_ns: total_ns, events: 0 });
                let old = all.iter().rev().find(|(then_ms, _)| then_ms + 2000 <= elapsed_ms);
                let (then_ms, then_ns) = old.copied().unwrap_or_default();
                let had_ns = (elapsed_ms - then_ms) as f64 * 3e6;
                let expected = (total_ns - then_ns) as f64 / had_ns;
                prop_assert!((overhead.recent() - expected).abs() < 1e-9);
            }
        }

        #[test]
        fn costs_that_do_not_vary_are_found(
            per_second in 0.0..0.5_f64,
            per_event_ns in 50.0..5_000.0_f64,
            samples in prop::collection::vec((15..60_u64, 0..20_000_u64), 5..40)
        ) {
            let mut kernel = InKernel::that_keeps(0.9);
            let cost = |seconds: f64, events: f64| per_second * seconds + per_event_ns / 1e9 * events;
            for &(length_ms, events) in &samples {
                let length = Duration::from_millis(length_ms);
                let used = Duration::from_secs_f64(cost(length.as_secs_f64(), events as f64));
                kernel.sample(length, used, events);
            }
            let ratios = samples.iter().map(|&(length_ms, events)| events / length_ms);
            prop_assume!(ratios.clone().max() > ratios.min().map(|least| 2 * least + 50));
            let (found, expected) = (kernel.seconds_of(2.0, 90_000.0), cost(2.0, 90_000.0));
            prop_assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
        }
    }
}
