//! Values of several parts.

use super::Unreadable;
use super::{arithmetic, number};

/// Values for reads, writes and trims; `None` keeps what was set before (`bs=,8k`).
pub(crate) type PerDirection<T> = [Option<T>; 3];

/// Most CPUs that fio knows of (`FIO_MAX_CPUS`).
const MOST_CPUS: u32 = 1024;

/// Up to three parts with commas between them. The last one stands for those that are missing;
/// an empty one keeps what was set before.
pub(super) fn comma_separated<T: Copy>(
    text: &str,
    read: impl Fn(&str) -> Result<T, Unreadable>,
) -> Result<PerDirection<T>, Unreadable> {
    separated(text, ',', read)
}

/// The same; `:` and `-` may stand for the commas where there are none.
pub(super) fn per_direction<T: Copy>(
    text: &str,
    read: impl Fn(&str) -> Result<T, Unreadable>,
) -> Result<PerDirection<T>, Unreadable> {
    if text.starts_with('(') || text.trim_start().starts_with('-') {
        return comma_separated(text, read);
    }
    let separator = [',', ':', '-'].into_iter().find(|mark| text.contains(*mark));
    separated(text, separator.unwrap_or(','), read)
}

fn separated<T: Copy>(
    text: &str,
    mark: char,
    read: impl Fn(&str) -> Result<T, Unreadable>,
) -> Result<PerDirection<T>, Unreadable> {
    let mut found = [None; 3];
    let mut last = 0;
    for (at, part) in text.split(mark).enumerate() {
        let Some(slot) = found.get_mut(at) else {
            return Err(Unreadable::new(
                format!("`{text}` has more than three parts"),
                "write one for reads, one for writes, one for trims",
            ));
        };
        last = at;
        if !part.is_empty() {
            *slot = Some(read(part)?);
        }
    }
    if found.iter().all(Option::is_none) {
        return Err(Unreadable::new("has no value", ""));
    }
    let given = found[last];
    found[last + 1..].fill(given);
    Ok(found)
}

/// `4k-64k`; fio takes `:` for the dash, and either order.
pub(super) fn range(text: &str, kb_base: u16) -> Result<(i64, i64), Unreadable> {
    let Some((low, high)) = text.split_once('-').or_else(|| text.split_once(':')) else {
        return Err(Unreadable::new(
            format!("`{text}` is one size, not a range"),
            "write the smallest and the largest: 4k-64k",
        ));
    };
    let (low, high) = (number::integer(low, kb_base)?, number::integer(high, kb_base)?);
    Ok((low.min(high), low.max(high)))
}

/// Numbers with `:` between them.
pub(super) fn floats(text: &str) -> Result<Vec<f64>, Unreadable> {
    let read = |part: &str| {
        if part.starts_with('(') {
            return arithmetic::evaluate(part, false).map(|value| value.float);
        }
        match part.trim().parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(Unreadable::new(format!("`{part}` is not a number"), "")),
        }
    };
    text.split(':').map(read).collect()
}

/// `0-3,8`: numbers and ranges of CPUs.
pub(super) fn cpus(text: &str) -> Result<Vec<u32>, Unreadable> {
    let mut found = vec![false; MOST_CPUS as usize];
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (cpu(first)?, cpu(last)?);
        if first > last {
            return Err(Unreadable::new(
                format!("`{part}` begins behind its end"),
                "write the smaller CPU first",
            ));
        }
        found[first as usize..=last as usize].fill(true);
    }
    let numbers: Vec<u32> = (0..).zip(&found).filter(|(_, on)| **on).map(|(cpu, _)| cpu).collect();
    if numbers.is_empty() {
        return Err(Unreadable::new("names no CPU", "write CPUs such as 0-3,8"));
    }
    Ok(numbers)
}

fn cpu(text: &str) -> Result<u32, Unreadable> {
    let number = text.trim().parse::<u32>().map_err(|_| {
        Unreadable::new(format!("`{text}` is not the number of a CPU"), "write CPUs such as 0-3,8")
    })?;
    if number >= MOST_CPUS {
        return Err(Unreadable::new(
            format!("CPU {number} is more than fio can name"),
            format!("fio knows CPUs 0 to {}", MOST_CPUS - 1),
        ));
    }
    Ok(number)
}
