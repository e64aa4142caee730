//! The table of options, one line for each: `data/fio_options.tsv`.
//!
//! An option that several engines have each in a way of their own has a line for each of them.

use std::str::FromStr;
use std::sync::LazyLock;

use super::info::{Class, OptionInfo, Reach, Unit, ValueKind};

/// The release of fio 3 that had all options without a release of their own.
pub(super) const OLDEST: u8 = 33;

/// All options in the order of fio's help: those of every job, then those of engines.
pub(super) static OPTIONS: LazyLock<Vec<OptionInfo>> = LazyLock::new(|| {
    let lines = include_str!("../../../data/fio_options.tsv").lines().skip(1);
    lines.map(|line| option(line).unwrap_or_else(|| panic!("no option of fio: {line}"))).collect()
});

fn option(line: &'static str) -> Option<OptionInfo> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [name, alias, engines, since, takes, class, reach, unless, says] = cells[..] else {
        return None;
    };
    Some(OptionInfo {
        name,
        alias: Some(alias).filter(|alias| !alias.is_empty()),
        kind: kind(takes)?,
        engines: engines.split_whitespace().collect(),
        since: if since.is_empty() { OLDEST } else { since.strip_prefix("3.")?.parse().ok()? },
        class: match class {
            "meaning" => Class::Meaning,
            "silent" => Class::Silent,
            "kept" => Class::Kept,
            "noted" => Class::Noted { unless, note: says },
            "beyond" => Class::Beyond { unless, why: says },
            _ => return None,
        },
        reach: match reach {
            "" => Reach::Unknown,
            "inside" => Reach::Inside,
            "shares" => Reach::Shares,
            "path" => Reach::Path,
            "pattern" => Reach::Pattern,
            why => Reach::Refused(why),
        },
    })
}

/// From `bool`, `one-of read|write`, `integer 1..`, `floats 20 0..100`.
fn kind(text: &'static str) -> Option<ValueKind> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Some(match word {
        "text" => ValueKind::Text,
        "text?" => ValueKind::OptionalText,
        "one-of" => ValueKind::Choice(rest.split('|').collect::<Vec<_>>().leak()),
        "integer" => {
            let (min, max) = limits(rest, 0, u32::MAX.into())?;
            ValueKind::Integer { min, max }
        }
        "long" => ValueKind::Long { min: limits(rest, 0, i64::MAX)?.0 },
        "size" => ValueKind::Size,
        "seconds" => ValueKind::Time { bare: Unit::Seconds },
        "microseconds" => ValueKind::Time { bare: Unit::Microseconds },
        "delay" => ValueKind::Delay,
        "range" => ValueKind::Range,
        "floats" => {
            let (most, range) = rest.split_once(' ').unwrap_or((rest, ""));
            let (min, max) = limits(range, f64::MIN, f64::MAX)?;
            ValueKind::Floats { most: most.parse().ok()?, min, max }
        }
        "bool" => ValueKind::Bool,
        "flag" => ValueKind::Flag,
        "ignored" => ValueKind::Ignored,
        "removed" => ValueKind::Removed,
        _ => return None,
    })
}

/// From `1..100`, or `1..`, or nothing.
fn limits<T: FromStr>(range: &str, min: T, max: T) -> Option<(T, T)> {
    let Some((from, to)) = range.split_once("..") else {
        return range.is_empty().then_some((min, max));
    };
    Some((from.parse().ok()?, if to.is_empty() { max } else { to.parse().ok()? }))
}
