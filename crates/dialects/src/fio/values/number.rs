//! Numbers with fio's units.

use super::Unreadable;
use super::arithmetic;
use crate::fio::options::Unit;

/// Longest number that fio looks at whole, in bytes.
const LONGEST: usize = 127;

/// How much: of `size`, `io_size`, `offset`, ...
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// So many bytes.
    Bytes(u64),
    /// A percentage of the file or device.
    Percent(u32),
    /// So many zones of a zoned device.
    Zones(u32),
}

/// Units of size: what is written, and the power of `kb_base` that is meant.
const POWERS: [(char, u32); 5] = [('k', 1), ('m', 2), ('g', 3), ('t', 4), ('p', 5)];

/// A size, a percentage, or zones.
pub(super) fn amount(text: &str, kb_base: u16) -> Result<Amount, Unreadable> {
    if let Some(zones) = text.trim_start().strip_suffix('z') {
        let count = zones.parse().map_err(|_| not_a_number(text))?;
        return Ok(Amount::Zones(count));
    }
    if let Some(percent) = text.trim_start().strip_suffix('%') {
        let percent: u32 = percent.parse().map_err(|_| not_a_number(text))?;
        if percent > 100 {
            return Err(Unreadable::new(
                format!("`{text}` is more than the whole file"),
                "write at most 100%",
            ));
        }
        return Ok(Amount::Percent(percent));
    }
    let bytes = integer(text, kb_base)?;
    u64::try_from(bytes).map(Amount::Bytes).map_err(|_| {
        Unreadable::new(format!("`{text}` is negative"), "write a size such as 4k or 1g")
    })
}

/// A whole number with a suffix of size.
///
/// With `kb_base` 1024, fio's `k`, `kb` and `ki` are 1024 and `kib` alone is 1000; with 1000, it
/// is the other way round.
pub(super) fn integer(text: &str, kb_base: u16) -> Result<i64, Unreadable> {
    if text.starts_with('(') {
        return arithmetic::evaluate(text, false).map(|value| value.integer);
    }
    let (number, suffix) = split(text)?;
    let factor = size_factor(suffix, kb_base).ok_or_else(|| unknown_suffix(text, suffix))?;
    check_blank(text, suffix)?;
    number.checked_mul(factor).ok_or_else(|| too_large(text))
}

/// A time, in nanoseconds.
pub(super) fn time_ns(text: &str, bare: Unit) -> Result<u64, Unreadable> {
    let us = if text.starts_with('(') {
        let value = arithmetic::evaluate(text, true)?;
        let implied = if value.has_unit { 1 } else { us_in(bare) };
        value.integer.checked_mul(implied).ok_or_else(|| too_large(text))?
    } else {
        let (number, suffix) = split(text)?;
        let factor = time_factor(suffix, bare).ok_or_else(|| unknown_time(text, suffix, bare))?;
        check_blank(text, suffix)?;
        number.checked_mul(factor).ok_or_else(|| too_large(text))?
    };
    let us = u64::try_from(us).map_err(|_| {
        Unreadable::new(format!("`{text}` is negative"), "write a time such as 10s")
    })?;
    us.checked_mul(1000).ok_or_else(|| too_large(text))
}

const fn us_in(bare: Unit) -> i64 {
    match bare {
        Unit::Seconds => 1_000_000,
        Unit::Microseconds => 1,
    }
}

/// The number in front, and what follows it.
fn split(text: &str) -> Result<(i64, &str), Unreadable> {
    if text.len() > LONGEST {
        return Err(Unreadable::new("is too long for a number", ""));
    }
    let number = text.trim_start();
    let sign = usize::from(number.starts_with(['+', '-']));
    let digits = &number[sign..];
    let (radix, from) = match digits.get(..2) {
        Some("0x" | "0X") => (16, 2),
        _ => (10, 0),
    };
    let length = digits[from..].find(|c: char| !c.is_digit(radix));
    let end = length.map_or(digits.len(), |length| from + length);
    if end == from {
        return Err(not_a_number(text));
    }
    let value = i64::from_str_radix(&digits[from..end], radix).map_err(|_| too_large(text))?;
    let value = if number.starts_with('-') { -value } else { value };
    let suffix = &digits[end..];
    if radix == 16 && !suffix.is_empty() {
        return Err(Unreadable::new(
            format!("`{text}` is hexadecimal, and fio does not see the unit behind it"),
            "write the number in decimal",
        ));
    }
    Ok((value, suffix))
}

