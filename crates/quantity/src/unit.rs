//! Formats each kind of quantity, in the same way for reports and errors.

use crate::number::{exact, fixed, grouped, significant, three_digits, without_empty_decimals};

const MIB: f64 = 1_048_576.0;

/// The unit for a time of this size, and its length in nanoseconds.
pub fn time_unit(ns: f64) -> (&'static str, f64) {
    match ns {
        x if x >= 999.5e6 => ("s", 1e9),
        x if x >= 999.5e3 => ("ms", 1e6),
        x if x >= 999.5 => ("µs", 1e3),
        _ => ("ns", 1.0),
    }
}

/// A measured time: `850 ns`, `31.2 µs`, `1.00 ms`, `20.0 s`.
pub fn time(ns: f64) -> String {
    let (unit, scale) = time_unit(ns.abs());
    if ns == 0.0 { format!("0 {unit}") } else { format!("{} {unit}", significant(ns / scale, 3)) }
}

/// A configured or documented time: `1.5 ms`, `20 s`.
pub fn set_time(ns: u64) -> String {
    let (unit, scale) = time_unit(ns as f64);
    format!("{} {unit}", exact(ns as f64 / scale))
}

/// A duration in at most two units: `42 s`, `1 min 40 s`, `2 h`, `12 days`.
pub fn span(seconds: u64) -> String {
    let (large, of_large, small, of_small) = match seconds {
        0..=119 => return format!("{seconds} s"),
        120..=7_199 => ("min", 60, "s", 1),
        7_200..=172_799 => ("h", 3_600, "min", 60),
        _ => ("days", 86_400, "h", 3_600),
    };
    let (most, rest) = (grouped(seconds / of_large), seconds % of_large / of_small);
    if rest == 0 { format!("{most} {large}") } else { format!("{most} {large} {rest} {small}") }
}

/// Like `span`, but in milliseconds below one second: `850 ms`.
pub fn span_of_ns(ns: u64) -> String {
    match ns.saturating_add(500_000_000) / 1_000_000_000 {
        0 => format!("{} ms", ns / 1_000_000),
        seconds => span(seconds),
    }
}

/// A size with three significant digits, without trailing zeros: `512 B`, `4 KiB`, `74.9 GiB`.
pub fn bytes(count: f64) -> String {
    let (mut scaled, mut unit) = (count, "B");
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        // Bytes are exact up to the next unit.
        if scaled < if unit == "B" { 1_023.5 } else { 999.5 } {
            break;
        }
        scaled /= 1_024.0;
        unit = larger;
    }
    format!("{} {unit}", without_empty_decimals(&significant(scaled, 3)))
}

/// Like [`bytes`], for a whole number.
pub fn size(count: u64) -> String {
    bytes(count as f64)
}

/// A documented size, always in GiB: `16,384 GiB`.
pub fn gib(count: f64) -> String {
    format!("{} GiB", exact(count))
}

/// The exact size of a packet or sector: `1,472 B`.
pub fn single_bytes(count: u64) -> String {
    format!("{} B", grouped(count))
}

/// A measured rate: `4.20 IOPS`, `8,523 requests/s`, `85,300 ops/s`.
pub fn per_second(rate: f64, unit: &str) -> String {
    format!("{} {unit}", three_digits(rate))
}

/// A measured rate of I/Os: `412 IOPS`, `85,300 IOPS`.
pub fn iops(rate: f64) -> String {
    per_second(rate, "IOPS")
}

/// A configured or documented rate of I/Os: `18,750 IOPS`.
pub fn iops_limit(rate: f64) -> String {
    format!("{} IOPS", limit_figure(rate))
}

/// A configured or documented rate without its unit: `25,600`, `1,187.5`.
pub fn limit_figure(amount: f64) -> String {
    let decimals = match amount {
        x if x < 1.0 => 3,
        x if x < 10.0 => 2,
        _ => 1,
    };
    without_empty_decimals(&fixed(amount, decimals)).to_owned()
}

/// A measured bandwidth: `14.0 MiB/s`, `333 MiB/s`, `8,523 MiB/s`.
pub fn mib_per_s(rate: f64) -> String {
    format!("{} MiB/s", bandwidth(rate / MIB))
}

