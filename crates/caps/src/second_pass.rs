//! Reading again what was read before: does something above the cap remember?

use iotax_experiment::{Purpose, Region};

use crate::found::{SecondPass, TargetCaps};
use crate::probe::{Ended, Observation};
use crate::scout::{Shape, TargetSearch};
use crate::sizes;

/// So much faster is no chance.
const CLEARLY: f64 = 1.3;
/// Seconds that the first pass over the first span takes.
const FIRST_S: f64 = 1.0;
/// How often a second pass must be faster.
const TIMES: usize = 3;
/// By which spans grow, and how often.
const GROWTH: u64 = 4;
const STEPS: u32 = 3;
/// Size of the I/Os, or the largest that was measured below it.
const BLOCK_BYTES: u32 = 256 << 10;

/// Reads a span twice; if the second pass is faster than whatever was not read before, other spans
/// of the same size, and then larger ones, until one is not.
pub(crate) fn look(on: &mut TargetSearch<'_, '_>) -> Result<(), Ended> {
    if on.scout.search.writes {
        return Ok(());
    }
    let Some(points) = on.found.sizes.as_ref().map(|sizes| &sizes.points) else { return Ok(()) };
    let at_size = points.iter().rev().find(|(size, _)| *size <= BLOCK_BYTES);
    let Some((block_bytes, iops)) = at_size.copied() else { return Ok(()) };
    // An unsteady target may have been slow whenever this size was measured.
    let of_size =
        on.scout.windows[on.target].iter().filter(|window| window.block_bytes == block_bytes);
    let unsteady = on.found.unsteady.iter().map(|rate| match rate.quantity.as_str() {
        "iops" => rate.hi,
        _ => rate.hi / f64::from(block_bytes),
    });
    let best = of_size.map(|window| window.iops).chain(unsteady).fold(iops, f64::max);
    let mut span = Span { bytes: iops * f64::from(block_bytes) * FIRST_S, block_bytes, iops, best };
    let pass = repeated(on, &mut span)?;
    let steps = if on.scout.search.quick { 1 } else { STEPS };
    let all = on.scout.search.targets[on.target].span_bytes;
    let (mut held, mut hits) = (pass.holds_bytes, pass.hits);
    on.found.second_pass = Some(pass);
    for _ in 1..steps {
        if !hits || held.is_some_and(|held| held >= all) {
            break;
        }
        span.bytes *= GROWTH as f64;
        // The first pass tells how fast hits are, later ones how much is held.
        let larger = twice(on, &span)?;
        (hits, held) = (larger.hits, larger.holds_bytes);
        if let Some(first) = &mut on.found.second_pass {
            first.holds_bytes = larger.holds_bytes.or(first.holds_bytes);
            first.evicts_bytes = larger.evicts_bytes;
        }
    }
    Ok(())
}

/// What is read twice.
struct Span {
    bytes: f64,
    block_bytes: u32,
    /// I/Os per second to expect.
    iops: f64,
    /// The most I/Os per second that there were where nothing had been read before.
    best: f64,
}

/// A single faster pass may be chance: the target may have become faster meanwhile. So what is new
/// is read once more in between, and it counts if every second pass was faster than anything that
/// was new.
fn repeated(on: &mut TargetSearch<'_, '_>, span: &mut Span) -> Result<SecondPass, Ended> {
    let mut pass = twice(on, span)?;
    for _ in 1..TIMES {
        if !pass.hits {
            break;
        }
        for what in on.scout.order(2) {
            if what == 0 {
                fresh(on, span)?;
                continue;
            }
            let again = twice(on, span)?;
            if again.ratio < pass.ratio {
                pass = again;
            }
        }
        pass = judged(&pass, span);
    }
    Ok(pass)
}

/// The same I/Os where nothing was read before, if there is such a place left.
fn fresh(on: &mut TargetSearch<'_, '_>, span: &mut Span) -> Result<(), Ended> {
    let window_s = on.scout.window_s(Some(span.iops));
    let most_iops = 2.0 * span.best;
    if !on.scout.has_fresh(on.target, most_iops * f64::from(span.block_bytes) * (window_s + 1.0)) {
        return Ok(());
    }
    let shape = Shape { most_iops: Some(most_iops), ..shape(span, on.found, Purpose::ReadNew) };
    let seen = on.measure_for(shape, window_s)?;
    span.best = seen.windows().into_iter().fold(span.best, f64::max);
    Ok(())
}

fn shape(span: &Span, found: &TargetCaps, purpose: Purpose) -> Shape {
    Shape {
        purpose,
        block_bytes: span.block_bytes,
        queue_depth: sizes::depth(found, Some(span.iops)),
        expected_iops: Some(span.iops),
        ..Shape::default()
    }
}

fn twice(on: &mut TargetSearch<'_, '_>, span: &Span) -> Result<SecondPass, Ended> {
    let Span { bytes, block_bytes, iops, .. } = *span;
    let region = on.scout.fresh(on.target, Some(bytes), block_bytes);
    // Somewhat longer, or what is missing holds up what is there.
    let pass_s = 1.2 * region.bytes as f64 / (iops * f64::from(block_bytes));
    let once = shape(span, on.found, Purpose::ReadOnce);
    let first = on.scout.measure_at(on.target, region, once, pass_s.max(0.5))?;
    // A busy machine may not have come to its end.
    let region = read_by(&first, region, block_bytes);
    let again = shape(span, on.found, Purpose::ReadAgain);
    let second = on.scout.measure_at(on.target, region, again, pass_s.clamp(0.5, 2.0))?;
    let pass = SecondPass {
        hits: true,
        ratio: 0.0,
        bw_bytes: second.bytes_per_s(),
        mean_latency_ns: second.mean_latency_ns,
        block_bytes,
        holds_bytes: Some(region.bytes),
        evicts_bytes: None,
    };
    Ok(judged(&pass, span))
}

/// Beside what is new. Not over the first pass: its last I/Os still wait while those after them
/// hit.
fn judged(pass: &SecondPass, span: &Span) -> SecondPass {
    let ratio = pass.bw_bytes / f64::from(span.block_bytes) / span.best;
    let hits = ratio >= CLEARLY;
    let read = pass.holds_bytes.or(pass.evicts_bytes);
    let (holds_bytes, evicts_bytes) = if hits { (read, None) } else { (None, read) };
    SecondPass { hits, ratio, holds_bytes, evicts_bytes, ..pass.clone() }
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
