//! Finds waits for syncs by other threads.
//!
//! With group commit, a lock protects the log: the thread that holds it writes and syncs for all
//! threads that asked before its write, and then wakes those that wait. A thread that asked later
//! tries again. In a recording, all of them seem to wait for that one thread. On other storage,
//! others share a sync: what they wait for is a sync, by whichever thread.

use std::collections::HashMap;

use iotax_trace::{Event, File, Op, Thread};

use super::{FileRole, Step};

/// A thread that holds the lock wakes the others soon after its sync, and they go on soon.
pub(super) const RELEASE_NS: u64 = 1_000_000;
/// The thread that takes over may wait for a CPU first.
const TAKE_OVER_NS: u64 = 20_000_000;

/// A wait that ended when another thread had synced a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SyncWait {
    pub file: File,
    /// It began before that thread wrote what it synced.
    pub is_covered: bool,
}

/// How threads take turns to sync a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::replay) struct Turns {
    /// Syncs whose thread was woken by the one that had synced before.
    pub handed_over: u64,
    /// Waits for a sync that covered the thread, which then went on without a sync.
    pub followed: u64,
}

/// Follows what each thread does to files that are synced.
#[derive(Debug, Default)]
pub(super) struct Commits {
    threads: Vec<State>,
    pub turns: HashMap<File, Turns>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// The last operation, if it is a write: its file and start.
    written: Option<(File, u64)>,
    /// The last operation, if it is a sync.
    synced: Option<Sync>,
    /// A wait for a sync, if the thread has since only written to the file and woken others.
    waited: Option<Waited>,
}

#[derive(Debug, Clone, Copy)]
struct Sync {
    file: File,
    /// Of the write before it, if it is on the same file.
    start_ns: u64,
    end_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct Waited {
    of: SyncWait,
    end_ns: u64,
}

impl Commits {
    /// Notes what a thread does, from one time to another.
    pub(super) fn note(&mut self, thread: Thread, step: &Step, begin_ns: u64, end_ns: u64) {
        let state = self.state(thread);
        let State { written, waited, .. } = *state;
        match step {
            Step::Send => {}
            // `wait` comes before this.
            Step::Receive { .. } => *state = State { waited, ..State::default() },
            Step::Io(io) if io.op == Op::Write => {
                let goes_on = waited.filter(|wait| wait.of.file == io.file);
                let written = Some((io.file, begin_ns));
                *state = State { written, synced: None, waited: goes_on };
                if goes_on.is_none() {
                    self.follows(waited);
                }
            }
            Step::Io(io) if matches!(io.op, Op::Fsync | Op::Fdatasync) && io.result >= 0 => {
                let of_write = written.filter(|(file, _)| *file == io.file);
                let start_ns = of_write.map_or(begin_ns, |(_, start_ns)| start_ns);
                let synced = Some(Sync { file: io.file, start_ns, end_ns });
                *state = State { written: None, synced, waited: None };
                let takes_over = |wait: &Waited| {
                    wait.of.file == io.file && start_ns <= wait.end_ns.saturating_add(TAKE_OVER_NS)
                };
                if waited.as_ref().is_some_and(takes_over) {
                    self.turns.entry(io.file).or_default().handed_over += 1;
                }
            }
            _ => {
                *state = State::default();
                self.follows(waited);
            }
        }
    }

    /// A wait that ends with a wake-up by a thread that has just synced a file.
    pub(super) fn wait(&mut self, wake: &Event, roles: &[FileRole]) -> Option<SyncWait> {
        let synced = self.state(wake.thread).synced.filter(|sync| {
            wake.is_of_locks() && wake.end_ns <= sync.end_ns.saturating_add(RELEASE_NS)
        });
        let woken = self.state(super::narrow(wake.detail));
        let before = woken.waited.take();
        // One that was not covered and waits on asked when its first wait began.
        let waits_on = |sync: &Sync| {
            before.is_some_and(|before| {
                before.of == SyncWait { file: sync.file, is_covered: false }
                    && wake.start_ns() <= before.end_ns.saturating_add(TAKE_OVER_NS)
            })
        };
        let found = synced.map(|sync| SyncWait {
            file: sync.file,
            is_covered: wake.start_ns() < sync.start_ns || waits_on(&sync),
        });
        woken.waited = found.map(|of| Waited { of, end_ns: wake.end_ns });
        self.follows(before);
        found.filter(|wait| roles.get(wait.file as usize).is_some_and(|role| role.commits))
    }

    /// A thread goes on after a wait without a sync.
    fn follows(&mut self, waited: Option<Waited>) {
        if let Some(Waited { of: SyncWait { file, is_covered: true }, .. }) = waited {
            self.turns.entry(file).or_default().followed += 1;
        }
    }

    fn state(&mut self, thread: Thread) -> &mut State {
        let at = thread as usize;
        if self.threads.len() <= at {
            self.threads.resize_with(at + 1, State::default);
        }
        &mut self.threads[at]
    }
}
