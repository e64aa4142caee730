//! Values with several parts.

use iotax_experiment::{Extent, Zone};

use super::{Unreadable, arithmetic, integer, unreadable};

/// Values for reads, writes and trims; `None` keeps the earlier value (`bs=,8k`).
pub(crate) type PerDirection<T> = [Option<T>; 3];

/// Number of CPUs that fio supports (`FIO_MAX_CPUS`).
const MOST_CPUS: u32 = 1024;

/// Up to three parts separated by commas. The last part stands for missing ones; an empty part
/// keeps the earlier value.
pub(super) fn comma_separated<T: Copy>(
    text: &str,
    read: impl Fn(&str) -> Result<T, Unreadable>,
) -> Result<PerDirection<T>, Unreadable> {
    separated(text, ',', read)
}

/// The same; `:` and `-` may replace the commas if there are none.
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
            return unreadable(
                format!("`{text}` has more than three parts"),
                "specify at most three parts: for reads, writes and trims",
            );
        };
        last = at;
        if !part.is_empty() {
            *slot = Some(read(part)?);
        }
    }
    if found.iter().all(Option::is_none) {
        return unreadable("has no value", "");
    }
    let given = found[last];
    found[last + 1..].fill(given);
    Ok(found)
}

/// `4k-64k`; fio accepts `:` for the dash, and either order.
pub(super) fn range(text: &str, kb_base: u16) -> Result<(i64, i64), Unreadable> {
    let Some((low, high)) = text.split_once('-').or_else(|| text.split_once(':')) else {
        return unreadable(
            format!("`{text}` is one size, not a range"),
            "specify the smallest and the largest size, as in 4k-64k",
        );
    };
    let (low, high) = (integer(low, kb_base)?, integer(high, kb_base)?);
    Ok((low.min(high), low.max(high)))
}

/// Numbers separated by `:`.
pub(super) fn floats(text: &str) -> Result<Vec<f64>, Unreadable> {
    let read = |part: &str| {
        if part.starts_with('(') {
            return arithmetic::evaluate(part, false).map(|value| value.float);
        }
        match part.trim().parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => unreadable(format!("`{part}` is not a number"), ""),
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
            return unreadable(
                format!("`{part}` is descending"),
                "put the smaller CPU number first",
            );
        }
        found[first as usize..=last as usize].fill(true);
    }
    let numbers: Vec<u32> = (0..).zip(&found).filter(|(_, on)| **on).map(|(cpu, _)| cpu).collect();
    if numbers.is_empty() {
        return unreadable("names no CPU", "specify CPUs, as in 0-3,8");
    }
    Ok(numbers)
}

fn cpu(text: &str) -> Result<u32, Unreadable> {
    let number = text.trim().parse::<u32>().map_err(|_| {
        Unreadable::new(format!("`{text}` is not a CPU number"), "specify CPUs, as in 0-3,8")
    })?;
    if number >= MOST_CPUS {
        return unreadable(
            format!("CPU {number} is out of range"),
            format!("the range in fio is 0 to {}", MOST_CPUS - 1),
        );
    }
    Ok(number)
}

// Parts with shares: `bssplit`, `cmdprio_bssplit`, `random_distribution=zoned` and `zoned_abs`.

/// Maximum number of sizes in a split (`BSSPLIT_MAX`).
const MOST_SIZES: usize = 64;
/// Maximum number of zones in one direction (`ZONESPLIT_MAX`).
const MOST_ZONES: usize = 256;

/// For reads, writes and trims, separated by commas. Without commas all three are the same; with
/// one comma trims are the same as writes.
fn for_each_direction<T: Clone>(
    text: &str,
    read: impl Fn(&str) -> Result<Vec<T>, Unreadable>,
) -> Result<[Vec<T>; 3], Unreadable> {
    let mut directions = text.splitn(3, ',');
    let mut next = || directions.next().map(&read).transpose();
    let reads = next()?.unwrap_or_default();
    let writes = next()?.unwrap_or_else(|| reads.clone());
    let trims = next()?.unwrap_or_else(|| writes.clone());
    Ok([reads, writes, trims])
}

fn entries_of<'a>(text: &'a str, most: usize, what: &str) -> Result<Vec<&'a str>, Unreadable> {
    let entries: Vec<_> = text.split(':').take_while(|entry| !entry.is_empty()).collect();
    if entries.len() > most {
        let advice = format!("fio reads only the first {most} {what}");
        return unreadable(format!("has more than {most} {what}"), advice);
    }
    Ok(entries)
}

/// For reads, writes and trims.
pub(super) fn split(text: &str, kb_base: u16) -> Result<[Vec<(u64, u32)>; 3], Unreadable> {
    for_each_direction(text, |text| split_of(text, kb_base))
}

