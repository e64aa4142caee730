//! Numbers as text: readable units, and no more digits than an interval supports.

use iotax_analyze::{Estimate, Unit};
use iotax_experiment::Engine;
pub use iotax_quantity::{
    bit_rate, bytes, iops, percent, span_of_ns as span, three_digits, time, time_unit,
};
use iotax_quantity::{interval, per_second};

/// Shown in place of a missing figure.
pub const ABSENT: &str = "\u{2013}";

/// A figure, or the sign for a missing one.
pub fn or_absent(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| ABSENT.to_owned())
}

/// A time with its interval, in one unit: `3.1 µs [2.9, 3.3]`.
pub fn time_interval(estimate: Estimate) -> String {
    let Estimate { value, lo, hi } = estimate;
    let (unit, scale) = time_unit(value.abs().max(lo.abs().min(hi.abs())));
    interval(value, lo, hi, scale).replacen(' ', &format!(" {unit} "), 1)
}

/// A figure of a metric.
pub fn figure(unit: Unit, value: f64) -> String {
    match unit {
        Unit::IosPerSecond => iops(value),
        Unit::RequestsPerSecond => requests(value),
        Unit::BitsPerSecond => bit_rate(value),
        Unit::Share => percent(value),
        Unit::Nanoseconds => time(value),
    }
}

/// A rate of round trips or of answered requests: `72,400 requests/s`.
pub fn requests(rate: f64) -> String {
    per_second(rate, "requests/s")
}

/// A rate of connections: `12,100 connections/s`.
pub fn connections(rate: f64) -> String {
    per_second(rate, "connections/s")
}

/// The rate of a job in the unit of its engine: I/Os, requests or connections; bits for streams and
/// datagrams.
pub fn rate_of(engine: Engine, ios_per_second: f64, bytes_per_second: f64) -> String {
    match engine.unit() {
        "request" => requests(ios_per_second),
        "connection" => connections(ios_per_second),
        "block" | "datagram" => bit_rate(8.0 * bytes_per_second),
        _ => iops(ios_per_second),
    }
}

/// The name of a quantile: `p50`, `p99`, `p99.9`.
pub fn quantile_name(q: f64) -> String {
    // Twelve decimals hold every percentile in use; the sum 100 * 0.999 is not exactly 99.9.
    let digits = format!("{:.6}", 100.0 * q);
    format!("p{}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_interval_has_one_unit() {
        let estimate = Estimate { value: 3_100.0, lo: 2_910.0, hi: 3_290.0 };
        assert_eq!(time_interval(estimate), "3.1 µs [2.9, 3.3]");
        let small = Estimate { value: -120.0, lo: -4_000.0, hi: 3_800.0 };
        assert_eq!(time_interval(small), "\u{2212}0.1 µs [\u{2212}4.0, 3.8]");
    }

    #[test]
    fn quantiles_are_named_as_people_say_them() {
        assert_eq!(
            [0.5, 0.99, 0.999, 0.9999, 0.995].map(quantile_name),
            ["p50", "p99", "p99.9", "p99.99", "p99.5"]
        );
    }
}
