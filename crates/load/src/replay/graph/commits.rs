//! Finds waits for syncs by other threads.
//!
//! With group commit, a lock protects the log: the thread that holds it writes and syncs for all
//! threads that asked before its write, and then wakes those that wait. A thread that asked later
//! tries again. In a recording, all of them seem to wait for that one thread. On other storage,
//! others share a sync: what they wait for is a sync, by whichever thread.

use std::collections::HashMap;

use iotax_trace::{Event, File, Op, Thread};

use super::{FileRole, Step};

/// A thread that holds the lock wakes the others soon after its sync.
const RELEASE_NS: u64 = 1_000_000;

/// A wait that ended when another thread had synced a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SyncWait {
    pub file: File,
    /// It began before that thread wrote what it synced.
    pub is_covered: bool,
}

/// Follows what each thread does to files that are synced.
#[derive(Debug, Default)]
pub(super) struct Commits {
    threads: Vec<State>,
    handed_over: HashMap<File, u64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// The last operation, if it is a write: its file and start.
    written: Option<(File, u64)>,
    /// The last operation, if it is a sync.
    synced: Option<Sync>,
    /// The file that the thread that woke this one had synced, if it has done nothing since.
    handed: Option<File>,
}

#[derive(Debug, Clone, Copy)]
struct Sync {
    file: File,
    /// Of the write before it, if it is on the same file.
    start_ns: u64,
    end_ns: u64,
}

impl Commits {
    /// What a thread does, between two times.
    pub(super) fn note(&mut self, thread: Thread, step: &Step, begin_ns: u64, end_ns: u64) {
        let state = self.state(thread);
        let State { written, handed, .. } = *state;
        match step {
            Step::Send => {}
            Step::Io(io) if io.op == Op::Write => {
                let handed = handed.filter(|file| *file == io.file);
                *state = State { written: Some((io.file, begin_ns)), synced: None, handed };
            }
            Step::Io(io) if matches!(io.op, Op::Fsync | Op::Fdatasync) && io.result >= 0 => {
                let of_write = written.filter(|(file, _)| *file == io.file);
                let start_ns = of_write.map_or(begin_ns, |(_, start_ns)| start_ns);
                let synced = Some(Sync { file: io.file, start_ns, end_ns });
                *state = State { written: None, synced, handed: None };
                if handed == Some(io.file) {
                    *self.handed_over.entry(io.file).or_default() += 1;
                }
            }
            Step::Receive { .. } => *state = State { handed, ..State::default() },
            _ => *state = State::default(),
        }
    }

    /// Whether a wake-up is by a thread that has just synced a file.
    pub(super) fn wait(&mut self, wake: &Event, roles: &[FileRole]) -> Option<SyncWait> {
        let synced = self.state(wake.thread).synced.filter(|sync| {
            wake.is_of_locks() && wake.end_ns <= sync.end_ns.saturating_add(RELEASE_NS)
        });
        let woken = super::narrow(wake.detail);
        self.state(woken).handed = synced.map(|sync| sync.file);
        let synced = synced?;
        let role = roles.get(synced.file as usize).copied().unwrap_or_default();
        let is_covered = wake.start_ns() < synced.start_ns;
        role.commits.then_some(SyncWait { file: synced.file, is_covered })
    }

    pub(super) fn handed_over(&self) -> impl Iterator<Item = (File, u64)> {
        self.handed_over.iter().map(|(file, count)| (*file, *count))
    }

    fn state(&mut self, thread: Thread) -> &mut State {
        let at = thread as usize;
        if self.threads.len() <= at {
            self.threads.resize_with(at + 1, State::default);
        }
        &mut self.threads[at]
    }
}
