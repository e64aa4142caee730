//! Ctrl-C ends a run cleanly; a second one ends it at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

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
