use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use iotax_experiment::IndexLoads;
use iotax_record::OperationRecord;
use iotax_vdisk::Clock;

use super::IndexStore;
use crate::engine::stop::StopFlags;
use crate::engine::window::Window;

/// The number of the version in place.
#[derive(Debug)]
pub(crate) enum Published {
    /// As the driver in this process counts.
    Counted(AtomicU64),
    /// As a searcher counts that sees one file replace another at this path: which was there last, and
    /// how many were.
    Seen { path: PathBuf, seen: Mutex<(Option<Identity>, u64)> },
}

/// What tells one version from the next: inode number, and when it was written.
type Identity = (u64, i64, i64);

impl Published {
    /// Version 1 is in place.
    pub(crate) fn first() -> Self {
        Self::Counted(AtomicU64::new(1))
    }

    /// What somebody else publishes at `path` is version 1.
    pub(crate) fn elsewhere(path: PathBuf) -> Self {
        let seen = Mutex::new((identity(&path), 1));
        Self::Seen { path, seen }
    }

    pub(super) fn set(&self, version: u64) {
        match self {
            Self::Counted(counted) => counted.store(version, Ordering::Release),
            Self::Seen { .. } => unreachable!("who publishes counts"),
        }
    }

    pub(super) fn get(&self) -> u64 {
        match self {
            Self::Counted(counted) => counted.load(Ordering::Acquire),
            Self::Seen { path, seen } => {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                let now = identity(path);
                // While one is put in the place of the other, some file systems show neither.
                if now.is_some() && now != seen.0 {
                    *seen = (now, seen.1 + 1);
                }
                seen.1
            }
        }
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let facts = path.symlink_metadata().ok()?;
    Some((facts.ino(), facts.mtime(), facts.mtime_nsec()))
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

/// How long to sleep at most before looking at the stop flags again.
const POLL_INTERVAL_NS: u64 = 10_000_000;

/// Publishes versions 2, 3, ... until the window closes, at most at the asked rate: each starts
/// one period after the start of the one before, or when that one is done if it took longer.
pub(crate) fn publish_versions(
    store: &mut dyn IndexStore,
    clock: &dyn Clock,
    run: &Run<'_>,
) -> OperationRecord {
    let mut record = operation("publish");
    let period_ns = 1e9 / run.loads.versions_per_second;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is > 0")]
    let period_ns = period_ns as u64;
    let over = || clock.now_ns() >= run.window.close_ns || run.flags.raised();
    let mut due_ns = run.start_ns;
    let mut version = 1;
    loop {
        while clock.now_ns() < due_ns && !over() {
            clock.sleep_until(due_ns.min(clock.now_ns() + POLL_INTERVAL_NS));
        }
        if over() {
            return record;
        }
        let began_ns = clock.now_ns();
        due_ns = began_ns.max(due_ns).saturating_add(period_ns);
        let outcome = store.publish(version + 1, &over);
        let done_ns = clock.now_ns();
        match outcome {
            Ok(true) => {
                version += 1;
                run.published.set(version);
            }
            Ok(false) => return record,
            Err(_) => {}
        }
        run.count(&mut record, [began_ns, done_ns], outcome);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use iotax_record::Slow;

    use super::*;
    use crate::engine::testing;

    #[test]
    fn a_version_that_takes_the_place_of_another_is_seen_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index");
        let publish = |content: &str| {
            let aside = directory.path().join("aside");
            std::fs::write(&aside, content).unwrap();
            std::fs::rename(aside, &path).unwrap();
        };
        publish("one");
        let published = Published::elsewhere(path.clone());
        assert_eq!([published.get(), published.get()], [1, 1]);
        publish("two");
        assert_eq!([published.get(), published.get()], [2, 2]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(published.get(), 2);
    }

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
