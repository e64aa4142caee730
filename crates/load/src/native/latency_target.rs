//! The largest queue depth at which I/Os are fast enough, by fio's search (`io_u.c` of 3.33): the
//! depth doubles window by window until one fails, then halves the distance between the last that
//! did and the last that did not.

use iotax_experiment::LatencyTarget;

/// Successes in a row next to a depth that failed, before that one is tried again.
const STABLE: u32 = 3;

/// What follows from a window, or from an I/O that took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Go on.
    Same,
    /// A depth was found: what was counted before does not count, and one last window begins.
    Found,
    /// That window is over, too.
    Done,
    /// Not even one I/O at a time is fast enough.
    Missed,
}

/// One thread's search.
pub(crate) struct Search {
    target: LatencyTarget,
    most: u32,
    depth: u32,
    low: u32,
    high: u32,
    stable: u32,
    /// Some depth was too much.
    has_failed: bool,
    /// When the window began.
    since_ns: u64,
    ios: u64,
    slow: u64,
    /// What is in flight has to complete before another depth is tried.
    quiesces: bool,
    is_last: bool,
}

impl Search {
    /// From one I/O at a time up to `most`.
    pub(crate) fn new(target: LatencyTarget, most: u32, start_ns: u64) -> Self {
        Self {
            target,
            most,
            depth: 1,
            low: 1,
            high: most,
            stable: 0,
            has_failed: false,
            since_ns: start_ns,
            ios: 0,
            slow: 0,
            quiesces: false,
            is_last: false,
        }
    }

    /// The depth that is tried.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether another I/O may begin beside those in flight.
    #[inline]
    pub(crate) fn has_room(&mut self, in_flight: usize) -> bool {
        if self.quiesces {
            self.quiesces = in_flight > 0;
            return !self.quiesces;
        }
        in_flight < self.depth as usize
    }

    /// An I/O is over.
    #[inline]
    pub(crate) fn completed(&mut self, latency_ns: u64, now_ns: u64) -> Step {
        self.ios += 1;
        if latency_ns > self.target.target_ns {
            self.slow += 1;
            if self.target.percentile >= 100.0 {
                return self.failed(now_ns);
            }
        }
        if now_ns.saturating_sub(self.since_ns) < self.target.window_ns {
            return Step::Same;
        }
        self.window_is_over(now_ns)
    }

    #[cold]
    fn window_is_over(&mut self, now_ns: u64) -> Step {
        let fast = (self.ios - self.slow) as f64 / self.ios as f64 * 100.0;
        if fast >= self.target.percentile {
            return self.succeeded(now_ns);
        }
        match self.failed(now_ns) {
            // Of a percentile, fio tries the first depth again and again.
            Step::Missed => {
                self.begin(now_ns);
                Step::Same
            }
            step => step,
        }
    }

    fn begin(&mut self, now_ns: u64) {
        (self.since_ns, self.ios, self.slow) = (now_ns, 0, 0);
    }

    #[cold]
    fn failed(&mut self, now_ns: u64) -> Step {
        if self.depth == 1 {
            return Step::Missed;
        }
        (self.high, self.has_failed) = (self.depth, true);
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = u32::midpoint(self.depth, self.low);
        self.stable = 0;
        // Those of the higher depth that are still in flight say nothing of this one.
        self.quiesces = true;
        self.begin(now_ns);
        Step::Same
    }

