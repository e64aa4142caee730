//! How many I/Os are in flight over time.
//!
//! Events come in the order in which they end, so the start of an I/O is known only once it has
//! ended. Starts and ends are buffered; when the buffer is full, its older half is evaluated. An
//! I/O that starts before the settled time is cut off there in the distribution and for the highest
//! level: with more than 32,000 others that end during it, the time before is missing. The mean is
//! exact in any case.

use super::distribution::{lowest_of, power_of};
use super::share;
use super::summary::{Depth, Level};

/// Capacity of the buffer.
const WAITING: usize = 1 << 17;

pub(super) struct InFlight {
    steps: Vec<Step>,
    most_waiting: usize,
    settled_ns: u64,
    level: u64,
    highest: u64,
    /// Time with no I/O in flight, with one, with two or three, with four to seven, ...
    time_ns: [u64; 65],
    sum_ns: u128,
    missing_ns: u128,
}

/// The level rises or falls by one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    at_ns: u64,
    /// At the same time, the level falls first: an I/O that follows another does not overlap it.
    is_start: bool,
}

impl Default for InFlight {
    fn default() -> Self {
        Self::with_room(WAITING)
    }
}

impl InFlight {
    fn with_room(most_waiting: usize) -> Self {
        Self {
            steps: Vec::new(),
            most_waiting,
            settled_ns: 0,
            level: 0,
            highest: 0,
            time_ns: [0; 65],
            sum_ns: 0,
            missing_ns: 0,
        }
    }

    pub(super) fn add(&mut self, start_ns: u64, end_ns: u64) {
        let from_ns = start_ns.max(self.settled_ns);
        let to_ns = end_ns.max(from_ns);
        let whole_ns = end_ns.saturating_sub(start_ns);
        self.sum_ns += u128::from(whole_ns);
        self.missing_ns += u128::from(whole_ns.saturating_sub(to_ns - from_ns));
        if to_ns > from_ns {
            self.steps.push(Step { at_ns: from_ns, is_start: true });
            self.steps.push(Step { at_ns: to_ns, is_start: false });
        }
        if self.steps.len() >= self.most_waiting {
            self.settle(self.steps.len() / 2);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Settles the first `count` steps.
    fn settle(&mut self, count: usize) {
        // Most of it is still sorted from the last time, which a stable sort makes use of.
        self.steps.sort();
        for step in self.steps.drain(..count) {
            self.time_ns[power_of(self.level)] += step.at_ns - self.settled_ns;
            self.settled_ns = step.at_ns;
            // A start that was cut off may be settled after its end.
            self.level = if step.is_start { self.level + 1 } else { self.level.saturating_sub(1) };
            self.highest = self.highest.max(self.level);
        }
    }

    pub(super) fn finish(mut self, length_ns: u64) -> Depth {
        self.settle(self.steps.len());
        self.time_ns[0] += length_ns.saturating_sub(self.settled_ns);
        let all_ns: u64 = self.time_ns.iter().sum();
        let busy_ns = all_ns - self.time_ns[0];
        let last = self.time_ns.iter().rposition(|time_ns| *time_ns > 0).unwrap_or(0);
        let levels = self.time_ns[..=last].iter().enumerate();
        let levels = levels
            .map(|(power, time_ns)| Level {
                from: lowest_of(power),
                share: share(*time_ns, all_ns),
            })
            .collect();
        let per =
            |time_ns: u64| if time_ns == 0 { 0.0 } else { self.sum_ns as f64 / time_ns as f64 };
        Depth {
            mean: per(all_ns),
            mean_when_busy: per(busy_ns),
            highest: self.highest,
            busy_share: share(busy_ns, all_ns),
            levels,
            missing_share: if self.sum_ns == 0 {
                0.0
            } else {
                self.missing_ns as f64 / self.sum_ns as f64
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Time at each level, from all I/Os at once.
    fn slow_levels(ios: &[(u64, u64)], length_ns: u64) -> Vec<u64> {
        let mut times = vec![0; ios.len() + 1];
        for ns in 0..length_ns {
            let level = ios.iter().filter(|(start, end)| (*start..*end).contains(&ns)).count();
            times[level] += 1;
        }
        times
    }

    fn ordered_by_end(mut ios: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        for (start, length) in &mut ios {
            *length += *start;
        }
        ios.sort_by_key(|(_, end)| *end);
        ios
    }

    fn check(ios: &[(u64, u64)], depth: &Depth) -> Result<(), TestCaseError> {
        let times = slow_levels(ios, 1_000);
        let highest = times.iter().rposition(|time| *time > 0).expect("time passes");
        prop_assert_eq!(depth.highest, highest as u64);
        for level in &depth.levels {
            let to = if level.from == 0 { 1 } else { level.from * 2 };
            let in_level = (level.from..to).filter_map(|at| times.get(usize::try_from(at).ok()?));
            let right = in_level.sum::<u64>() as f64 / 1_000.0;
            prop_assert!((level.share - right).abs() < 1e-9, "{:?} {right}", level);
        }
        let sum: u64 = ios.iter().map(|(start, end)| end - start).sum();
        prop_assert!((depth.mean - sum as f64 / 1_000.0).abs() < 1e-9);
        Ok(())
    }

    proptest! {
        #[test]
        fn levels_are_exact(ios in prop::collection::vec((0_u64..800, 0_u64..200), 0..60)) {
            let ios = ordered_by_end(ios);
            let mut flights = InFlight::default();
            for &(start, end) in &ios {
                flights.add(start, end);
            }
            let depth = flights.finish(1_000);
            check(&ios, &depth)?;
            prop_assert_eq!(depth.missing_share, 0.0);
        }

        #[test]
        fn a_small_buffer_is_exact_for_short_ios(
            ios in prop::collection::vec((0_u64..990, 0_u64..10), 0..100)
        ) {
            let ios = ordered_by_end(ios);
            let mut flights = InFlight::with_room(64);
            for &(start, end) in &ios {
                flights.add(start, end);
            }
            let depth = flights.finish(1_000);
            if depth.missing_share == 0.0 {
                check(&ios, &depth)?;
            }
        }

        #[test]
        fn a_full_buffer_keeps_the_mean(
            ios in prop::collection::vec((0_u64..800, 0_u64..200), 0..60)
        ) {
            let ios = ordered_by_end(ios);
            let mut flights = InFlight::with_room(4);
            for &(start, end) in &ios {
                flights.add(start, end);
            }
            let depth = flights.finish(1_000);
            let sum: u64 = ios.iter().map(|(start, end)| end - start).sum();
            prop_assert!((depth.mean - sum as f64 / 1_000.0).abs() < 1e-9);
            let placed: f64 = depth.levels.iter().map(|level| level.share).sum();
            prop_assert!((placed - 1.0).abs() < 1e-9);
        }
    }
}
