//! Values of flags: sizes, counts, percentages, caches, parts of the target.

use iotax_experiment::units::Unit;
use iotax_experiment::{Error, Extent, Zone};
use iotax_quantity::set_percent;

use super::line::Caching;
use crate::shell::Word;

const SIZE_ADVICE: &str =
    "write it as DiskSpd reads it: 4096, 4K, 64M, 2G, 1T (powers of 1024), or 8b for 8 blocks";

const CACHING_ADVICE: &str = "write -Sb (cached), -Su (O_DIRECT), -Sw (write through), -Sh (both), \
                      -Sm (mapped) or -Sr (no local cache)";
const ZONES_ADVICE: &str = "write percent of the I/Os and of the target, as in -rdpct90/10:5/20, or a size, \
                      as in -rdabs90/10G:5/20G";

/// A size in bytes; `b` counts blocks of `block_bytes`.
pub(super) fn size(text: &str, block_bytes: u64) -> Result<u64, Error> {
    let refuse = |problem: &str| Unit::Size.refuse(text, problem, SIZE_ADVICE);
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let multiplier = match &text[digits.len()..] {
        "" => 1,
        "b" | "B" => block_bytes,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        "t" | "T" => 1_u64 << 40,
        _ => return Err(refuse("its unit is none of K, M, G, T and b")),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refuse("it is not a whole number"));
    }
    let number: Option<u64> = digits.parse().ok();
    number
        .and_then(|number| number.checked_mul(multiplier))
        .ok_or_else(|| refuse("it is not below 16 EiB"))
}

/// A size above 0 that fits 32 bits.
pub(super) fn block(text: &str) -> Result<u32, Error> {
    let bytes = size(text, 64 << 10)?;
    match u32::try_from(bytes) {
        Ok(0) => Err(Unit::Size.refuse(text, "an I/O of 0 bytes does nothing", SIZE_ADVICE)),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(Unit::Size.refuse(text, "too large for one I/O: at most 4G - 1", "")),
    }
}

/// A whole number of at least `least`.
pub(super) fn count(text: &str, least: u32) -> Result<u32, Error> {
    let refuse = |problem: String| {
        Unit::Count.refuse(text, problem, "write it in digits, right behind the letter")
    };
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refuse("it is not all digits".into()));
    }
    let number: u32 = text.parse().map_err(|_| refuse("too large here".into()))?;
    if number < least { Err(refuse(format!("at least {least} is needed"))) } else { Ok(number) }
}

/// 0 to 100.
pub(super) fn percent(text: &str) -> Result<u8, Error> {
    let number = count(text, 0)?;
    u8::try_from(number)
        .ok()
        .filter(|percent| *percent <= 100)
        .ok_or_else(|| Unit::Percent.refuse(text, "it is above 100", "write 0 to 100"))
}

/// `-S...`: caches and write-through, the flags in `value` on top of those before. As in `DiskSpd`, one says how to cache and
/// one whether to write through; saying either twice is a conflict.
pub(super) fn caching(mut caching: Caching, word: &Word, value: &str) -> Result<Caching, Error> {
    for flag in if value.is_empty() { "u" } else { value }.chars() {
        let cache_said = caching.cached || caching.unbuffered || caching.remote_only;
        let fresh = match flag {
            'b' | 'u' | 'r' => !cache_said,
            'w' => !caching.write_through,
            'h' => !cache_said && !caching.write_through,
            'm' => !caching.mapped,
            _ => {
                return Err(Error::syntax(
                    format!("{}: -S knows no `{flag}`", word.text),
                    CACHING_ADVICE,
                ));
            }
        };
        if !fresh {
            let problem = format!("{}: what is cached is said twice", word.text);
            return Err(Error::syntax(problem, CACHING_ADVICE));
        }
        match flag {
            'b' => caching.cached = true,
            'u' => caching.unbuffered = true,
            'r' => caching.remote_only = true,
            'w' => caching.write_through = true,
            'm' => caching.mapped = true,
            _ => (caching.unbuffered, caching.write_through) = (true, true),
        }
    }
    Ok(caching)
}

/// `-rd`: parts of the target in their order, with shares of the random I/Os. What they leave of the I/Os goes to what they leave of the target.
pub(super) fn zones(word: &Word, text: &str, block_bytes: u64) -> Result<Vec<Zone>, Error> {
    let refuse = |problem: String| Error::syntax(format!("{}: {problem}", word.text), ZONES_ADVICE);
    let (is_percent, parts) = match (text.strip_prefix("pct"), text.strip_prefix("abs")) {
        (Some(parts), _) => (true, parts),
        (_, Some(parts)) => (false, parts),
        _ => return Err(refuse("it names neither pct nor abs".to_owned())),
    };
    let (mut accesses, mut target) = (0_u32, 0_u32);
    let mut zones = Vec::new();
    for part in parts.split(':') {
        let Some((share, extent)) = part.split_once('/') else {
            return Err(refuse(format!("`{part}` is not IO%/TARGET")));
        };
        let accesses_percent = percent(share)?;
        accesses += u32::from(accesses_percent);
        let extent = if is_percent {
            let share = percent(extent)?;
            target += u32::from(share);
            Extent::Percent(share)
        } else {
            Extent::Bytes(size(extent, block_bytes)?)
        };
        match extent {
            Extent::Percent(0) => {
                return Err(refuse(format!("`{part}` has no part of the target")));
            }
            // A gap may be as small as it likes.
            Extent::Bytes(bytes) if bytes == 0 || accesses_percent > 0 && bytes < block_bytes => {
                return Err(refuse(format!("`{part}` is smaller than a block")));
            }
            _ => zones.push(Zone { accesses_percent, extent }),
        }
        if accesses > 100 || target > 100 {
            let of = if accesses > 100 { "I/Os" } else { "target" };
            return Err(refuse(format!("more than 100 % of the {of}")));
        }
    }
    let left = u8::try_from(100 - accesses).unwrap_or(0);
    if is_percent && left > 0 && target == 100 {
        return Err(refuse(format!(
            "all of the target has its share, and {} of the I/Os none",
            set_percent(left)
        )));
    }
    if is_percent && left == 0 && target < 100 {
        return Err(refuse(format!(
            "{} of the target have no share of the I/Os",
            set_percent(100 - target)
        )));
    }
    if left > 0 {
        zones.push(Zone { accesses_percent: left, extent: Extent::Rest });
    }
    Ok(zones)
}
