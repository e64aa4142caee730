//! Ctrl-C while I/O hangs in the kernel, on a mount whose server is gone: no thread that waits for
//! it comes back, and the run would never see that it was stopped.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use iotax_experiment::Target;

use crate::exit;

/// How long a stopped run may take to come back from its I/O. fio is ended within less.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long it may take once its I/O was broken off, and how long what it made may take to be
/// taken down.
const LAST_WAIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);

/// Watches while I/O is done, until it is dropped.
pub(crate) struct Watch {
    is_over: Arc<AtomicBool>,
}

impl Watch {
    /// Ends the process if it is stopped and does not come back from its I/O on `targets`.
    pub(crate) fn over<'a>(
        stop: &Arc<AtomicBool>,
        targets: impl Iterator<Item = &'a Target>,
    ) -> Self {
        let paths: Vec<PathBuf> = targets.filter_map(Target::path).map(Path::to_owned).collect();
        let is_over = Arc::new(AtomicBool::new(false));
        let (stop, watched) = (Arc::clone(stop), Arc::clone(&is_over));
        thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                if watched.load(Ordering::Relaxed) {
                    return;
                }
                thread::sleep(LOOK);
            }
            let comes_back = comes_back(&watched, PATIENCE)
                || iotax_rig::break_off(&paths) && comes_back(&watched, LAST_WAIT);
            if !comes_back {
                let all = iotax_rig::abandon(LAST_WAIT);
                exit::leave(if all { EVERYTHING } else { NOT_ALL });
            }
        });
        Self { is_over }
    }

    /// Ends it before it is dropped.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

const EVERYTHING: &str = "I/O hangs in the kernel, as on a mount whose server is gone, and was left \
                          alone; what this run had made was removed";
const NOT_ALL: &str = "I/O hangs in the kernel, as on a mount whose server is gone, and was left \
                       alone; `iotax undo` removes what this run has made there, when the server \
                       answers again or its mount is gone";

/// Waits until the I/O is over, for so long at most.
fn comes_back(is_over: &AtomicBool, patience: Duration) -> bool {
    let started = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        if started.elapsed() > patience {
            return false;
        }
        thread::sleep(LOOK);
    }
    true
}
