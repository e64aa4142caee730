//! `bssplit`: sizes with their shares.

use super::number;
use super::unreadable::Unreadable;

/// Most sizes in one split (`BSSPLIT_MAX`).
const MOST: usize = 64;

/// For reads, writes and trims, with commas between them. Without commas, all three are the same;
/// with one, trims are as writes.
pub(super) fn split(text: &str, kb_base: u16) -> Result<[Vec<(u64, u32)>; 3], Unreadable> {
    let mut parts = text.splitn(3, ',');
    let reads = direction(parts.next().unwrap_or_default(), kb_base)?;
    let writes = parts.next().map(|part| direction(part, kb_base)).transpose()?;
    let trims = parts.next().map(|part| direction(part, kb_base)).transpose()?;
    let writes = writes.unwrap_or_else(|| reads.clone());
    let trims = trims.unwrap_or_else(|| writes.clone());
    Ok([reads, writes, trims])
}

/// `4k/60:64k/40`. A share that is missing, empty or 0 gets its part of what the others leave.
fn direction(text: &str, kb_base: u16) -> Result<Vec<(u64, u32)>, Unreadable> {
    let mut entries = Vec::new();
    for part in text.split(':').take_while(|part| !part.is_empty()) {
        if entries.len() == MOST {
            return Err(Unreadable::new(
                format!("has more than {MOST} sizes"),
                format!("fio reads the first {MOST} only"),
            ));
        }
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let bytes = number::integer(size, kb_base)?;
        let bytes = u64::try_from(bytes)
            .map_err(|_| Unreadable::new(format!("`{size}` is negative"), ""))?;
        entries.push((bytes, percent(share)?));
    }
    share_out(text, entries)
}

/// A share in percent; `None` where it is to be shared out.
fn percent(text: &str) -> Result<Option<u32>, Unreadable> {
    if text.is_empty() {
        return Ok(None);
    }
    let digits = text.strip_suffix('%').unwrap_or(text);
    let percent: u32 = digits.trim().parse().map_err(|_| {
        Unreadable::new(format!("`{text}` is not a percentage"), "write sizes as 4k/60:64k/40")
    })?;
    Ok(Some(percent.min(100)).filter(|percent| *percent > 0))
}

fn share_out(text: &str, entries: Vec<(u64, Option<u32>)>) -> Result<Vec<(u64, u32)>, Unreadable> {
    let given: u32 = entries.iter().filter_map(|(_, percent)| *percent).sum();
    if given > 100 {
        return Err(Unreadable::new(
            format!("the shares of `{text}` add up to {given}%"),
            "let them add up to 100",
        ));
    }
    let open = entries.iter().filter(|(_, percent)| percent.is_none()).count();
    // fio gives a single size without a share everything that is left of 100 after 100: nothing.
    // It draws that size all the same, since it is the only one.
    let left = u32::try_from(open).ok().and_then(|open| (100 - given).checked_div(open));
    let shared = left.unwrap_or(0);
    Ok(entries.into_iter().map(|(bytes, percent)| (bytes, percent.unwrap_or(shared))).collect())
}
