//! Group commit. If several threads sync a file but their recorded syncs hardly overlap, the replay
//! assumes a lock. On slower storage, threads that arrive during a sync share the next one, as in
//! the application's group commit.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;

use super::signal::Halt;

const LOOK: Duration = Duration::from_millis(50);

#[derive(Default)]
pub(super) struct Group {
    state: Mutex<State>,
    changed: Condvar,
}

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

impl Group {
    /// Before a write that its thread syncs next: it waits for the sync under way. False if the
    /// replay is over.
    pub(super) fn begin_write(&self, halt: &Halt<'_>) -> bool {
        let mut state = self.lock();
        while state.is_syncing {
            if halt.is_raised() {
                return false;
            }
            state = self.wait(state);
        }
        state.writing += 1;
        true
    }

    pub(super) fn sync(
        &self,
        ends_write: bool,
        halt: &Halt<'_>,
        sync: impl FnOnce() -> Result<(), Errno>,
    ) -> Synced {
        let mut state = self.lock();
        if ends_write {
            state.writing = state.writing.saturating_sub(1);
            self.changed.notify_all();
        }
        state.asked += 1;
        let own = state.asked;
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
        Synced::Shared(state.failed.map_or(Ok(()), Err))
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
                        assert!(group.begin_write(&halt));
                        let own = written.fetch_add(1, Ordering::SeqCst) + 1;
                        let synced = group.sync(true, &halt, || {
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
        assert_eq!(group.sync(false, &halt, || Ok(())), Synced::Over);
    }
}
