//! What every command that drives load has open from its first step to its last.

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

/// Hosts that are ready, and what is known of each, in their order.
pub(crate) struct OpenedHosts {
    pub hosts: Hosts,
    pub records: Vec<HostRecord>,
    /// Of pods with a volume: their nodes, where they are known.
    #[cfg_attr(not(feature = "kubernetes"), expect(dead_code, reason = "there are no pods"))]
    pub nodes: Vec<Option<String>>,
}

/// Ctrl-C is heard, results have a place, and mounts that hang are watched.
pub(crate) struct Session {
    /// Set by Ctrl-C.
    pub stop: Arc<AtomicBool>,
    /// What the load does, for a progress line.
    pub live: Arc<LoadProgress>,
    destination: Destination,
    watch: Watch,
}

impl Session {
    /// Of `command`, whose load is driven elsewhere: nothing hangs here.
    ///
    /// # Errors
    /// As of [`Session::start`].
    #[cfg(feature = "kubernetes")]
    pub(crate) fn elsewhere(command: &str, out: Option<&Path>) -> Result<Self> {
        let session = Self::start(command, out, std::iter::empty())?;
        session.io_is_over();
        Ok(session)
    }

    /// Of `command`, which is about to use `targets`; its results go to `out` if that is given.
    ///
    /// # Errors
    /// If results could not be written: better known before files are laid out, which may take
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

    /// The directory for the results, which nobody else has.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn results_directory(&self) -> Result<Held> {
        self.destination.claim()
    }

    /// No I/O is done from now on: what takes long is printing.
    pub(crate) fn io_is_over(&self) {
        self.watch.end();
    }
}

/// A flag that SIGINT, SIGTERM and SIGHUP set. A second signal kills the process; what that leaves
/// behind is journalled, and `iotax undo` removes it.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Order matters: the default action is taken only if the flag was set by an earlier signal.
        flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .context("signal handlers could not be installed")?;
    }
    // With a handler, a write beyond `ulimit -f` fails with EFBIG and is reported like a full disk;
    // without one it kills the process.
    flag::register(SIGXFSZ, Arc::default()).context("signal handlers could not be installed")?;
    Ok(stop)
}

// Ctrl-C while I/O hangs in the kernel, on a mount whose server is gone: no thread that waits for
// it comes back, and the run would never see that it was stopped.

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
