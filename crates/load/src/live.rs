//! What is shown while a load runs.

use std::sync::atomic::{AtomicU64, Ordering};

/// Progress of a running load: every thread adds to it about every 10 ms, and nobody waits for
/// anybody. Ramp included; for display only.
#[derive(Debug, Default)]
pub struct Live {
    ios: AtomicU64,
    bytes: AtomicU64,
}

impl Live {
    /// I/Os completed so far.
    pub fn ios(&self) -> u64 {
        self.ios.load(Ordering::Relaxed)
    }

    /// Bytes moved so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, ios: u64, bytes: u64) {
        self.ios.fetch_add(ios, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}
