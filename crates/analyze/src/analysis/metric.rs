//! What is compared, and how well it is known.

use iotax_stats::rci::Interval;
use serde::{Deserialize, Serialize};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// I/Os per second of the primary job; tax = 1 - with / without.
    Throughput,
    /// Mean response time at the offered rate; tax = with / without - 1.
    Latency,
    /// 99th percentile of response time at the offered rate; tax = with / without - 1.
    P99,
    /// Mean index load time; tax = with / without - 1.
    LoadTime,
    /// CPU time per I/O; tax = with / without - 1.
    CpuPerIo,
}

impl Metric {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Latency => "mean latency",
            Self::P99 => "p99 latency",
            Self::LoadTime => "index load time",
            Self::CpuPerIo => "CPU per I/O",
        }
    }

    /// Whether it says how fast the storage is.
    pub(crate) fn is_speed(self) -> bool {
        self != Self::CpuPerIo
    }

    /// Whether less is better, and the unit is nanoseconds.
    pub(crate) fn is_time(self) -> bool {
        self != Self::Throughput
    }

    /// Whether a cap can make it equal.
    pub(crate) const fn is_capped(self) -> bool {
        matches!(self, Self::Throughput)
    }
}

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
