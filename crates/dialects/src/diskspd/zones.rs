//! `-rd`: shares of the random I/Os for parts of the target.

use iotax_experiment::{Error, Extent, Zone};

use super::values::{percent, size};
use crate::shell::Word;

const ADVICE: &str = "write percent of the I/Os and of the target, as in -rdpct90/10:5/20, or a size, \
                      as in -rdabs90/10G:5/20G";

/// The parts in their order. What they leave of the I/Os goes to what they leave of the target.
pub(super) fn read(word: &Word, text: &str, block_bytes: u64) -> Result<Vec<Zone>, Error> {
    let refuse = |problem: String| Error::syntax(format!("{}: {problem}", word.text), ADVICE);
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
            "all of the target has its share, and {left} % of the I/Os none"
        )));
    }
    if is_percent && left == 0 && target < 100 {
        return Err(refuse(format!("{} % of the target have no share of the I/Os", 100 - target)));
    }
    if left > 0 {
        zones.push(Zone { accesses_percent: left, extent: Extent::Rest });
    }
    Ok(zones)
}
