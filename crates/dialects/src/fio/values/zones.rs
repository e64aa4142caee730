//! `random_distribution=zoned` and `zoned_abs`: parts of the file with their shares of the accesses.

use iotax_experiment::{Extent, Zone};

use super::number;
use super::unreadable::Unreadable;

/// Most zones of one direction (`ZONESPLIT_MAX`).
const MOST: usize = 256;

/// What the numbers behind the slashes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// Percent of the file (`zoned`).
    Percents,
    /// Bytes (`zoned_abs`).
    Sizes,
}

/// For reads, writes and trims, with commas between them: as for `bssplit`.
pub(super) fn zones(text: &str, parts: Parts, kb_base: u16) -> Result<[Vec<Zone>; 3], Unreadable> {
    let mut directions = text.splitn(3, ',');
    let mut next = || directions.next().map(|text| direction(text, parts, kb_base)).transpose();
    let reads = next()?.unwrap_or_default();
    let writes = next()?.unwrap_or_else(|| reads.clone());
    let trims = next()?.unwrap_or_else(|| writes.clone());
    Ok([reads, writes, trims])
}

/// `50/5:30/15:20/`: accesses in percent, then the part. Parts in percent that are not given share
/// what the others leave.
fn direction(text: &str, parts: Parts, kb_base: u16) -> Result<Vec<Zone>, Unreadable> {
    let mut entries = Vec::new();
    for entry in text.split(':').take_while(|entry| !entry.is_empty()) {
        if entries.len() == MOST {
            let advice = format!("fio reads the first {MOST} only");
            return Err(Unreadable::new(format!("has more than {MOST} zones"), advice));
        }
        let (accesses, part) = entry.split_once('/').unwrap_or((entry, ""));
        entries.push((percent(accesses)?, extent(part, parts, kb_base)?));
    }
    let accesses: u32 = entries.iter().map(|(accesses, _)| u32::from(*accesses)).sum();
    if accesses != 100 {
        return Err(Unreadable::new(
            format!("the accesses of `{text}` add up to {accesses}%"),
            "let the numbers in front of the slashes add up to 100, as fio asks, too",
        ));
    }
    share_out(text, entries)
}

fn percent(text: &str) -> Result<u8, Unreadable> {
    let digits = text.trim();
    let number = digits.strip_suffix('%').unwrap_or(digits).parse::<u8>();
    number.ok().filter(|percent| *percent <= 100).ok_or_else(|| {
        let advice = "write zones as ACCESSES/PART, as in 50/5:50/95";
        Unreadable::new(format!("`{text}` is not a percentage"), advice)
    })
}

/// `None` where it is to be shared out.
fn extent(text: &str, parts: Parts, kb_base: u16) -> Result<Option<Extent>, Unreadable> {
    match parts {
        Parts::Percents if text.is_empty() => Ok(None),
        Parts::Percents => match percent(text)? {
            0 => Ok(None),
            part => Ok(Some(Extent::Percent(part))),
        },
        Parts::Sizes => {
            let bytes = u64::try_from(number::integer(text, kb_base)?);
            match bytes {
                Ok(bytes) if bytes > 0 => Ok(Some(Extent::Bytes(bytes))),
                _ => Err(Unreadable::new(
                    format!("`{text}` is not the size of a zone"),
                    "write zones as ACCESSES/SIZE, as in 50/10G:50/100G",
                )),
            }
        }
    }
}

fn share_out(text: &str, entries: Vec<(u8, Option<Extent>)>) -> Result<Vec<Zone>, Unreadable> {
    let given: u32 = entries
        .iter()
        .map(|(_, extent)| match extent {
            Some(Extent::Percent(percent)) => u32::from(*percent),
            _ => 0,
        })
        .sum();
    if given > 100 {
        return Err(Unreadable::new(
            format!("the parts of `{text}` add up to {given}%"),
            "let the numbers behind the slashes add up to 100 at most",
        ));
    }
    let open = entries.iter().filter(|(_, extent)| extent.is_none()).count();
    let each = u32::try_from(open).ok().and_then(|open| (100 - given).checked_div(open));
    let each = Extent::Percent(u8::try_from(each.unwrap_or(0)).unwrap_or(0));
    if open > 0 && each == Extent::Percent(0) {
        return Err(Unreadable::new(
            format!("the parts of `{text}` leave nothing for those without a number"),
            "write each zone's part of the file",
        ));
    }
    let zone = |(accesses_percent, extent): (u8, Option<Extent>)| Zone {
        accesses_percent,
        extent: extent.unwrap_or(each),
    };
    Ok(entries.into_iter().map(zone).collect())
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
        insta::assert_snapshot!(percents("50/5:30/15"), @"the accesses of `50/5:30/15` add up to 80%; let the numbers in front of the slashes add up to 100, as fio asks, too");
        insta::assert_snapshot!(percents("50/60:50/60"), @"the parts of `50/60:50/60` add up to 120%; let the numbers behind the slashes add up to 100 at most");
        insta::assert_snapshot!(percents("50/100:50/"), @"the parts of `50/100:50/` leave nothing for those without a number; write each zone's part of the file");
        insta::assert_snapshot!(percents("x/5"), @"`x` is not a percentage; write zones as ACCESSES/PART, as in 50/5:50/95");
        insta::assert_snapshot!(percents(""), @"the accesses of `` add up to 0%; let the numbers in front of the slashes add up to 100, as fio asks, too");
        insta::assert_snapshot!(sizes("100"), @"`` is not a number;");
    }
}
