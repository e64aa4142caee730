use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use iotax_record::OperationRecord;
use iotax_spec::IndexLoads;

use crate::native::window::{StopFlags, Window};

/// The number of the version in place.
#[derive(Debug)]
pub(crate) struct Published(AtomicU64);

impl Published {
    /// Version 1 is in place.
    pub(crate) fn first() -> Self {
        Self(AtomicU64::new(1))
    }

    pub(super) fn set(&self, version: u64) {
        self.0.store(version, Ordering::Release);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// What the driver and the searcher of one run go by.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    /// The task.
    pub loads: IndexLoads,
    /// Version in place.
    pub published: &'a Published,
    /// When both start.
    pub start_ns: u64,
    /// What is counted.
    pub window: Window,
    /// What ends them early.
    pub flags: StopFlags<'a>,
    /// Arrivals and offsets of queries follow from it.
    pub seed: u64,
}

impl Run<'_> {
    /// Counts an operation that was under way from the one time to the other. Whether it succeeded
    /// in the window.
    pub(super) fn count<T>(
        &self,
        sum: &mut OperationRecord,
        [from_ns, done_ns]: [u64; 2],
        outcome: io::Result<T>,
    ) -> bool {
        let is_in_window = (self.window.open_ns..self.window.close_ns).contains(&done_ns);
        match outcome {
            Ok(_) if is_in_window => {
                let took_ns = done_ns.saturating_sub(from_ns);
                sum.latency.record(took_ns);
                if let Some(slow) = &mut sum.slow {
                    slow.count += u64::from(took_ns > slow.above_ns);
                }
            }
            Ok(_) => {}
            Err(error) => {
                sum.errors += u64::from(is_in_window);
                let what = &sum.name;
                sum.first_error.get_or_insert_with(|| format!("index: {what}: {error}"));
                return false;
            }
        }
        is_in_window
    }
}

/// Nothing done yet.
pub(super) fn operation(name: &str) -> OperationRecord {
    OperationRecord { name: name.to_owned(), ..OperationRecord::default() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use iotax_record::Slow;

    use super::*;
    use crate::native::testing;

    #[test]
    fn what_ends_in_the_window_counts_and_the_first_failure_is_told_from_anywhere() {
        let raised = AtomicBool::new(false);
        let run = Run {
            loads: testing::index_loads(1),
            published: &Published::first(),
            start_ns: 0,
            window: Window { open_ns: 100, close_ns: 200 },
            flags: StopFlags { user: &raised, broken: &raised, ended: &raised },
            seed: 1,
        };
        let slow = Some(Slow { above_ns: 20, count: 0 });
        let mut sum = OperationRecord { slow, ..operation("load") };
        let mut count =
            |from_ns, done_ns, outcome| run.count(&mut sum, [from_ns, done_ns], outcome);
        let failed = |what: &str| Err::<(), _>(io::Error::other(what.to_owned()));
        let times = [(0, 99), (90, 110), (110, 131), (190, 200)];
        let counted = times.map(|(from_ns, done_ns)| count(from_ns, done_ns, Ok(())));
        assert_eq!(counted, [false, true, true, false]);
        assert!(!count(0, 50, failed("before")));
        assert!(!count(110, 120, failed("in it")));
        assert_eq!((sum.latency.count(), sum.errors), (2, 1));
        assert_eq!(sum.slow, Some(Slow { above_ns: 20, count: 1 }));
        assert_eq!(sum.first_error.as_deref(), Some("index: load: before"));
    }
}
