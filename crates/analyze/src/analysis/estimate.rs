//! Single figures: a value with its interval, a quantile with its latency.

use iotax_stats::rci::Interval;
use serde::Serialize;

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Point estimate.
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

impl From<Interval> for Estimate {
    fn from(interval: Interval) -> Self {
        Self { value: interval.mean, lo: interval.lo, hi: interval.hi }
    }
}

/// One point of a latency percentile curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantilePoint {
    /// Quantile in 0..1.
    pub q: f64,
    /// Latency in nanoseconds.
    pub latency_ns: u64,
}
