//! Latency in two modes: where the time goes when a few I/Os take most of it.

use serde::Serialize;

/// I/Os that take many times as long as the others, with next to none in between, and that have a
/// large share of all time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SlowMode {
    /// Whether they are writes; reads else.
    pub writes: bool,
    pub ios: u64,
    /// Their share of the I/Os of their direction.
    pub share_of_ios: f64,
    /// Their share of the time of all I/Os of the job.
    pub share_of_time: f64,
    /// Median of their latencies, in nanoseconds.
    pub median_ns: u64,
    /// Median of the others of their direction, in nanoseconds.
    pub others_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
}
