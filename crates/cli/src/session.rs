//! What every command that drives load has open from its first step to its last.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result};
use iotax_experiment::{Spec, Target, Workload};
use iotax_load::LoadProgress;
use iotax_rig::Held;
use iotax_run::Host;

use crate::destination::Destination;
use crate::{hung, signals};

/// What a host is given: the flag that ends it, and the counters of what is done.
pub(crate) type Flags<'a> = (&'a Arc<AtomicBool>, &'a Arc<LoadProgress>);

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
        let stop = signals::stop_flag()?;
        let destination = Destination::new(command, out);
        destination.refuse_unusable()?;
        let watch = hung::Watch::over(&stop, targets);
        Ok(Self { stop, live: Arc::default(), destination, watch })
    }

    /// What a host is given: the flag that ends it, and the counters of what is done.
    pub(crate) fn flags(&self) -> Flags<'_> {
        (&self.stop, &self.live)
    }

    /// Brings every arm up and lays out its files; `show` is told how many bytes of how many are
    /// written. False if the user stopped it.
    ///
    /// # Errors
    /// If an arm does not come up, or its files cannot be written.
    pub(crate) fn lay_out(
        &self,
        spec: &Spec,
        host: &mut dyn Host,
        show: &dyn Fn(u64, u64),
    ) -> Result<bool> {
        let phases: Vec<&Workload> = spec.phases().collect();
        for (at, arm) in spec.arms.iter().enumerate() {
            host.up(at)?;
            host.prepare(at, arm.driver, &phases, show)
                .with_context(|| format!("arm {}", arm.name))?;
            if self.stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
        }
        Ok(true)
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
