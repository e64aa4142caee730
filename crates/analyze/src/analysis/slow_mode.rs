//! Latency in two modes: where the time goes when a few I/Os take most of it.

use iotax_quantity::{list, percent, time};
use serde::Serialize;

use super::estimate::QuantilePoint;

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

/// What is shown of the distribution, as far as there are I/Os enough.
const SHOWN: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];

impl SlowMode {
    /// Where the time goes: `2.0 % of reads took 20 ms each, 66 % of all time; the others took 211 us`.
    pub fn sentence(&self) -> String {
        format!(
            "{} of {} took {} each, {} of all time; the others took {}",
            percent(self.share_of_ios),
            if self.writes { "writes" } else { "reads" },
            time(self.median_ns as f64),
            percent(self.share_of_time),
            time(self.others_ns as f64)
        )
    }

    /// `p50 211 us, p90 211 us, p99 20 ms, p99.9 20 ms and longest 21 ms`, of the latencies of the
    /// whole job.
    pub fn percentiles(&self, latency: &[QuantilePoint]) -> String {
        let shown = SHOWN.iter().filter_map(|(q, name)| {
            let point = latency.iter().find(|point| (point.q - q).abs() < 1e-9)?;
            Some(format!("{name} {}", time(point.latency_ns as f64)))
        });
        let longest = format!("longest {}", time(self.max_ns as f64));
        let shown: Vec<String> = shown.chain([longest]).collect();
        list(&shown.iter().map(String::as_str).collect::<Vec<_>>())
    }
}