/// What fio multiplies by; `None` for suffixes that it drops silently.
fn size_factor(suffix: &str, kb_base: u16) -> Option<i64> {
    // A rate may be written `10m/s`: fio stops at the slash.
    let suffix = suffix.strip_suffix("/s").unwrap_or(suffix);
    let mut letters = suffix.chars().map(|c| c.to_ascii_lowercase());
    let Some(first) = letters.next() else { return Some(1) };
    let rest: String = letters.take(3).collect();
    if first == 'b' && rest.is_empty() {
        return Some(1);
    }
    let power = POWERS.iter().find(|(letter, _)| *letter == first)?.1;
    let (usual, other) = if kb_base == 1000 { (1000_i64, 1024_i64) } else { (1024, 1000) };
    match rest.as_str() {
        "" | "b" | "i" => Some(usual.pow(power)),
        "ib" => Some(other.pow(power)),
        _ => None,
    }
}

fn time_factor(suffix: &str, bare: Unit) -> Option<i64> {
    let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(suffix));
    match suffix {
        "" => Some(us_in(bare)),
        _ if is(&["us", "usec"]) => Some(1),
        _ if is(&["ms", "msec"]) => Some(1000),
        _ if is(&["s"]) => Some(1_000_000),
        _ if is(&["m"]) => Some(60_000_000),
        _ if is(&["h"]) => Some(3_600_000_000),
        _ if is(&["d"]) => Some(86_400_000_000),
        _ => None,
    }
}

/// fio looks for the unit behind leading digits only, so a blank in front of them hides it.
fn check_blank(text: &str, suffix: &str) -> Result<(), Unreadable> {
    if suffix.is_empty() || !text.starts_with(char::is_whitespace) {
        return Ok(());
    }
    let wanted = text.trim_start();
    Err(Unreadable::new(
        format!("fio drops the unit of `{wanted}`, because a blank stands in front of it"),
        "write no blank behind the equals sign",
    ))
}

fn not_a_number(text: &str) -> Unreadable {
    Unreadable::new(format!("`{}` is not a number", text.trim()), "")
}

fn too_large(text: &str) -> Unreadable {
    Unreadable::new(format!("`{}` is too large", text.trim()), "")
}

fn unknown_suffix(text: &str, suffix: &str) -> Unreadable {
    let text = text.trim();
    if suffix.starts_with('.') {
        return Unreadable::new(
            format!("fio reads whole numbers here and would drop `{suffix}` of `{text}`"),
            "write it in a smaller unit: 1536m for 1.5g",
        );
    }
    if suffix == "%" {
        return Unreadable::new(format!("`{text}`: a percentage has no meaning here"), "");
    }
    Unreadable::new(
        format!("fio has no unit `{suffix}`, it would read `{text}` as a bare number"),
        "write k, m, g, t or p, or no unit",
    )
}

fn unknown_time(text: &str, suffix: &str, bare: Unit) -> Unreadable {
    let text = text.trim();
    if suffix.starts_with('.') {
        return Unreadable::new(
            format!("fio reads whole numbers here and would drop `{suffix}` of `{text}`"),
            "write it in a smaller unit: 1500ms for 1.5s",
        );
    }
    let bare = match bare {
        Unit::Seconds => "seconds",
        Unit::Microseconds => "microseconds",
    };
    Unreadable::new(
        format!("fio has no unit of time `{suffix}`, it would read `{text}` as microseconds"),
        format!("write us, ms, s, m, h or d; a bare number is {bare}"),
    )
}