    fn succeeded(&mut self, now_ns: u64) -> Step {
        let before = self.depth;
        self.low = self.depth;
        if self.depth + 1 == self.high {
            self.stable += 1;
            if self.stable >= STABLE {
                (self.high, self.stable) = (self.high + 1, 0);
            }
        }
        // fio doubles after the job's own depth has failed, too, and then tries it for ever.
        self.depth = if self.has_failed {
            u32::midpoint(self.depth, self.high)
        } else {
            self.depth.saturating_mul(2)
        };
        self.depth = self.depth.min(self.most);
        self.begin(now_ns);
        if self.target.keeps_on || self.depth != before {
            return Step::Same;
        }
        if self.is_last {
            return Step::Done;
        }
        (self.is_last, self.quiesces) = (true, true);
        Step::Found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    fn target(percentile: f64, keeps_on: bool) -> LatencyTarget {
        LatencyTarget { target_ns: 10 * MS, window_ns: 100 * MS, percentile, keeps_on }
    }

    /// Runs the search against a device, in virtual time, whose latency follows from the depth;
    /// which depths were tried, and how it ended.
    fn run(mut search: Search, latency_ns: impl Fn(u32, u64) -> u64) -> (Vec<u32>, Step) {
        let (mut now_ns, mut tried, mut nth) = (0, vec![search.depth()], 0);
        for _ in 0..3_000_000 {
            let depth = search.depth();
            let latency = latency_ns(depth, nth);
            nth += 1;
            now_ns += (latency / u64::from(depth)).max(1);
            let step = search.completed(latency, now_ns);
            // Nothing of the simulated device stays in flight.
            assert!(search.has_room(0));
            if search.depth() != depth {
                tried.push(search.depth());
            }
            if matches!(step, Step::Done | Step::Missed) {
                return (tried, step);
            }
        }
        (tried, Step::Same)
    }

    /// 1 ms for each I/O in flight: 10 of them take 10 ms.
    fn queue(depth: u32, _: u64) -> u64 {
        u64::from(depth) * MS
    }

    #[test]
    fn the_depth_doubles_and_then_closes_in() {
        let (tried, end) = run(Search::new(target(99.0, false), 128, 0), queue);
        assert_eq!((tried, end), (vec![1, 2, 4, 8, 16, 12, 10, 11, 10], Step::Done));
    }

    #[test]
    fn a_device_that_is_always_fast_gets_all() {
        let (tried, end) = run(Search::new(target(99.0, false), 128, 0), |_, _| MS / 10);
        assert_eq!((tried, end), (vec![1, 2, 4, 8, 16, 32, 64, 128], Step::Done));
    }

    #[test]
    fn a_device_that_is_never_fast_misses() {
        let (_, end) = run(Search::new(target(100.0, false), 128, 0), |_, _| 11 * MS);
        assert_eq!(end, Step::Missed);
        // Of a percentile it is tried again, as in fio.
        let (tried, end) = run(Search::new(target(99.0, false), 128, 0), |_, _| 11 * MS);
        assert_eq!((tried, end), (vec![1], Step::Same));
    }

    #[test]
    fn a_percentile_forgives_a_few() {
        let slow_ones =
            |every: u64| move |_, nth: u64| if nth.is_multiple_of(every) { 11 * MS } else { MS };
        let (tried, end) = run(Search::new(target(99.0, false), 8, 0), slow_ones(1000));
        assert_eq!((tried, end), (vec![1, 2, 4, 8], Step::Done));
        let (_, end) = run(Search::new(target(99.0, false), 8, 0), slow_ones(20));
        assert_eq!(end, Step::Same);
    }

    #[test]
    fn nothing_begins_at_a_lower_depth_while_more_is_in_flight() {
        let mut search = Search::new(target(100.0, true), 64, 0);
        assert!(search.has_room(0) && !search.has_room(1));
        search.completed(MS, 100 * MS);
        search.completed(MS, 200 * MS);
        assert_eq!(search.depth(), 4);
        search.completed(11 * MS, 201 * MS);
        assert_eq!(search.depth(), 3);
        assert!(!search.has_room(3) && !search.has_room(1) && search.has_room(0));
        assert!(search.has_room(2) && !search.has_room(3));
    }

    proptest! {
        /// Of any device whose latency grows with the depth, the depth that it ends with is fast
        /// enough, and the next one is not.
        #[test]
        fn it_ends_at_the_largest_depth_that_is_fast_enough(
            per_io_us in 200..9000_u64, most in 2..100_u32,
        ) {
            let latency = |depth: u32, _| u64::from(depth) * per_io_us * 1000;
            let (tried, end) = run(Search::new(target(99.0, false), most, 0), latency);
            let depth = *tried.last().unwrap();
            prop_assert_eq!(end, Step::Done, "{:?}", tried);
            prop_assert!(latency(depth, 0) <= 10 * MS, "{:?}", tried);
            prop_assert!(depth == most || latency(depth + 1, 0) > 10 * MS, "{:?}", tried);
        }
    }
}
