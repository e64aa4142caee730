//! The interface between code that needs a load and the drivers that produce one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use iotax_experiment::{IndexEnds, Job, Workload};
use iotax_record::LoadRecord;

use crate::error::Error;
use crate::target::IoTarget;

/// One run of a workload on one target.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub workload: &'a Workload,
    /// Which ends of its index are here.
    pub index_ends: &'a IndexEnds,
    pub target: IoTarget<'a>,
    /// Discarded start, in place of the workload's own.
    pub ramp_ns: u64,
    /// Measured window, in place of the workload's own.
    pub time_ns: u64,
    /// The part of a recording to replay, instead of all of it.
    pub part: Option<u32>,
    /// Determines all offsets, sizes, gaps and data.
    pub seed: u64,
    /// Set by the user to stop early: the record then covers the time so far.
    pub stop: &'a AtomicBool,
    /// For a progress display.
    pub live: Option<&'a LoadProgress>,
}

/// The I/Os that were due in a job's active time; `None` for a closed loop.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(crate) fn offered_ios(job: &Job, active_ns: u64) -> Option<u64> {
    let iops = job.pace.offered_iops()?;
    Some((iops * active_ns as f64 / 1e9).round() as u64)
}

/// Called with (bytes done, bytes in all) while test files are laid out.
pub type LayoutProgress<'a> = dyn Fn(u64, u64) + 'a;

/// Runs whole workloads.
pub trait LoadDriver {
    /// Lays out what the workload needs on the target. Existing files are used as they are, so this
    /// may be called before every trial.
    ///
    /// # Errors
    /// Whatever makes the target unsuitable for the workload, before anything is written; then
    /// full disks and I/O errors; [`Error::Interrupted`] if `stop` was set.
    fn prepare(
        &self,
        workload: &Workload,
        target: IoTarget<'_>,
        progress: &LayoutProgress<'_>,
        stop: &AtomicBool,
    ) -> Result<(), Error>;

    /// Runs the workload once. Failing I/Os are part of the record.
    ///
    /// # Errors
    /// Whatever keeps the load from starting, or makes it crash.
    fn run(&self, request: &Request<'_>) -> Result<LoadRecord, Error>;

    /// Closes what stays open between trials, before targets are removed.
    fn release(&self) {}
}

// What is known of a load while it runs.

/// Progress of a running load, including the ramp. Every thread adds to it about every 10 ms,
/// without waiting for others. For display only.
#[derive(Debug, Default)]
pub struct LoadProgress {
    ios: AtomicU64,
    bytes: AtomicU64,
    window: Mutex<WindowState>,
    changed: Condvar,
}

/// The state of a run's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowState {
    /// When the measured window opened.
    pub opened: Option<Instant>,
    /// When it closed.
    pub closed: Option<Instant>,
    pub over: bool,
}

impl LoadProgress {
    /// I/Os completed so far.
    pub fn ios(&self) -> u64 {
        self.ios.load(Ordering::Relaxed)
    }

    /// Bytes moved so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Waits until the state differs from `seen`, or until `until`, and returns it.
    pub fn wait(&self, seen: WindowState, until: Instant) -> WindowState {
        let left = until.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout_while(self.window(), left, |now| *now == seen);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Signals that the measured window opens now. A driver that does not know that never calls
    /// this; the window is then assumed to close at the end of the run.
    pub fn window_opens(&self) {
        self.change(|window| window.opened = Some(Instant::now()));
    }

    /// The measured window closes now.
    pub fn window_closes(&self) {
        self.change(|window| window.closed = Some(Instant::now()));
    }

    pub fn end(&self) {
        self.change(|window| window.over = true);
    }

    /// Another run begins.
    pub fn begin(&self) {
        self.change(|window| *window = WindowState::default());
    }

    fn change(&self, by: impl FnOnce(&mut WindowState)) {
        by(&mut self.window());
        self.changed.notify_all();
    }

    fn window(&self) -> MutexGuard<'_, WindowState> {
        // Its state is consistent even after a panic.
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So much more was done.
    pub fn add(&self, ios: u64, bytes: u64) {
        self.ios.fetch_add(ios, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn who_waits_learns_of_each_change() {
        let live = LoadProgress::default();
        let far = Instant::now() + Duration::from_mins(10);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let opened = live.wait(WindowState::default(), far);
                let mut last = opened;
                while !last.over {
                    last = live.wait(last, far);
                }
                (opened, last)
            });
            live.window_opens();
            live.window_closes();
            live.end();
            let (opened, last) = waiting.join().unwrap();
            assert!(opened.opened.is_some());
            assert!(last.closed >= last.opened && last.over);
        });
        live.begin();
        assert_eq!(live.wait(WindowState::default(), Instant::now()), WindowState::default());
    }
}
