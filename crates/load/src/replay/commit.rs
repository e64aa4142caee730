//! Group commit. If several threads sync a file but their recorded syncs hardly overlap, the replay
//! assumes a lock. On slower storage, threads that arrive during a sync share the next one, as in
//! the application's group commit. On faster storage, threads that waited for a sync of another
//! thread issue more syncs themselves.

use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;

use super::signal::Halt;

const LOOK: Duration = Duration::from_millis(50);

#[derive(Default)]
pub(super) struct Group {
    /// The thread that syncs writes for all, so its sync covers those that have not written yet.
    writes_for_all: bool,
    state: Mutex<State>,
    changed: Condvar,
}

/// A thread writes at most this much for a sync that it did not issue in the recording.
pub(super) const COMMIT_BYTES: u64 = 8192;

#[derive(Default)]
struct State {
    /// Syncs requested.
    asked: u64,
    /// Requested syncs that a finished sync covers.
    covered: u64,
    is_syncing: bool,
    /// Threads between a write and the sync that belongs to it.
    writing: u32,
    failed: Option<Errno>,
    /// Where the last write was that was synced next.
    last_write: Range<u64>,
}

impl State {
    const fn ask(&mut self) -> u64 {
        self.asked += 1;
        self.asked
    }

    /// Of the last sync.
    fn outcome(&self) -> Result<(), Errno> {
        self.failed.map_or(Ok(()), Err)
    }
}

/// How a sync ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Synced {
    /// The caller has issued it.
    Own(Result<(), Errno>),
    /// Another thread's sync covered it.
    Shared(Result<(), Errno>),
    /// The replay is over.
    Over,
}

/// What a thread has to do for the sync of a write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Turn {
    /// It has not begun a write.
    #[default]
    None,
    /// It is writing, and may have requested the sync already: the number of the request.
    Writing(Option<u64>),
    /// Another thread's sync has covered it.
    Covered(Result<(), Errno>),
}

impl Group {
    pub(super) fn new(writes_for_all: bool) -> Self {
        Self { writes_for_all, ..Self::default() }
    }

    /// Before a write that its thread syncs next: it waits for the sync under way. `None` if the
    /// replay is over.
    pub(super) fn begin_write(&self, write: Range<u64>, halt: &Halt<'_>) -> Option<Turn> {
        let mut state = self.lock();
        let own = self.writes_for_all.then(|| state.ask());
        while state.is_syncing {
            if halt.is_raised() {
                return None;
            }
            state = self.wait(state);
            if own.is_some_and(|own| state.covered >= own) {
                return Some(Turn::Covered(state.outcome()));
            }
        }
        state.writing += 1;
        state.last_write = write;
        Some(Turn::Writing(own))
    }

    pub(super) fn sync(
        &self,
        turn: Turn,
        halt: &Halt<'_>,
        sync: impl FnOnce() -> Result<(), Errno>,
    ) -> Synced {
        let mut state = self.lock();
        let asked = match turn {
            Turn::Covered(result) => return Synced::Shared(result),
            Turn::Writing(own) => {
                state.writing = state.writing.saturating_sub(1);
                self.changed.notify_all();
                own
            }
            Turn::None => None,
        };
        let own = asked.unwrap_or_else(|| state.ask());
        while state.covered < own {
            if halt.is_raised() {
                return Synced::Over;
            }
            if state.is_syncing {
                state = self.wait(state);
                continue;
            }
            state.is_syncing = true;
            while state.writing > 0 && !halt.is_raised() {
                state = self.wait(state);
            }
            let covers = state.asked;
            drop(state);
            let result = sync();
            state = self.lock();
            state.covered = covers;
            state.is_syncing = false;
            state.failed = result.err();
            self.changed.notify_all();
            return Synced::Own(result);
        }
        Synced::Shared(state.outcome())
    }

    /// The end of the last write that was synced next.
    pub(super) fn last_written(&self) -> Range<u64> {
        let Range { start, end } = self.lock().last_write.clone();
        start.max(end.saturating_sub(COMMIT_BYTES))..end
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn syncs_never_overlap_and_each_is_covered_by_one_that_began_later() {
        const THREADS: u32 = 8;
        const ROUNDS: u32 = 50;
        let (stop, group) = (AtomicBool::new(false), Group::default());
        let halt = Halt::new(&stop);
        let [under_way, written, durable, issued, shared] = [const { AtomicU32::new(0) }; 5];
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        let turn = group.begin_write(0..1, &halt).unwrap();
                        let own = written.fetch_add(1, Ordering::SeqCst) + 1;
                        let synced = group.sync(turn, &halt, || {
                            assert_eq!(under_way.fetch_add(1, Ordering::SeqCst), 0);
                            let covers = written.load(Ordering::SeqCst);
                            thread::yield_now();
                            durable.store(covers, Ordering::SeqCst);
                            under_way.fetch_sub(1, Ordering::SeqCst);
                            Ok(())
                        });
                        let count = match synced {
                            Synced::Own(Ok(())) => &issued,
                            Synced::Shared(Ok(())) => &shared,
                            other => panic!("{other:?}"),
                        };
                        count.fetch_add(1, Ordering::SeqCst);
                        assert!(durable.load(Ordering::SeqCst) >= own);
                    }
                });
            }
        });
        let [issued, shared] = [&issued, &shared].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(issued + shared, THREADS * ROUNDS);
        stop.store(true, Ordering::SeqCst);
        assert_eq!(group.sync(Turn::None, &halt, || Ok(())), Synced::Over);
    }

    #[test]
    fn one_sync_covers_all_that_asked_during_another() {
        let stop = AtomicBool::new(false);
        let halt = Halt::new(&stop);
        let (group, issued) = (Group::new(true), AtomicU32::new(0));
        let until_asked = |count: u64| {
            while group.lock().asked < count {
                thread::yield_now();
            }
        };
        let sync = || {
            issued.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let synced = group.sync(Turn::None, &halt, || {
                    until_asked(3);
                    sync()
                });
                assert_eq!(synced, Synced::Own(Ok(())));
            });
            until_asked(1);
            // One of them writes and syncs, for both.
            scope.spawn(|| {
                let turn = group.begin_write(8 * COMMIT_BYTES..11 * COMMIT_BYTES, &halt);
                let synced = group.sync(turn.unwrap(), &halt, sync);
                assert!(matches!(synced, Synced::Own(Ok(())) | Synced::Shared(Ok(()))));
            });
            scope.spawn(|| {
                let synced = group.sync(Turn::None, &halt, sync);
                assert!(matches!(synced, Synced::Own(Ok(())) | Synced::Shared(Ok(()))));
            });
        });
        assert_eq!(issued.load(Ordering::SeqCst), 2);
        assert!([0..0, 10 * COMMIT_BYTES..11 * COMMIT_BYTES].contains(&group.last_written()));
    }
}
