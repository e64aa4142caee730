//! What is known of a load while it runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Progress of a running load: every thread adds to it about every 10 ms, and nobody waits for
/// anybody. Ramp included; for display only.
#[derive(Debug, Default)]
pub struct LoadProgress {
    ios: AtomicU64,
    bytes: AtomicU64,
    window: Mutex<WindowState>,
    changed: Condvar,
}

/// How far a run is.
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

    /// How far it is, as soon as that differs from `seen`, or at `until`.
    pub fn wait(&self, seen: WindowState, until: Instant) -> WindowState {
        let left = until.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout_while(self.window(), left, |now| *now == seen);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Tells those who wait that the measured window opens now. A driver that cannot know says
    /// nothing; the window is then taken to have closed when the run was over.
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
        // It is whole at any time, whoever panicked.
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
