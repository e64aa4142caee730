//! `cmdprio_bssplit`: sizes, how many of their I/Os have a priority, and which.

use super::number;
use super::unreadable::Unreadable;

/// One size: bytes, percent, and class, level and hint where they are not the job's.
pub(crate) type Entry = (u64, u64, Option<[u64; 3]>);

/// What the newest fio takes (`cmdprio_hint`).
const MOST_HINT: u64 = 1023;

/// For reads and, behind a comma, for writes; the same for both without one.
pub(super) fn priorities(text: &str, kb_base: u16) -> Result<[Vec<Entry>; 2], Unreadable> {
    let of = |text: &str| {
        let entries = text.split(':').filter(|entry| !entry.is_empty());
        entries.map(|text| entry(text, kb_base)).collect::<Result<Vec<_>, _>>()
    };
    match text.split_once(',') {
        Some((reads, writes)) => Ok([of(reads)?, of(writes)?]),
        None => of(text).map(|both| [both.clone(), both]),
    }
}

fn entry(text: &str, kb_base: u16) -> Result<Entry, Unreadable> {
    let refuse = || {
        let advice = "write SIZE/PERCENT or SIZE/PERCENT/CLASS/LEVEL, as in 64k/25/1/0";
        Unreadable::new(format!("`{text}` is not a size with its priority"), advice)
    };
    let parts: Vec<&str> = text.split('/').collect();
    let small = |text: &str, most: u64| {
        text.trim().parse::<u64>().ok().filter(|number| *number <= most).ok_or_else(refuse)
    };
    let (size, percent, own) = match parts.as_slice() {
        [size, percent] => (size, percent, None),
        [size, percent, class, level] => {
            (size, percent, Some([small(class, 3)?, small(level, 7)?, 0]))
        }
        [size, percent, class, level, hint] => {
            (size, percent, Some([small(class, 3)?, small(level, 7)?, small(hint, MOST_HINT)?]))
        }
        _ => return Err(refuse()),
    };
    let bytes = u64::try_from(number::integer(size, kb_base)?).map_err(|_| refuse())?;
    Ok((bytes, small(percent, 100)?, own))
}