/// `4k/60:64k/40`. Shares that are missing, empty or 0 divide the rest equally.
fn split_of(text: &str, kb_base: u16) -> Result<Vec<(u64, u32)>, Unreadable> {
    let mut entries = Vec::new();
    for part in entries_of(text, MOST_SIZES, "sizes")? {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let bytes = integer(size, kb_base)?;
        let bytes = u64::try_from(bytes)
            .map_err(|_| Unreadable::new(format!("`{size}` is negative"), ""))?;
        entries.push((bytes, percent(share)?));
    }
    share_out(text, entries)
}

/// A share in percent; `None` if it gets part of the rest.
fn percent(text: &str) -> Result<Option<u32>, Unreadable> {
    if text.is_empty() {
        return Ok(None);
    }
    let digits = text.strip_suffix('%').unwrap_or(text);
    let percent: u32 = digits.trim().parse().map_err(|_| {
        Unreadable::new(format!("`{text}` is not a percentage"), "specify sizes as in 4k/60:64k/40")
    })?;
    Ok(Some(percent.min(100)).filter(|percent| *percent > 0))
}

fn share_out(text: &str, entries: Vec<(u64, Option<u32>)>) -> Result<Vec<(u64, u32)>, Unreadable> {
    let given: u32 = entries.iter().filter_map(|(_, percent)| *percent).sum();
    if given > 100 {
        return unreadable(
            format!("the percentages in `{text}` add up to {given}"),
            "make the percentages add up to 100",
        );
    }
    let open = entries.iter().filter(|(_, percent)| percent.is_none()).count();
    // fio gives a single size without a share nothing: what is left of 100 after 100. It still uses
    // that size, since there is no other.
    let left = u32::try_from(open).ok().and_then(|open| (100 - given).checked_div(open));
    let shared = left.unwrap_or(0);
    Ok(entries.into_iter().map(|(bytes, percent)| (bytes, percent.unwrap_or(shared))).collect())
}

/// One size of `cmdprio_bssplit`: bytes, percent, and class, level and hint where they differ from
/// the job's.
pub(crate) type Priority = (u64, u64, Option<[u64; 3]>);

/// Limit of the newest fio (`cmdprio_hint`).
const MOST_HINT: u64 = 1023;

/// Sizes, the share of their I/Os that has a priority, and the priority: for reads and, after a
/// comma, for writes. Without a comma, both are the same.
pub(super) fn priorities(text: &str, kb_base: u16) -> Result<[Vec<Priority>; 2], Unreadable> {
    let of = |text: &str| {
        let entries = text.split(':').filter(|entry| !entry.is_empty());
        entries.map(|text| priority(text, kb_base)).collect::<Result<Vec<_>, _>>()
    };
    match text.split_once(',') {
        Some((reads, writes)) => Ok([of(reads)?, of(writes)?]),
        None => of(text).map(|both| [both.clone(), both]),
    }
}

fn priority(text: &str, kb_base: u16) -> Result<Priority, Unreadable> {
    let refuse = || {
        let advice = "specify SIZE/PERCENT or SIZE/PERCENT/CLASS/LEVEL, as in 64k/25/1/0";
        Unreadable::new(format!("`{text}` is not a size with a priority"), advice)
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
    let bytes = u64::try_from(integer(size, kb_base)?).map_err(|_| refuse())?;
    Ok((bytes, small(percent, 100)?, own))
}

/// Meaning of the numbers after the slashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// Percent of the file (`zoned`).
    Percents,
    /// Bytes (`zoned_abs`).
    Sizes,
}

/// For reads, writes and trims.
pub(super) fn zones(text: &str, parts: Parts, kb_base: u16) -> Result<[Vec<Zone>; 3], Unreadable> {
    for_each_direction(text, |text| zones_of(text, parts, kb_base))
}

/// `50/5:30/15:20/`: accesses in percent, then the part. Parts without a percentage divide the rest
/// equally.
fn zones_of(text: &str, parts: Parts, kb_base: u16) -> Result<Vec<Zone>, Unreadable> {
    let mut entries = Vec::new();
    for entry in entries_of(text, MOST_ZONES, "zones")? {
        let (accesses, part) = entry.split_once('/').unwrap_or((entry, ""));
        entries.push((accesses_percent(accesses)?, extent(part, parts, kb_base)?));
    }
    let accesses: u32 = entries.iter().map(|(accesses, _)| u32::from(*accesses)).sum();
    if accesses != 100 {
        return unreadable(
            format!("the access percentages in `{text}` add up to {accesses}"),
            "make the numbers before the slashes add up to 100, as fio requires",
        );
    }
    share_out_zones(text, entries)
}

