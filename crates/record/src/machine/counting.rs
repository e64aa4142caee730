//! How long the kernel's counters have counted, and whether they still do.

use serde::{Deserialize, Serialize};

/// What tells an old trouble from one of now: counters run from boot on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counting {
    /// Seconds since boot: `/proc/uptime`.
    pub up_s: Option<u64>,
    /// How long counters were watched, in milliseconds; `None` if they were read once.
    pub watched_ms: Option<u64>,
    /// How many more there were of [`super::MemorySeen::file_refaults`] in that time.
    pub more_file_refaults: Option<u64>,
}
