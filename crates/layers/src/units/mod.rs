//! Reads and writes sizes, durations, rates and shares as users write them.
//!
//! | unit | written | means |
//! |---|---|---|
//! | size | `4k`, `64M`, `2G`, `1T`, `4KiB`, `4096` | bytes; powers of 1024, as in fio |
//! | duration | `500ns`, `200us`, `2ms`, `1.5s`, `1m`, `1h`, `0` | nanoseconds |
//! | bandwidth | `32M`, `32M/s` | bytes per second; letters as in sizes |
//! | bit rate | `500Mbit`, `1Gbit`, `64kbit` | bits per second; letters are powers of 1000 |
//! | I/O rate | `4000`, `4k`, `2.5k` | per second; here `k` is 1000 and `M` a million |
//! | share | `5%`, `0.05` | fraction of 1 |
//!
//! `10MB` is refused: fio reads it as 10 x 2^20, disk vendors as 10^7. Every `format_*` writes the
//! shortest text that its parser reads back to exactly the same number.

pub(crate) mod unit;

use crate::error::Error;
pub use unit::Unit;

impl Unit {
    /// An error for text that cannot be read in this unit.
    pub fn refuse(
        self,
        text: &str,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> Error {
        let (problem, advice) = (problem.into(), advice.into());
        Error::Value { text: text.to_owned(), unit: self, problem, advice }
    }
}

const SIZE_ADVICE: &str = "specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)";
const SIZE_LETTERS: [(&str, u64); 4] =
    [("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)];
const BIT_UNITS: [(&str, f64); 4] = [("Gbit", 1e9), ("Mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)];
const DURATION_UNITS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Reads a size in bytes.
pub fn parse_bytes(text: &str) -> Result<u64, Error> {
    let number = Number::read(text, Unit::Size, SIZE_ADVICE)?;
    let multiplier = binary_multiplier(&number, text, Unit::Size)?;
    number.times(multiplier).ok_or_else(|| {
        Unit::Size.refuse(text, "not a whole number of bytes below 16 EiB", SIZE_ADVICE)
    })
}

/// Reads a bandwidth in bytes per second; `/s` may be left out.
pub fn parse_bandwidth(text: &str) -> Result<f64, Error> {
    let trimmed = text.trim();
    let per_second = trimmed.strip_suffix("/s").unwrap_or(trimmed);
    let number = Number::read(per_second, Unit::Bandwidth, "use 32M for 32 MiB per second")?;
    let multiplier = binary_multiplier(&number, text, Unit::Bandwidth)?;
    Ok(number.as_f64() * multiplier as f64)
}

/// The factor of a size's letters: powers of 1024 only, with an optional `B` or `iB`.
fn binary_multiplier(number: &Number<'_>, text: &str, unit: Unit) -> Result<u64, Error> {
    let suffix = number.suffix.to_ascii_lowercase();
    let letter = suffix.strip_suffix("ib").or_else(|| suffix.strip_suffix('i')).unwrap_or(&suffix);
    let known = SIZE_LETTERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(letter));
    if suffix.is_empty() || suffix == "b" {
        return Ok(1);
    }
    if let Some((_, multiplier)) = known {
        return Ok(*multiplier);
    }
    let vendor = ["kb", "mb", "gb", "tb"].iter().zip(1_u32..).find(|(name, _)| **name == letter);
    let Some((_, power)) = vendor else {
        return Err(unit.refuse(text, format!("unknown unit `{}`", number.suffix), SIZE_ADVICE));
    };
    let (binary, decimal) = (10 * power, 3 * power);
    let letter = ["k", "M", "G", "T"][power as usize - 1];
    let digits = number.times(10_u64.pow(decimal)).map(|bytes| format!(" or {bytes}"));
    Err(unit.refuse(
        text,
        format!(
            "`{}` is ambiguous: fio reads it as 2^{binary} bytes, disk vendors as 10^{decimal}",
            number.suffix
        ),
        format!("use {}{letter}{}", number.digits, digits.unwrap_or_default()),
    ))
}

/// Reads a bit rate in bits per second, as for networks; `/s` may be left out.
pub fn parse_bit_rate(text: &str) -> Result<f64, Error> {
    let advice = "specify a bit rate as 500Mbit, 1Gbit or 64kbit (suffixes are powers of 1000)";
    let trimmed = text.trim();
    let per_second = trimmed.strip_suffix("/s").unwrap_or(trimmed);
    let number = Number::read(per_second, Unit::BitRate, advice)?;
    let known = BIT_UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(number.suffix));
    let Some((_, multiplier)) = known else {
        let problem = match number.suffix {
            "" => "the unit is missing (bits or bytes?)".to_owned(),
            other => format!("unknown unit `{other}`"),
        };
        return Err(Unit::BitRate.refuse(text, problem, advice));
    };
    Ok(number.as_f64() * multiplier)
}

/// The shortest bit rate that reads back exactly.
pub fn format_bit_rate(bits: f64) -> String {
    let whole = BIT_UNITS.iter().find(|(_, unit)| bits >= *unit && bits % unit == 0.0);
    let (name, unit) = whole.unwrap_or(&("bit", 1.0));
    format!("{}{name}", bits / unit)
}

/// Reads a duration in nanoseconds. Only `0` needs no unit.
pub fn parse_duration(text: &str) -> Result<u64, Error> {
    let unit = Unit::Duration;
    let advice = "specify a duration as 500ns, 200us, 2ms, 5s or 1m";
    let number = Number::read(text, unit, advice)?;
    let name = if number.suffix == "µs" { "us" } else { number.suffix };
    if name.is_empty() {
        let digits = number.digits;
        let advice = format!("use {digits}s, {digits}ms or {digits}us");
        let is_zero = number.times(1) == Some(0);
        return if is_zero { Ok(0) } else { Err(unit.refuse(text, "the unit is missing", advice)) };
    }
    let Some((_, nanoseconds)) = DURATION_UNITS.iter().find(|(known, _)| *known == name) else {
        return Err(unit.refuse(text, format!("unknown unit `{name}`"), advice));
    };
    number.times(*nanoseconds).ok_or_else(|| {
        unit.refuse(text, "not a whole number of nanoseconds below 584 years", advice)
    })
}

/// Reads I/Os per second (or any count per second): `k` is 1000 here, as in "4k IOPS".
pub fn parse_iops(text: &str) -> Result<f64, Error> {
    let advice = "specify I/Os per second as 4000 or 4k (k means 1000 here)";
    let number = Number::read(text, Unit::Iops, advice)?;
    let multiplier = match number.suffix {
        "" | "/s" => 1.0,
        "k" | "K" => 1e3,
        "M" | "m" => 1e6,
        other => return Err(Unit::Iops.refuse(text, format!("unknown unit `{other}`"), advice)),
    };
    Ok(number.as_f64() * multiplier)
}

/// Reads a whole number; no suffix, since `4k` of things could be 4000 or 4096.
pub fn parse_count(text: &str) -> Result<u64, Error> {
    let advice = "use only digits, such as 4 or 4000";
    let number = Number::read(text, Unit::Count, advice)?;
    match (number.suffix, number.times(1)) {
        ("", Some(count)) => Ok(count),
        ("", None) => {
            Err(Unit::Count.refuse(text, "it has a fractional part, or is too large", advice))
        }
        (other, _) => {
            Err(Unit::Count.refuse(text, format!("unexpected `{other}` after the number"), advice))
        }
    }
}

/// Reads a share of 1: `5%` or `0.05`. A bare number above 1 is refused rather than guessed at.
pub fn parse_share(text: &str) -> Result<f64, Error> {
    let advice = "use a percentage such as 5%, or a fraction such as 0.05";
    let number = Number::read(text, Unit::Share, advice)?;
    let share = match number.suffix {
        "%" => number.as_f64() / 100.0,
        "" => number.as_f64(),
        other => return Err(Unit::Share.refuse(text, format!("unknown unit `{other}`"), advice)),
    };
    if share <= 1.0 {
        return Ok(share);
    }
    if number.suffix == "%" {
        return Err(Unit::Share.refuse(text, "more than 100%", advice));
    }
    let advice = format!("use {0}% if you mean percent", number.digits);
    Err(Unit::Share.refuse(text, "more than 1", advice))
}

/// Reads `true` or `false`; also `1`/`0`, as in fio's options, and `yes`/`no`, `on`/`off`.
pub fn parse_switch(text: &str) -> Result<bool, Error> {
    match text.trim() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        other => {
            Err(Unit::Switch.refuse(other, "it is neither true nor false", "use true or false"))
        }
    }
}

/// Bytes with the largest letter that divides exactly: 65536 is `64k`.
pub fn format_bytes(bytes: u64) -> String {
    with_largest(bytes, &SIZE_LETTERS, "")
}

/// Nanoseconds with the largest unit that divides exactly: 200000 is `200us`.
pub fn format_duration(ns: u64) -> String {
    if ns == 0 { "0s".to_owned() } else { with_largest(ns, &DURATION_UNITS, "ns") }
}

/// Bytes per second, with letters if they are exact.
pub fn format_bandwidth(bytes_per_second: f64) -> String {
    // 2^53: below it every whole f64 converts to u64 and back without loss.
    if bytes_per_second.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&bytes_per_second)
    {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked above"
        )]
        return format_bytes(bytes_per_second as u64);
    }
    bytes_per_second.to_string()
}