fn accesses_percent(text: &str) -> Result<u8, Unreadable> {
    let digits = text.trim();
    let number = digits.strip_suffix('%').unwrap_or(digits).parse::<u8>();
    number.ok().filter(|percent| *percent <= 100).ok_or_else(|| {
        let advice = "specify zones as ACCESSES/PART, as in 50/5:50/95";
        Unreadable::new(format!("`{text}` is not a percentage"), advice)
    })
}

/// `None` if it gets part of the rest.
fn extent(text: &str, parts: Parts, kb_base: u16) -> Result<Option<Extent>, Unreadable> {
    match parts {
        Parts::Percents if text.is_empty() => Ok(None),
        Parts::Percents => match accesses_percent(text)? {
            0 => Ok(None),
            part => Ok(Some(Extent::Percent(part))),
        },
        Parts::Sizes => {
            let bytes = u64::try_from(integer(text, kb_base)?);
            match bytes {
                Ok(bytes) if bytes > 0 => Ok(Some(Extent::Bytes(bytes))),
                _ => unreadable(
                    format!("`{text}` is not a zone size"),
                    "specify zones as ACCESSES/SIZE, as in 50/10G:50/100G",
                ),
            }
        }
    }
}

fn share_out_zones(
    text: &str,
    entries: Vec<(u8, Option<Extent>)>,
) -> Result<Vec<Zone>, Unreadable> {
    let given: u32 = entries
        .iter()
        .map(|(_, extent)| match extent {
            Some(Extent::Percent(percent)) => u32::from(*percent),
            _ => 0,
        })
        .sum();
    if given > 100 {
        return unreadable(
            format!("the file percentages in `{text}` add up to {given}"),
            "make the numbers after the slashes add up to at most 100",
        );
    }
    let open = entries.iter().filter(|(_, extent)| extent.is_none()).count();
    let each = u32::try_from(open).ok().and_then(|open| (100 - given).checked_div(open));
    let each = Extent::Percent(u8::try_from(each.unwrap_or(0)).unwrap_or(0));
    if open > 0 && each == Extent::Percent(0) {
        return unreadable(
            format!(
                "in `{text}`, too little of the file is left for the zones without a percentage"
            ),
            "specify the percentage of the file that each zone covers",
        );
    }
    let zone = |(accesses_percent, extent): (u8, Option<Extent>)| Zone {
        accesses_percent,
        extent: extent.unwrap_or(each),
    };
    Ok(entries.into_iter().map(zone).collect())
}

// `buffer_pattern` and `verify_pattern`: data written as a sequence of strings and numbers
// (`lib/pattern.c`).

/// Limit of fio (`MAX_PATTERN_SIZE`).
const MOST: usize = 512;

/// The bytes, or `None` if the pattern is not fixed bytes: the content of a file, or `%o`.
pub(super) fn pattern(text: &str) -> Result<Option<Vec<u8>>, Unreadable> {
    let (mut bytes, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        if rest.starts_with('\'') || rest.starts_with('%') {
            return Ok(None);
        }
        if let Some(quoted) = rest.strip_prefix('"') {
            let Some((string, behind)) = quoted.split_once('"') else {
                return unreadable(format!("`{rest}` has no closing quote"), "");
            };
            bytes.extend(string.bytes());
            rest = behind;
        } else {
            rest = number(rest, &mut bytes)?;
        }
    }
    if bytes.is_empty() || bytes.len() > MOST {
        let problem = format!("`{text}` contains {} bytes of data", bytes.len());
        return unreadable(problem, format!("fio supports 1 to {MOST} bytes"));
    }
    Ok(Some(bytes))
}

