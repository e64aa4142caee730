//! Defines a plateau: throughput no longer grows with depth, and latency grows in proportion to it.
//!
//! The constants are slopes on logarithmic scales.

/// Slope of ln throughput over ln depth up to which throughput counts as flat.
pub const FLAT: f64 = 0.05;
/// Maximum deviation of the slope of ln latency over ln depth from 1.
pub const PROPORTIONAL: f64 = 0.1;
/// Minimum CPU utilisation, of a thread or of all CPUs, at which CPU is the limit.
pub const BUSY: f64 = 0.85;
