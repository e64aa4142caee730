//! What all threads of a run share: its request, its clock, and who is through.

use std::time::Duration;

use super::clock::TscClock;
use super::flow::Groups;
use super::gate::Gate;
use super::stop::{Running, StopFlags, Through};
use super::window::Window;
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
    pub running: Running,
}

impl<'a> SharedState<'a> {
    /// For so many threads of each job, and those of the index if the workload has one.
    pub(crate) fn new(request: &'a Request<'a>, jobs: &[usize]) -> Self {
        let index = if request.workload.index.is_some() { 2 } else { 0 };
        Self {
            request,
            clock: TscClock::anchored_now(),
            gate: Gate::new(),
            flows: Groups::of(request.workload, jobs),
            running: Running::new(jobs, index),
        }
    }

    pub(crate) fn flags(&self) -> StopFlags<'_> {
        self.running.flags(self.request.stop)
    }

    pub(crate) fn window(&self, start_ns: u64) -> Window {
        let open_ns = start_ns + self.request.ramp_ns;
        Window { open_ns, close_ns: open_ns + self.request.time_ns }
    }

    pub(crate) fn through(&self, job: usize) -> Through<'_> {
        self.running.through(job, self.request.workload.jobs[job].ends_all)
    }
}
