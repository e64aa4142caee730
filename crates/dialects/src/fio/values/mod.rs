//! Values of settings, read by fio's rules (`parse.c` of fio 3.33).
//!
//! Where fio guesses, iotax refuses: fio reads `bs=4x` as 4 bytes, `size=1.5g` as 1 byte and
//! `runtime=10sec` as 10 microseconds, which nobody intends.

mod arithmetic;
mod lists;
#[cfg(test)]
mod tests;

use iotax_experiment::{Error, Zone};

use super::options::{Unit, ValueKind};
use super::section::Setting;

pub(crate) use lists::PerDirection;

/// Why a value cannot be read, before its position is known.
#[derive(Debug, PartialEq)]
struct Unreadable {
    pub problem: String,
    pub advice: String,
}

impl Unreadable {
    fn new(problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { problem: problem.into(), advice: advice.into() }
    }
}

fn unreadable<T>(problem: impl Into<String>, advice: impl Into<String>) -> Result<T, Unreadable> {
    Err(Unreadable::new(problem, advice))
}

/// The whole number that results from an expression without units.
pub(super) fn computed(expression: &str) -> Option<i64> {
    let value = arithmetic::evaluate(expression, false).ok()?;
    (!value.has_unit).then_some(value.integer)
}

impl Setting {
    /// Refuses a value that does not match the kind of the option.
    pub(crate) fn check_value(&self) -> Result<(), Error> {
        match self.option.kind {
            ValueKind::Ignored => Ok(()),
            ValueKind::Removed => {
                let advice = match self.name() {
                    "percentage_sequential" => "set percentage_random to 100 minus this value",
                    _ => "leave it out",
                };
                Err(self.refuse("fio 3.33 no longer has this option", advice))
            }
            ValueKind::OptionalText | ValueKind::Flag if self.value.is_none() => Ok(()),
            _ => self.marked(value(self)),
        }
    }

    /// The word of a choice, and the text after its `:`.
    pub(crate) fn choice(&self) -> Result<(&'static str, Option<&str>), Error> {
        self.marked(choice(self))
    }

    /// Whether a switch is on; a flag without a value is on.
    pub(crate) fn boolean(&self) -> Result<bool, Error> {
        self.marked(boolean(self))
    }

    /// A whole number, or bytes; if there are three, the one for reads.
    pub fn number(&self) -> Result<i64, Error> {
        let numbers = self.per_direction()?;
        numbers.into_iter().flatten().next().ok_or_else(|| self.missing())
    }

    /// Whole numbers, or bytes, for reads, writes and trims. A missing one equals the previous one.
    pub(crate) fn per_direction(&self) -> Result<PerDirection<i64>, Error> {
        let read = |part: &str| integer(part, self.kb_base);
        self.marked(lists::per_direction(self.written(), read))
    }

    /// A size, a percentage, or zones.
    pub fn amount(&self) -> Result<Amount, Error> {
        self.marked(amount(self.written(), self.kb_base))
    }

    /// A time in nanoseconds.
    pub fn duration_ns(&self) -> Result<u64, Error> {
        let bare = match self.option.kind {
            ValueKind::Time { bare } => bare,
            _ => Unit::Seconds,
        };
        self.marked(time_ns(self.written(), bare))
    }

    /// Pairs of sizes, smaller one first, for reads, writes and trims.
    pub(crate) fn ranges(&self) -> Result<PerDirection<(i64, i64)>, Error> {
        let read = |part: &str| lists::range(part, self.kb_base);
        self.marked(lists::comma_separated(self.written(), read))
    }

    /// Sizes with their shares in percent (`bssplit`), for reads, writes and trims. As in fio,
    /// equal shares are rounded down, so that the sum may be less than 100.
    pub fn split(&self) -> Result<[Vec<(u64, u32)>; 3], Error> {
        self.marked(lists::split(self.text(), self.kb_base))
    }

    /// The zones of `random_distribution=zoned` or `zoned_abs`, for reads, writes and trims.
    pub(crate) fn zones(&self) -> Result<[Vec<Zone>; 3], Error> {
        let (word, detail) = self.choice()?;
        let parts = if word == "zoned" { lists::Parts::Percents } else { lists::Parts::Sizes };
        self.marked(lists::zones(detail.unwrap_or_default(), parts, self.kb_base))
    }

    /// The first of several numbers.
    pub(crate) fn float(&self) -> Result<f64, Error> {
        let numbers = self.marked(lists::floats(self.text()))?;
        numbers.first().copied().ok_or_else(|| self.missing())
    }

    /// Data written as strings and numbers; `None` if it is not fixed bytes.
    pub(crate) fn pattern(&self) -> Result<Option<Vec<u8>>, Error> {
        self.marked(lists::pattern(self.text()))
    }