/// A documented bandwidth limit in units of 2^20 bytes: `60 MiB/s`.
pub fn mib_per_s_limit(rate: f64) -> String {
    format!("{} MiB/s", limit_figure(rate / MIB))
}

/// A documented bandwidth limit in units of 10^6 bytes: `333 MB/s`.
pub fn mb_per_s(rate: f64) -> String {
    format!("{} MB/s", limit_figure(rate / 1e6))
}

/// A measured bandwidth in units of 10^6 bytes: `6.12 MB/s`, `1,849 MB/s`.
pub fn measured_mb_per_s(rate: f64) -> String {
    format!("{} MB/s", bandwidth(rate / 1e6))
}

/// A bandwidth without its unit: `0.047`, `14.0`, `333`, `8,523`.
pub fn bandwidth(amount: f64) -> String {
    match amount {
        // Two decimals are not enough for low rates.
        x if x > 0.0 && x < 0.0995 => fixed(x, 3),
        x => significant(x, 3),
    }
}

/// A bit rate: `412 Mbit/s`, `9.41 Gbit/s`.
pub fn bit_rate(per_second: f64) -> String {
    let (prefix, scale) = match per_second {
        x if x >= 999_500_000.0 => ("G", 1e9),
        x if x >= 999_500.0 => ("M", 1e6),
        _ => ("k", 1e3),
    };
    format!("{} {prefix}bit/s", significant(per_second / scale, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_take_the_unit_that_keeps_them_short() {
        let shown = [0.0, 31.25, 999.6, 31_200.0, 1_250_000.0, 2.1e9, 2e10].map(time);
        assert_eq!(shown, ["0 ns", "31.2 ns", "1.00 µs", "31.2 µs", "1.25 ms", "2.10 s", "20.0 s"]);
        let shown = [0, 1_500_000, 20_000_000_000].map(set_time);
        assert_eq!(shown, ["0 ns", "1.5 ms", "20 s"]);
    }

    #[test]
    fn spans_are_read_as_a_clock_is() {
        let shown = [0, 119, 120, 130, 7_500, 172_800, 190_800].map(span);
        assert_eq!(
            shown,
            ["0 s", "119 s", "2 min", "2 min 10 s", "2 h 5 min", "2 days", "2 days 5 h"]
        );
        assert_eq!([20_000_000, 41_600_000_000].map(span_of_ns), ["20 ms", "42 s"]);
    }

    #[test]
    fn sizes_are_in_binary_units() {
        let shown = [0.0, 1000.0, 4096.0, 1_023.9 * 1024.0, 80_424_249_753.0, 1.844_674_4e19];
        assert_eq!(shown.map(bytes), ["0 B", "1,000 B", "4 KiB", "1 MiB", "74.9 GiB", "16 EiB"]);
    }

    #[test]
    fn rates_of_bytes_keep_their_digits() {
        let shown = [0.0, 20_480.0, 49_152.0, 14_680_064.0, 349_175_808.0, 8.937e9];
        assert_eq!(
            shown.map(mib_per_s).map(|rate| rate.replace(" MiB/s", "")),
            ["0.00", "0.020", "0.047", "14.0", "333", "8,523"]
        );
        assert_eq!(mib_per_s_limit(60.0 * MIB), "60 MiB/s");
        let shown = [8.2e6, 96e6, 1.2e9].map(mb_per_s);
        assert_eq!(shown, ["8.2 MB/s", "96 MB/s", "1,200 MB/s"]);
        let measured = [6.124e6, 120e6, 1_849.1e6].map(measured_mb_per_s);
        assert_eq!(measured, ["6.12 MB/s", "120 MB/s", "1,849 MB/s"]);
    }

    #[test]
    fn rates_of_ios_are_in_full() {
        let shown = [4.2, 412.4, 8_523.0, 85_312.0, 1_254_000.0].map(iops);
        let expected = ["4.20", "412", "8,523", "85,300", "1,250,000"];
        assert_eq!(shown, expected.map(|figure| format!("{figure} IOPS")));
        assert_eq!([18_750.0, 0.5].map(iops_limit), ["18,750 IOPS", "0.5 IOPS"]);
        assert_eq!(
            [32.768, 0.0, 2.25, 1_187.5].map(limit_figure),
            ["32.8", "0", "2.25", "1,187.5"]
        );
    }
}