/// I/Os per second in plain digits, where no letter can be misread.
pub fn format_iops(iops: f64) -> String {
    iops.to_string()
}

/// A share as a percentage if that reads back exactly, otherwise as a fraction.
pub fn format_share(share: f64) -> String {
    let percent = format!("{}%", share * 100.0);
    if parse_share(&percent) == Ok(share) { percent } else { share.to_string() }
}

fn with_largest(value: u64, units: &[(&str, u64)], bare: &str) -> String {
    let exact = units.iter().find(|(_, size)| value != 0 && value.is_multiple_of(*size));
    match exact {
        Some((name, size)) => format!("{}{name}", value / size),
        None => format!("{value}{bare}"),
    }
}

/// Keeps every number times any unit a finite `f64` (at most about 1.8e308).
const MAX_DIGITS: usize = 290;

/// `2.5` and `ms` of `2.5ms`.
pub(super) struct Number<'a> {
    /// Digits with at most one point, as written.
    pub digits: &'a str,
    /// The rest, without spaces around it.
    pub suffix: &'a str,
}

impl<'a> Number<'a> {
    /// Splits `text`; no sign, no exponent, no thousands separator.
    pub(super) fn read(text: &'a str, unit: Unit, advice: &str) -> Result<Self, Error> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (digits, suffix) = text.split_at(end);
        let problem = if text.is_empty() {
            "it is empty"
        } else if text.starts_with('-') {
            "it is negative"
        } else if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            "it does not start with a digit"
        } else if digits.ends_with('.') || digits.matches('.').count() > 1 {
            "its decimal point is misplaced"
        } else if digits.len() > MAX_DIGITS {
            "it is too long"
        } else {
            return Ok(Self { digits, suffix: suffix.trim() });
        };
        Err(unit.refuse(text, problem, advice))
    }

    /// The number times `multiplier`; `None` unless whole and within `u64`.
    pub(super) fn times(&self, multiplier: u64) -> Option<u64> {
        let (whole, fraction) = self.digits.split_once('.').unwrap_or((self.digits, ""));
        let fraction = fraction.trim_end_matches('0');
        let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let whole: u128 = whole.parse().ok()?;
        let parts: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
        let product =
            whole.checked_mul(scale)?.checked_add(parts)?.checked_mul(u128::from(multiplier))?;
        if !product.is_multiple_of(scale) {
            return None;
        }
        u64::try_from(product / scale).ok()
    }

    /// The nearest `f64`.
    pub(super) fn as_f64(&self) -> f64 {
        self.digits.parse().expect("digits with at most one decimal point are a valid float")
    }
}

#[cfg(test)]
mod tests;
