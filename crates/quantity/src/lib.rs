//! Figures in sentences: the precision a warning needs, no more.
#![forbid(unsafe_code)]

mod number;

pub use number::{fixed, grouped, interval, interval_decimals, percent, significant, times, whole};

/// A time: `850 ns`, `31 us`, `1.2 ms`, `20 s`.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        x if x < 1e3 => (ns, "ns"),
        x if x < 1e6 => (ns / 1e3, "us"),
        x if x < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", two_digits(value))
}

/// A rate of bits: `412 Mbit/s`, `9.41 Gbit/s`.
pub fn bit_rate(per_second: f64) -> String {
    let (prefix, scale) = match per_second {
        x if x >= 999_500_000.0 => ("G", 1e9),
        x if x >= 999_500.0 => ("M", 1e6),
        _ => ("k", 1e3),
    };
    format!("{} {prefix}bit/s", significant(per_second / scale, 3))
}

/// A long time in its largest unit: `40 s`, `7 min`, `30 h`, `12 days`.
pub fn span(seconds: u64) -> String {
    let (length, unit) = match seconds {
        0..=119 => (1, "s"),
        120..=7_199 => (60, "min"),
        7_200..=172_799 => (3_600, "h"),
        _ => (86_400, "days"),
    };
    format!("{} {unit}", seconds / length)
}

/// A rate of bytes that was measured: `333 MiB/s`.
pub fn mib_per_s(rate: f64) -> String {
    format!("{} MiB/s", two_digits(rate / 1_048_576.0))
}

/// A rate of bytes that is a limit, as documents print it: `333 MB/s`, 10^6 bytes.
pub fn mb_per_s(rate: f64) -> String {
    format!("{} MB/s", two_digits(rate / 1e6))
}

/// Bytes in powers of ten: `333 MB`.
pub fn bytes(count: f64) -> String {
    let (value, unit) = match count {
        x if x < 1e3 => (x, "B"),
        x if x < 1e6 => (x / 1e3, "kB"),
        x if x < 1e9 => (x / 1e6, "MB"),
        x if x < 1e12 => (x / 1e9, "GB"),
        x => (x / 1e12, "TB"),
    };
    format!("{} {unit}", two_digits(value))
}

/// A plain number with two significant digits or all before the point.
pub fn two_digits(value: f64) -> String {
    if value.abs() >= 9.95 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// `1 trial`, `3 trials`.
pub fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// A noun with its article, by its first letter: `a block`, `an I/O`.
pub fn a(noun: &str) -> String {
    let article =
        if noun.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(items: &[&str]) -> String {
    match items {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// A text as the start of a sentence.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_digits_they_need() {
        assert_eq!([0.5, 0.072, 0.004, 0.0996].map(percent), ["50 %", "7.2 %", "0.4 %", "10 %"]);
        assert_eq!([0.0, 0.0001].map(percent), ["0 %", "under 0.1 %"]);
        assert_eq!(
            [850.0, 31_200.0, 1.25e6, 2e10].map(time),
            ["850 ns", "31 us", "1.2 ms", "20 s"]
        );
        assert_eq!(
            [12.0, 4_096.0, 3.33e8, 2e9, 7e13].map(bytes),
            ["12 B", "4.1 kB", "333 MB", "2 GB", "70 TB"]
        );
        assert_eq!([8.2e6, 1.2e9].map(mb_per_s), ["8.2 MB/s", "1200 MB/s"]);
        assert_eq!(mib_per_s(349_175_808.0), "333 MiB/s");
        assert_eq!(count(1, "trial"), "1 trial");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(["block", "I/O"].map(a), ["a block", "an I/O"]);
    }
}
