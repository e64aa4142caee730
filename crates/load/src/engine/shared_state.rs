//! What all threads of a run share: its request, its clock, and who is through.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::clock::TscClock;
use super::flow::Groups;
use super::gate::Gate;
use super::window::{StopFlags, Window};
use crate::driver::Request;

/// How often the coordinator looks whether to end early.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// What all threads of a run share.
pub(crate) struct SharedState<'a> {
    pub request: &'a Request<'a>,
    pub clock: TscClock,
    pub gate: Gate,
    /// Those that keep their I/Os in proportion.
    pub flows: Groups,
    /// A thread broke down: all others end too.
    broken: AtomicBool,
    /// A job that ends all others is through.
    ended: AtomicBool,
    /// Threads of each job that may still issue I/O.
    jobs_running: Vec<AtomicUsize>,
    /// Threads of the index that are not through.
    index_running: AtomicUsize,
}

impl<'a> SharedState<'a> {
    /// For so many threads of each job, and those of the index if the workload has one.
    pub(crate) fn new(request: &'a Request<'a>, jobs: impl Iterator<Item = usize>) -> Self {
        let jobs: Vec<usize> = jobs.collect();
        Self {
            request,
            clock: TscClock::anchored_now(),
            gate: Gate::new(),
            flows: Groups::of(request.workload, &jobs),
            broken: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            jobs_running: jobs.into_iter().map(AtomicUsize::new).collect(),
            index_running: AtomicUsize::new(if request.workload.index.is_some() { 2 } else { 0 }),
        }
    }

    pub(crate) fn flags(&self) -> StopFlags<'_> {
        StopFlags { user: self.request.stop, broken: &self.broken, ended: &self.ended }
    }

    pub(crate) fn window(&self, start_ns: u64) -> Window {
        let open_ns = start_ns + self.request.ramp_ns;
        Window { open_ns, close_ns: open_ns + self.request.time_ns }
    }

    /// Counts a thread of a job as through when dropped.
    pub(crate) fn through(&self, job: usize) -> Through<'_> {
        let ends_all = self.request.workload.jobs[job].ends_all;
        Through {
            running: &self.jobs_running[job],
            ended: ends_all.then_some(&self.ended),
            broken: &self.broken,
        }
    }

    /// Counts a thread of the index as through when dropped.
    pub(crate) fn index_through(&self) -> Through<'_> {
        Through { running: &self.index_running, ended: None, broken: &self.broken }
    }

    pub(crate) fn jobs_are_through(&self) -> bool {
        self.jobs_running.iter().all(|running| running.load(Ordering::Acquire) == 0)
    }

    /// Whether a job has ended everything before its time.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    pub(crate) fn all_are_through(&self) -> bool {
        self.jobs_are_through() && self.index_running.load(Ordering::Acquire) == 0
    }
}

/// See [`SharedState::through`]. If its thread panics, all others end; so they do if it is
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
