//! Whether a value reads as its option's kind, within the option's limits.

use super::Unreadable;
use super::{lists, number, shares};
use crate::fio::options::{Unit, ValueKind};
use crate::fio::section::Setting;

pub(super) fn value(setting: &Setting) -> Result<(), Unreadable> {
    let text = setting.written();
    let integer = |part: &str| number::integer(part, setting.kb_base);
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
        ValueKind::Size => number::amount(text, setting.kb_base).map(|_| ()),
        ValueKind::Time { bare } => number::time_ns(text, bare).map(|_| ()),
        ValueKind::Delay => {
            let time = |part: &str| number::time_ns(part, Unit::Seconds).map(|_| ());
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
        return Err(Unreadable::new(
            format!("`{text}` is too small"),
            format!("the smallest is {min}"),
        ));
    }
    if value > max {
        return Err(Unreadable::new(
            format!("`{text}` is too large"),
            format!("the largest is {max}"),
        ));
    }
    Ok(value)
}

fn check_text(setting: &Setting) -> Result<(), Unreadable> {
    match setting.name() {
        _ if setting.written().is_empty() => {
            let advice = format!("write {}=VALUE", setting.name());
            Err(Unreadable::new("has no value", advice))
        }
        "bssplit" => shares::split(setting.text(), setting.kb_base).map(|_| ()),
        "cpus_allowed" => lists::cpus(setting.text()).map(|_| ()),
        _ => Ok(()),
    }
}

fn floats(text: &str, most: usize, min: f64, max: f64) -> Result<(), Unreadable> {
    let numbers = lists::floats(text)?;
    if numbers.len() > most {
        return Err(Unreadable::new(
            format!("{} numbers are too many", numbers.len()),
            format!("fio takes at most {most}"),
        ));
    }
    match numbers.iter().find(|number| !(min..=max).contains(*number)) {
        None => Ok(()),
        Some(number) => Err(Unreadable::new(
            format!("{number} is out of range"),
            format!("numbers are from {min} to {max}"),
        )),
    }
}

/// fio compares up to the first comma, or else the first colon.
pub(super) fn choice(setting: &Setting) -> Result<(&'static str, Option<&str>), Unreadable> {
    let ValueKind::Choice(words) = setting.option.kind else {
        return Err(Unreadable::new("has no list of words", ""));
    };
    let text = setting.written();
    let end = text.find(',').or_else(|| text.find(':')).unwrap_or(text.len());
    // Newer ones stop at whichever comes first: `random_distribution=sequence:2,0,1`.
    let newer = text.find([',', ':']).unwrap_or(text.len());
    let found = [end, newer].into_iter().find_map(|end| {
        let word = words.iter().find(|word| **word == &text[..end])?;
        Some((*word, text.get(end + 1..)))
    });
    match found {
        Some(found) => Ok(found),
        None if text.starts_with(char::is_whitespace) => Err(Unreadable::new(
            format!("fio does not know `{text}`, because a blank stands in front of it"),
            "write no blank behind the equals sign",
        )),
        None => Err(Unreadable::new(
            format!("`{text}` is none of its values"),
            format!("write {}", words.join(", ")),
        )),
    }
}

pub(super) fn boolean(setting: &Setting) -> Result<bool, Unreadable> {
    let Some(text) = setting.value.as_deref() else { return Ok(true) };
    let number = number::integer(text.trim_start(), 1024);
    match (setting.option.kind, number) {
        (_, Ok(0)) => Ok(false),
        (_, Ok(1)) | (ValueKind::Flag, Ok(2..)) => Ok(true),
        _ => Err(Unreadable::new(format!("`{text}` is neither on nor off"), "write 0 or 1")),
    }
}
