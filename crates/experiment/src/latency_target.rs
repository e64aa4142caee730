//! A queue depth that a job finds itself.

use serde::{Deserialize, Serialize};

/// The largest depth, up to the job's own, at which I/Os are fast enough (fio: `latency_target`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencyTarget {
    /// How long an I/O may take.
    pub target_ns: u64,
    /// How long a depth is tried.
    pub window_ns: u64,
    /// How many of the I/Os have to be fast enough, in percent; of 100, one that is not ends the
    /// try at once.
    pub percentile: f64,
    /// Go on adapting when a depth was found, instead of measuring that one for a last window and
    /// ending.
    pub keeps_on: bool,
}