    /// Sizes with priorities (`cmdprio_bssplit`), for reads and writes.
    pub(crate) fn priorities(&self) -> Result<[Vec<lists::Priority>; 2], Error> {
        self.marked(lists::priorities(self.text(), self.kb_base))
    }

    /// Numbers and ranges in a part of the value.
    pub(crate) fn listed(&self, part: &str) -> Result<Vec<u32>, Error> {
        self.marked(lists::cpus(part))
    }

    /// CPU numbers, ascending (`cpus_allowed=0-3,8`).
    pub(crate) fn cpus(&self) -> Result<Vec<u32>, Error> {
        self.marked(lists::cpus(self.text()))
    }

    fn missing(&self) -> Error {
        let name = self.name();
        self.refuse("has no value", format!("write {name}=VALUE"))
    }

    fn marked<T>(&self, read: Result<T, Unreadable>) -> Result<T, Error> {
        if self.value.is_none()
            && !matches!(self.option.kind, ValueKind::Flag | ValueKind::OptionalText)
        {
            return Err(self.missing());
        }
        read.map_err(|Unreadable { problem, advice }| self.refuse_value(&problem, advice))
    }
}

// Checks that a value matches the kind and the limits of its option.

fn value(setting: &Setting) -> Result<(), Unreadable> {
    let text = setting.written();
    let integer = |part: &str| integer(part, setting.kb_base);
    match setting.option.kind {
        ValueKind::Ignored | ValueKind::Removed | ValueKind::OptionalText => Ok(()),
        ValueKind::Text => check_text(setting),
        ValueKind::Choice(_) => choice(setting).map(|_| ()),
        ValueKind::Integer { min, max } => {
            lists::per_direction(text, |part| within(part, integer(part)?, min, max)).map(|_| ())
        }
        ValueKind::Long { min } => {
            lists::per_direction(text, |part| within(part, integer(part)?, min, i64::MAX))
                .map(|_| ())
        }
        ValueKind::Size => amount(text, setting.kb_base).map(|_| ()),
        ValueKind::Time { bare } => time_ns(text, bare).map(|_| ()),
        ValueKind::Delay => {
            let time = |part: &str| time_ns(part, Unit::Seconds).map(|_| ());
            text.split_once('-').map_or_else(|| time(text), |(a, b)| time(a).and_then(|()| time(b)))
        }
        ValueKind::Range => {
            lists::comma_separated(text, |part| lists::range(part, setting.kb_base)).map(|_| ())
        }
        ValueKind::Floats { most, min, max } => floats(text, most, min, max),
        ValueKind::Bool | ValueKind::Flag => boolean(setting).map(|_| ()),
    }
}

fn within(text: &str, value: i64, min: i64, max: i64) -> Result<i64, Unreadable> {
    if value < min {
        return unreadable(format!("`{text}` is too small"), format!("the smallest is {min}"));
    }
    if value > max {
        return unreadable(format!("`{text}` is too large"), format!("the largest is {max}"));
    }
    Ok(value)
}

fn check_text(setting: &Setting) -> Result<(), Unreadable> {
    match setting.name() {
        _ if setting.written().is_empty() => {
            let advice = format!("write {}=VALUE", setting.name());
            unreadable("has no value", advice)
        }
        "bssplit" => lists::split(setting.text(), setting.kb_base).map(|_| ()),
        "cpus_allowed" => lists::cpus(setting.text()).map(|_| ()),
        _ => Ok(()),
    }
}

fn floats(text: &str, most: usize, min: f64, max: f64) -> Result<(), Unreadable> {
    let numbers = lists::floats(text)?;
    if numbers.len() > most {
        return unreadable(
            format!("{} numbers are too many", numbers.len()),
            format!("fio supports at most {most}"),
        );
    }
    match numbers.iter().find(|number| !(min..=max).contains(*number)) {
        None => Ok(()),
        Some(number) => {
            unreadable(format!("{number} is out of range"), format!("the range is {min} to {max}"))
        }
    }
}

/// fio compares up to the first comma, or else up to the first colon.
fn choice(setting: &Setting) -> Result<(&'static str, Option<&str>), Unreadable> {
    let ValueKind::Choice(words) = setting.option.kind else {
        return unreadable("has no list of words", "");
    };
    let text = setting.written();
    let end = text.find(',').or_else(|| text.find(':')).unwrap_or(text.len());
    // Newer releases stop at the first of them: `random_distribution=sequence:2,0,1`.
    let newer = text.find([',', ':']).unwrap_or(text.len());
    let found = [end, newer].into_iter().find_map(|end| {
        let word = words.iter().find(|word| **word == &text[..end])?;
        Some((*word, text.get(end + 1..)))
    });
    match found {
        Some(found) => Ok(found),
        None if text.starts_with(char::is_whitespace) => unreadable(
            format!("fio does not recognize `{text}`, because the value starts with a space"),
            "remove the space after the equals sign",
        ),
        None => unreadable(
            format!("`{text}` is not a valid value"),
            format!("write {}", words.join(", ")),
        ),
    }
}

