//! What every command that drives load has open from its first step to its last.

mod destination;
mod hung;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use iotax_experiment::Target;
use iotax_load::LoadProgress;
use iotax_record::HostRecord;
use iotax_rig::Held;
use iotax_run::Hosts;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::exit::{Context as _, Result};

pub(crate) use self::destination::Destination;

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
    watch: hung::Watch,
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
        let watch = hung::Watch::over(&stop, targets);
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
