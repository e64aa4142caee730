//! Reading again what was read before: does something above the cap remember?

use iotax_spec::Region;

use crate::found::{SecondPass, TargetCaps};
use crate::probe::{Ended, Observation};
use crate::scout::{Scout, Shape};
use crate::sizes;

/// So much faster is no chance.
const CLEARLY: f64 = 1.3;
/// Seconds that the first pass over the first span takes.
const FIRST_S: f64 = 1.0;
/// By which spans grow, and how often.
const GROWTH: u64 = 4;
const STEPS: u32 = 3;
/// Size of the I/Os, or the largest that was measured below it.
const BLOCK_BYTES: u32 = 256 << 10;

/// Reads a span twice; if the second pass is faster, larger spans, until one is not.
pub(crate) fn look(
    scout: &mut Scout<'_>,
    target: usize,
    found: &mut TargetCaps,
) -> Result<(), Ended> {
    if scout.search().writes {
        return Ok(());
    }
    let Some(points) = found.sizes.as_ref().map(|sizes| &sizes.points) else { return Ok(()) };
    let at_size = points.iter().rev().find(|(size, _)| *size <= BLOCK_BYTES);
    let Some((block_bytes, iops)) = at_size.copied() else { return Ok(()) };
    let steps = if scout.search().quick { 1 } else { STEPS };
    let mut bytes = iops * f64::from(block_bytes) * FIRST_S;
    let span = scout.search().targets[target].span_bytes;
    for step in 0..steps {
        let pass = twice(scout, target, (bytes, block_bytes, iops), found)?;
        let (hits, read) = (pass.hits, pass.holds_bytes.or(pass.evicts_bytes));
        let before = found.second_pass.take();
        found.second_pass = Some(match before {
            // The first pass tells how fast hits are, later ones how much is held.
            Some(first) if hits => SecondPass { holds_bytes: pass.holds_bytes, ..first },
            Some(first) => SecondPass { evicts_bytes: pass.evicts_bytes, ..first },
            None => pass,
        });
        bytes *= GROWTH as f64;
        let is_last = step + 1 == steps || read.is_some_and(|read| read >= span);
        if !hits || is_last {
            break;
        }
    }
    Ok(())
}

fn twice(
    scout: &mut Scout<'_>,
    target: usize,
    (bytes, block_bytes, iops): (f64, u32, f64),
    found: &TargetCaps,
) -> Result<SecondPass, Ended> {
    let shape = |purpose| Shape {
        purpose,
        block_bytes,
        queue_depth: sizes::depth(found, Some(iops)),
        expected_iops: Some(iops),
        most_iops: None,
        from_start: true,
        ..Shape::default()
    };
    let region = scout.fresh(target, Some(bytes), block_bytes);
    // Somewhat longer, or what is missing holds up what is there.
    let pass_s = 1.2 * region.bytes as f64 / (iops * f64::from(block_bytes));
    let first = scout.measure_at(target, region, shape("read a span once"), pass_s.max(0.5))?;
    // A busy machine may not have come to its end.
    let region = read_by(&first, region, block_bytes);
    let again = shape("read the same span again");
    let second = scout.measure_at(target, region, again, pass_s.clamp(0.5, 2.0))?;
    // Not over the first pass: its last I/Os still wait while those after them hit.
    let ratio = second.iops() / iops;
    let hits = ratio >= CLEARLY;
    Ok(SecondPass {
        hits,
        ratio,
        bw_bytes: second.bytes_per_s(),
        mean_latency_ns: second.mean_latency_ns,
        block_bytes,
        holds_bytes: hits.then_some(region.bytes),
        evicts_bytes: (!hits).then_some(region.bytes),
    })
}

/// The part of a region that was read from its start on, if any was.
fn read_by(pass: &Observation, region: Region, block_bytes: u32) -> Region {
    let read = pass.ios * u64::from(block_bytes);
    if read == 0 { region } else { Region { bytes: read.min(region.bytes), ..region } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_read_the_first_time_is_not_read_again() {
        let region = Region { offset_bytes: 8192, bytes: 65536 };
        let read = |ios| {
            let pass = Observation { ios, ..Observation::default() };
            read_by(&pass, region, 4096)
        };
        assert_eq!(read(3), Region { offset_bytes: 8192, bytes: 3 * 4096 });
        assert_eq!([read(0), read(16), read(99)], [region; 3]);
    }
}
