//! Stopping threads before the window is over, and which of them have finished.

use std::thread;

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What stops a thread before the window is over.
#[derive(Clone, Copy)]
pub(crate) struct StopFlags<'a> {
    pub user: &'a AtomicBool,
    /// Another thread of the load that broke down.
    pub broken: &'a AtomicBool,
    /// A job that ends all others is through.
    pub ended: &'a AtomicBool,
}

impl StopFlags<'_> {
    /// Whether the measurement ends.
    pub(crate) fn raised(&self) -> bool {
        self.ended.load(Ordering::Relaxed) || self.abandoned()
    }

    /// Whether nobody wants what would come after it either.
    pub(crate) fn abandoned(&self) -> bool {
        self.user.load(Ordering::Relaxed) || self.broken.load(Ordering::Relaxed)
    }
}

/// Who is still at it.
pub(crate) struct Running {
    broken: AtomicBool,
    ended: AtomicBool,
    /// Threads of each job that may still issue I/O.
    jobs: Vec<AtomicUsize>,
    /// Threads of the index that are not through.
    index: AtomicUsize,
}

impl Running {
    /// So many threads of each job, and of the index.
    pub(crate) fn new(jobs: &[usize], index: usize) -> Self {
        Self {
            broken: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            jobs: jobs.iter().map(|threads| AtomicUsize::new(*threads)).collect(),
            index: AtomicUsize::new(index),
        }
    }

    pub(crate) fn flags<'a>(&'a self, user: &'a AtomicBool) -> StopFlags<'a> {
        StopFlags { user, broken: &self.broken, ended: &self.ended }
    }

    /// Counts a thread of a job as through when dropped.
    pub(crate) fn through(&self, job: usize, ends_all: bool) -> Through<'_> {
        let ended = ends_all.then_some(&self.ended);
        Through { running: &self.jobs[job], ended, broken: &self.broken }
    }

    /// Counts a thread of the index as through when dropped.
    pub(crate) fn index_through(&self) -> Through<'_> {
        Through { running: &self.index, ended: None, broken: &self.broken }
    }

    /// Whoever sees that sees all that their threads did before.
    pub(crate) fn jobs_are_through(&self) -> bool {
        self.jobs.iter().all(|running| running.load(Ordering::Acquire) == 0)
    }

    pub(crate) fn all_are_through(&self) -> bool {
        self.jobs_are_through() && self.index.load(Ordering::Acquire) == 0
    }

    /// Whether a job has ended everything before its time.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

/// See [`Running::through`]. If its thread panics, all others end; so they do if it is
/// the last one of a job that ends all others.
pub(crate) struct Through<'a> {
    running: &'a AtomicUsize,
    ended: Option<&'a AtomicBool>,
    broken: &'a AtomicBool,
}

impl Drop for Through<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.broken.store(true, Ordering::Relaxed);
        }
        let was_last = self.running.fetch_sub(1, Ordering::Release) == 1;
        if was_last && let Some(ended) = self.ended {
            ended.store(true, Ordering::Relaxed);
        }
    }
}
