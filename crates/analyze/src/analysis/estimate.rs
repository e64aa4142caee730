//! How well a figure is known.

use iotax_stats::rci::Interval;
use serde::{Deserialize, Serialize};

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Point estimate.
    pub value: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

impl From<Interval> for Estimate {
    fn from(interval: Interval) -> Self {
        Self { value: interval.mean, lo: interval.lo, hi: interval.hi }
    }
}
