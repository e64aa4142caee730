//! What a plateau is: throughput that no longer grows with depth, while latency grows in
//! proportion.
//!
//! The numbers are those of the method: slopes on logarithmic scales.

/// Slope of ln throughput over ln depth up to which throughput counts as flat.
pub const FLAT: f64 = 0.05;
/// How far the slope of ln latency over ln depth may be from 1.
pub const PROPORTIONAL: f64 = 0.1;
/// Share of a thread's, or of all CPUs' time from which on they are the limit.
pub const BUSY: f64 = 0.85;