fn boolean(setting: &Setting) -> Result<bool, Unreadable> {
    let Some(text) = setting.value.as_deref() else { return Ok(true) };
    let number = integer(text.trim_start(), 1024);
    match (setting.option.kind, number) {
        (_, Ok(0)) => Ok(false),
        (_, Ok(1)) | (ValueKind::Flag, Ok(2..)) => Ok(true),
        _ => unreadable(format!("`{text}` is not a valid value for a switch"), "write 0 or 1"),
    }
}

// Numbers with fio's units.

/// Longest number that fio reads completely, in bytes.
const LONGEST: usize = 127;

/// An amount, as for `size`, `io_size` and `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// A percentage of the file or device.
    Percent(u32),
    /// Zones of a zoned device.
    Zones(u32),
}

/// Units of size: the letter, and the power of `kb_base`.
const POWERS: [(char, u32); 5] = [('k', 1), ('m', 2), ('g', 3), ('t', 4), ('p', 5)];

/// A size, a percentage, or zones.
fn amount(text: &str, kb_base: u16) -> Result<Amount, Unreadable> {
    if let Some(zones) = text.trim_start().strip_suffix('z') {
        let count = zones.parse().map_err(|_| not_a_number(text))?;
        return Ok(Amount::Zones(count));
    }
    if let Some(percent) = text.trim_start().strip_suffix('%') {
        let percent: u32 = percent.parse().map_err(|_| not_a_number(text))?;
        if percent > 100 {
            return unreadable(
                format!("`{text}` is larger than the whole file"),
                "write at most 100%",
            );
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
/// With `kb_base` 1024, fio's `k`, `kb` and `ki` are 1024, and only `kib` is 1000; with 1000, it is
/// the other way round.
fn integer(text: &str, kb_base: u16) -> Result<i64, Unreadable> {
    if text.starts_with('(') {
        return arithmetic::evaluate(text, false).map(|value| value.integer);
    }
    let (number, suffix) = split(text)?;
    let factor = size_factor(suffix, kb_base).ok_or_else(|| unknown_suffix(text, suffix))?;
    check_blank(text, suffix)?;
    number.checked_mul(factor).ok_or_else(|| too_large(text))
}

/// A time, in nanoseconds.
fn time_ns(text: &str, bare: Unit) -> Result<u64, Unreadable> {
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

/// The leading number, and the text after it.
fn split(text: &str) -> Result<(i64, &str), Unreadable> {
    if text.len() > LONGEST {
        return unreadable("is too long for a number", "");
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
        return unreadable(
            format!("`{text}` is hexadecimal, and fio ignores the unit after it"),
            "write the number in decimal",
        );
    }
    Ok((value, suffix))
}

/// fio's factor; `None` for suffixes that fio ignores silently.
fn size_factor(suffix: &str, kb_base: u16) -> Option<i64> {
    // A rate may be written as `10m/s`: fio stops at the slash.
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

/// fio looks for the unit only after leading digits, so a blank before them hides it.
fn check_blank(text: &str, suffix: &str) -> Result<(), Unreadable> {
    if suffix.is_empty() || !text.starts_with(char::is_whitespace) {
        return Ok(());
    }
    let wanted = text.trim_start();
    unreadable(
        format!("fio ignores the unit of `{wanted}`, because the value starts with a space"),
        "remove the space after the equals sign",
    )
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
            format!("fio reads only whole numbers here and would ignore `{suffix}` in `{text}`"),
            "use a smaller unit, such as 1536m for 1.5g",
        );
    }
    if suffix == "%" {
        return Unreadable::new(
            format!("`{text}` is a percentage, but percentages are not supported here"),
            "",
        );
    }
    Unreadable::new(
        format!("fio has no unit `{suffix}` and would read `{text}` as a plain number"),
        "write k, m, g, t or p, or no unit",
    )
}

fn unknown_time(text: &str, suffix: &str, bare: Unit) -> Unreadable {
    let text = text.trim();
    if suffix.starts_with('.') {
        return Unreadable::new(
            format!("fio reads only whole numbers here and would ignore `{suffix}` in `{text}`"),
            "use a smaller unit, such as 1500ms for 1.5s",
        );
    }
    let bare = match bare {
        Unit::Seconds => "seconds",
        Unit::Microseconds => "microseconds",
    };
    Unreadable::new(
        format!("fio has no time unit `{suffix}` and would read `{text}` as microseconds"),
        format!("write us, ms, s, m, h or d; a plain number means {bare}"),
    )
}
