//! The session of a command that runs load: signals, results directory, and a watch for hung I/O.

mod destination;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use iotax_experiment::Target;
use iotax_load::LoadProgress;
use iotax_record::HostRecord;
use iotax_rig::Held;
use iotax_run::Hosts;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

pub(crate) use self::destination::Destination;
use crate::exit::{self, Context as _, Result};

/// Hosts that are ready, and a record of each, in the same order.
pub(crate) struct OpenedHosts {
    pub hosts: Hosts,
    pub records: Vec<HostRecord>,
    /// Nodes of pods with a volume, if known.
    #[cfg_attr(not(feature = "kubernetes"), expect(dead_code, reason = "there are no pods"))]
    pub nodes: Vec<Option<String>>,
}

/// Handles Ctrl-C, has a place for results, and watches for hung mounts.
pub(crate) struct Session {
    /// Set by Ctrl-C.
    pub stop: Arc<AtomicBool>,
    /// Progress of the load, for the progress line.
    pub live: Arc<LoadProgress>,
    destination: Destination,
    watch: Watch,
}

impl Session {
    /// Starts the session of `command`, whose load runs elsewhere, so nothing hangs here.
    ///
    /// # Errors
    /// As [`Session::start`].
    #[cfg(feature = "kubernetes")]
    pub(crate) fn elsewhere(command: &str, out: Option<&Path>) -> Result<Self> {
        let session = Self::start(command, out, std::iter::empty())?;
        session.io_is_over();
        Ok(session)
    }

    /// Starts the session of `command`, which will use `targets`; results go to `out` if it is
    /// given.
    ///
    /// # Errors
    /// If results cannot be written. This is checked before test files are written, which may take
    /// minutes.
    pub(crate) fn start<'a>(
        command: &str,
        out: Option<&Path>,
        targets: impl Iterator<Item = &'a Target>,
    ) -> Result<Self> {
        let stop = stop_flag()?;
        let destination = Destination::new(command, out);
        destination.refuse_unusable()?;
        let watch = Watch::over(&stop, targets);
        Ok(Self { stop, live: Arc::default(), destination, watch })
    }

    /// Creates the results directory.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn results_directory(&self) -> Result<Held> {
        self.destination.claim()
    }

    /// Ends the watch for hung I/O, because no more I/O follows.
    pub(crate) fn io_is_over(&self) {
        self.watch.end();
    }
}

/// A flag that SIGINT, SIGTERM and SIGHUP set. A second signal kills the process; `iotax undo` then
/// removes what the journal lists.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Order matters: the default action is taken only if the flag was set by an earlier signal.
        flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .context("cannot install signal handlers")?;
    }
    // With a handler, a write beyond `ulimit -f` fails with EFBIG and is reported like a full disk;
    // without one it kills the process.
    flag::register(SIGXFSZ, Arc::default()).context("cannot install signal handlers")?;
    Ok(stop)
}

// If I/O hangs in the kernel, on a mount whose server is gone, threads that wait for it never
// return, and the run would not notice Ctrl-C.

/// How long a stopped run may wait for its I/O. fio is ended sooner.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long it may wait after its I/O was aborted, and then again for the cleanup.
const LAST_WAIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);

/// Watches for hung I/O until it is dropped.
pub(crate) struct Watch {
    is_over: Arc<AtomicBool>,
}

impl Watch {
    /// Ends the process if it was interrupted and its I/O on `targets` does not return.
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

    /// Ends the watch before it is dropped.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

const EVERYTHING: &str = "I/O hangs in the kernel, for example on a mount whose server is gone, so \
                          iotax did not wait for it; everything that this run created was removed";
const NOT_ALL: &str = "I/O hangs in the kernel, for example on a mount whose server is gone, so \
                       iotax did not wait for it; when the server responds again or the mount is \
                       gone, run `iotax undo` to remove what this run created there";

/// Waits until the I/O is over, at most for `patience`.
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