/// Hexadecimal digits in the written order; decimal numbers with the lowest byte first. Also
/// returns the rest of the text.
fn number<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, Unreadable> {
    let refuse = || {
        let advice = "specify it as \"text\", 0xdeadbeef or a 32-bit number";
        Unreadable::new(format!("`{text}` is not a pattern"), advice)
    };
    let end_of =
        |text: &str, is: fn(char) -> bool| text.find(|c: char| !is(c)).unwrap_or(text.len());
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = end_of(digits, |c| c.is_ascii_hexdigit());
        let (digits, rest) = digits.split_at(end);
        if digits.is_empty() {
            return Err(refuse());
        }
        let whole = format!("{}{digits}", if end % 2 == 1 { "0" } else { "" });
        for at in (0..whole.len()).step_by(2) {
            bytes.push(u8::from_str_radix(&whole[at..at + 2], 16).map_err(|_| refuse())?);
        }
        return Ok(rest);
    }
    let sign = usize::from(text.starts_with('-'));
    let mut end = sign + end_of(&text[sign..], |c| c.is_ascii_digit());
    // The `0` of a following `0x` does not belong to this number.
    if text[end..].starts_with(['x', 'X']) && text[..end].ends_with('0') {
        end -= 1;
    }
    let (number, rest) = text.split_at(end);
    if sign == 1 {
        let number = number.parse::<i32>().map_err(|_| refuse())?;
        bytes.extend(number.to_le_bytes());
    } else {
        let number = number.parse::<u32>().map_err(|_| refuse())?;
        let used = 4 - (number.leading_zeros() / 8).min(3) as usize;
        bytes.extend(&number.to_le_bytes()[..used]);
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, parts: Parts) -> String {
        match zones(text, parts, 1024) {
            Ok(directions) => directions
                .map(|zones| {
                    let words = zones.iter().map(|zone| match zone.extent {
                        Extent::Percent(part) => format!("{}/{part}%", zone.accesses_percent),
                        Extent::Bytes(part) => format!("{}/{part}", zone.accesses_percent),
                        Extent::Rest => unreachable!("fio has none"),
                    });
                    words.collect::<Vec<_>>().join(":")
                })
                .join(", "),
            Err(Unreadable { problem, advice }) => format!("{problem}; {advice}"),
        }
    }

    #[test]
    fn zones_are_read_as_fio_reads_them() {
        let percents = |text| read(text, Parts::Percents);
        let sizes = |text| read(text, Parts::Sizes);
        insta::assert_snapshot!(percents("50/5:30/15:20/"), @"50/5%:30/15%:20/80%, 50/5%:30/15%:20/80%, 50/5%:30/15%:20/80%");
        insta::assert_snapshot!(percents("50/5:30/:20/"), @"50/5%:30/47%:20/47%, 50/5%:30/47%:20/47%, 50/5%:30/47%:20/47%");
        insta::assert_snapshot!(percents("100/"), @"100/100%, 100/100%, 100/100%");
        insta::assert_snapshot!(percents("60/10:40/90,50/50:50/50"), @"60/10%:40/90%, 50/50%:50/50%, 50/50%:50/50%");
        insta::assert_snapshot!(sizes("50/10G:30/100G:20/500G"), @"50/10737418240:30/107374182400:20/536870912000, 50/10737418240:30/107374182400:20/536870912000, 50/10737418240:30/107374182400:20/536870912000");
        insta::assert_snapshot!(percents("50/5:30/15"), @"the access percentages in `50/5:30/15` add up to 80; make the numbers before the slashes add up to 100, as fio requires");
        insta::assert_snapshot!(percents("50/60:50/60"), @"the file percentages in `50/60:50/60` add up to 120; make the numbers after the slashes add up to at most 100");
        insta::assert_snapshot!(percents("50/100:50/"), @"in `50/100:50/`, too little of the file is left for the zones without a percentage; specify the percentage of the file that each zone covers");
        insta::assert_snapshot!(percents("x/5"), @"`x` is not a percentage; specify zones as ACCESSES/PART, as in 50/5:50/95");
        insta::assert_snapshot!(percents(""), @"the access percentages in `` add up to 0; make the numbers before the slashes add up to 100, as fio requires");
        insta::assert_snapshot!(sizes("100"), @"`` is not a number;");
    }
}

#[cfg(test)]
mod tests_of_pattern {
    use super::*;

    fn hex(text: &str) -> String {
        match pattern(text) {
            Ok(Some(bytes)) => {
                bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
            }
            Ok(None) => "more than bytes".to_owned(),
            Err(Unreadable { problem, .. }) => problem,
        }
    }

    /// As fio 3.33 writes them.
    #[test]
    fn patterns_are_the_bytes_that_fio_writes() {
        for (text, bytes) in [
            ("0xdeadbeef", "deadbeef"),
            ("0xabc", "0abc"),
            ("0x1", "01"),
            ("-12", "f4ffffff"),
            ("300", "2c01"),
            ("0", "00"),
            ("70000", "701101"),
            ("\"abcd\"-120xdeadface", "61626364f4ffffffdeadface"),
            ("0xff\"xy\"", "ff7879"),
            ("0x0", "00"),
            ("-1", "ffffffff"),
            ("'/etc/passwd'", "more than bytes"),
            ("0xaa%o", "more than bytes"),
            ("4294967296", "`4294967296` is not a pattern"),
            ("\"ab", "`\"ab` has no closing quote"),
            ("x", "`x` is not a pattern"),
        ] {
            assert_eq!(hex(text), bytes, "{text}");
        }
    }
}
