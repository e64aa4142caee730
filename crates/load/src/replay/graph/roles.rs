//! What the survey has found out about the threads and files of a trace.

use std::collections::HashSet;

use iotax_trace::{Event, File, Flags, NO_FILE, Thread};

use super::{MOST_LANES, is_replayed, names};

/// How a thread is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(in crate::replay) struct ThreadRole {
    /// The thread is timer-driven: its nodes start at recorded times, and it waits for no other
    /// thread.
    pub is_clocked: bool,
    /// It does I/O, or wakes others.
    pub has_work: bool,
    /// It does no I/O, and answers no clients.
    pub only_wakes: bool,
    /// Tracks for its asynchronous I/Os; 0 if they never overlap.
    pub lanes: u32,
    /// It syncs a file of which [`FileRole::commits`] is set.
    pub commits: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::replay) struct FileRole {
    /// Its first event is the open that creates it.
    pub is_created: bool,
    /// Threads that wait for a sync of this file share the next one.
    pub shares_syncs: bool,
    /// Threads that waited for a sync by another thread could have issued it.
    pub commits: bool,
}

/// What arrives from outside at its recorded time, rather than after the node before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::replay) enum ClockedArrivals {
    #[default]
    Nothing,
    Requests,
    /// No requests are recorded: a long think time is taken for the wait for one.
    AfterLongGaps,
}

/// What the survey has found out about the trace.
#[derive(Debug, Clone, Default)]
pub(in crate::replay) struct Roles {
    pub threads: Vec<ThreadRole>,
    pub files: Vec<FileRole>,
    /// All I/Os may overlap in a thread: the trace has no system calls.
    pub all_overlap: bool,
    /// All start by the clock: the trace has no latencies.
    pub all_clocked: bool,
    pub clocked: ClockedArrivals,
    /// Connections whose next request does not wait for the last answer.
    pub shared_connections: HashSet<u16>,
    /// The start of the first event.
    pub origin_ns: u64,
}

impl Roles {
    /// A thread that was not surveyed yet is not clocked, has work, and may overlap its I/Os.
    pub(super) fn thread(&self, thread: Thread) -> ThreadRole {
        let unknown = ThreadRole {
            is_clocked: false,
            has_work: true,
            only_wakes: false,
            lanes: MOST_LANES,
            commits: true,
        };
        self.threads.get(thread as usize).copied().unwrap_or(unknown)
    }

    pub(super) fn file(&self, file: File) -> FileRole {
        self.files.get(file as usize).copied().unwrap_or_default()
    }

    pub(in crate::replay) fn is_asynchronous(&self, event: &Event) -> bool {
        let flags = event.flags;
        let is_one = self.all_overlap || flags.contains(Flags::URING) || flags.contains(Flags::AIO);
        is_one && event.file != NO_FILE && !names(event.op) && is_replayed(event)
    }
}
