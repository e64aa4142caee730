//! Numbers to words: units for people, and no more digits than an interval supports.

use iotax_analyze::{Estimate, Unit};
use iotax_experiment::Engine;
pub use iotax_quantity::{bit_rate, bytes, percent, span_of_ns as span, time, time_unit};
use iotax_quantity::{interval, significant};

/// Shown where there is no figure.
pub const ABSENT: &str = "\u{2013}";

/// A figure, or what is shown where there is none.
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
        Unit::BitsPerSecond => bit_rate(value),
        Unit::Share => percent(value),
        Unit::Nanoseconds => time(value),
    }
}

/// A rate of I/Os: `412 IOPS`, `85.3 k IOPS`, `1.25 M IOPS`.
pub fn iops(per_second: f64) -> String {
    rate(per_second, "IOPS")
}

/// A rate of round trips: `72.4 k requests/s`.
pub fn requests(per_second: f64) -> String {
    rate(per_second, "requests/s")
}

/// A rate of connections: `12.1 k connections/s`.
pub fn connections(per_second: f64) -> String {
    rate(per_second, "connections/s")
}

/// What a job does in a second, in what its engine does: I/Os, requests, connections; bits, where
/// blocks or datagrams only carry them.
pub fn rate_of(engine: Engine, ios_per_second: f64, bytes_per_second: f64) -> String {
    match engine.unit() {
        "request" => requests(ios_per_second),
        "connection" => connections(ios_per_second),
        "block" | "datagram" => bit_rate(8.0 * bytes_per_second),
        _ => iops(ios_per_second),
    }
}

fn rate(per_second: f64, unit: &str) -> String {
    let (prefix, scale) = iops_unit(per_second);
    format!("{}{prefix} {unit}", significant(per_second / scale, 3))
}

/// A rate of I/Os with its interval: `4.63 M IOPS [4.47, 4.80]`.
pub fn iops_interval(Estimate { value, lo, hi }: Estimate) -> String {
    let (prefix, scale) = iops_unit(value);
    interval(value, lo, hi, scale).replacen(' ', &format!("{prefix} IOPS "), 1)
}

fn iops_unit(per_second: f64) -> (&'static str, f64) {
    match per_second {
        x if x >= 999_500.0 => (" M", 1e6),
        x if x >= 9_995.0 => (" k", 1e3),
        _ => ("", 1.0),
    }
}

/// A rate of operations on files: `85.3 k ops/s`.
pub fn operations(per_second: f64) -> String {
    rate(per_second, "ops/s")
}

/// A figure whose unit stands elsewhere: `0`, `0.31`, `412`, `85.3k`.
pub fn plain(value: f64) -> String {
    match value {
        x if x >= 999_500.0 => format!("{}M", significant(x / 1e6, 3)),
        x if x >= 9_995.0 => format!("{}k", significant(x / 1e3, 3)),
        // Less than a figure with two decimals shows.
        x if x < 0.005 => "0".to_owned(),
        x => significant(x, 3),
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
    fn rates_are_human() {
        assert_eq!(iops(4.2), "4.20 IOPS");
        assert_eq!(iops(412.4), "412 IOPS");
        assert_eq!(iops(85_312.0), "85.3 k IOPS");
        assert_eq!(iops(1_254_000.0), "1.25 M IOPS");
    }

    #[test]
    fn plain_figures_are_short() {
        let shown = [0.0, 0.004, 0.312, 9.5, 412.4, 9_994.0, 85_312.0, 2.5e6].map(plain);
        assert_eq!(shown, ["0", "0", "0.31", "9.50", "412", "9994", "85.3k", "2.50M"]);
    }

    #[test]
    fn quantiles_are_named_as_people_say_them() {
        assert_eq!(
            [0.5, 0.99, 0.999, 0.9999, 0.995].map(quantile_name),
            ["p50", "p99", "p99.9", "p99.99", "p99.5"]
        );
    }
}
