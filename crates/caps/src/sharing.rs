//! Do two targets share a bucket? Each alone and both at once, in random order, block by block.

use iotax_stats::design::Design;
use iotax_stats::rci::{CriticalValues, Interval};
use iotax_stats::sample::count;

use iotax_experiment::{Purpose, Traffic};

use crate::found::{Cap, CapNote, Caps, PathCap, Shared, Sharing, TargetCaps};
use crate::probe::{Ended, Observation};
use crate::scout::{Scout, Shape};

/// Blocks at most.
const MOST: usize = 10;
const ALPHA: f64 = 0.05;
/// Below, each has its own; above, they have one.
const SEPARATE: f64 = 0.25;
const SHARED: f64 = 0.75;
/// Inside, they overlap in part.
const PARTIAL: (f64, f64) = (0.1, 0.9);

/// Every pair, for each quantity that is capped on both.
pub(crate) fn pairs(scout: &mut Scout<'_>, caps: &mut Caps) -> Result<(), Ended> {
    let Caps { targets, sharing, notes, .. } = caps;
    for a in 0..targets.len() {
        for b in a + 1..targets.len() {
            let unsteady = [a, b].into_iter().find(|at| !targets[*at].unsteady.is_empty());
            if let Some(at) = unsteady {
                let [a, b, unsteady] = [a, b, at].map(|at| targets[at].name.clone());
                notes.push(CapNote::SharingUntested { a, b, unsteady });
                continue;
            }
            scout.restart_clock();
            for (quantity, caps) in both(&targets[a], &targets[b], scout.search.writes) {
                let pair = Pair { at: (a, b), quantity, caps };
                let mut found = pair.measure(scout)?;
                found.a.clone_from(&targets[a].name);
                found.b.clone_from(&targets[b].name);
                sharing.push(found);
            }
        }
    }
    Ok(())
}

/// A cap, and what it was measured with if it is a network path's.
#[derive(Clone, Copy)]
struct Side<'a> {
    cap: &'a Cap,
    traffic: Option<Traffic>,
}

/// The quantities that are capped on both. Reads of storage behind a path come from the peer, and
/// writes go there.
fn both<'a>(
    a: &'a TargetCaps,
    b: &'a TargetCaps,
    writes: bool,
) -> Vec<(&'static str, (Side<'a>, Side<'a>))> {
    let of_storage = |cap: &'a Option<Cap>| Some(Side { cap: cap.as_ref()?, traffic: None });
    let of_path = |target: &'a TargetCaps, is_back: bool| {
        let wanted = |path: &&PathCap| {
            path.quantity.is_bytes() && !path.is_per_flow && path.traffic.is_back == is_back
        };
        let path = target.path.iter().find(wanted)?;
        Some((path.name(), Side { cap: &path.cap, traffic: Some(path.traffic) }))
    };
    let bytes = |target: &'a TargetCaps| {
        of_path(target, !writes).map(|(_, side)| side).or_else(|| of_storage(&target.bw_bytes))
    };
    let paths = [false, true].map(|is_back| of_path(a, is_back).zip(of_path(b, is_back)));
    let paths = paths.into_iter().flatten().map(|((name, a), (_, b))| (name, (a, b)));
    let paths: Vec<_> = paths.collect();
    if !paths.is_empty() {
        return paths;
    }
    let iops = of_storage(&a.iops).zip(of_storage(&b.iops)).map(|caps| ("iops", caps));
    let bytes = bytes(a).zip(bytes(b)).map(|caps| ("bw_bytes", caps));
    iops.into_iter().chain(bytes).collect()
}

struct Pair<'a> {
    at: (usize, usize),
    quantity: &'static str,
    caps: (Side<'a>, Side<'a>),
}

/// One alone, the other alone, both at once.
type Block = [f64; 3];

impl Pair<'_> {
    fn measure(&self, scout: &mut Scout<'_>) -> Result<Sharing, Ended> {
        let critical = CriticalValues::new(Design::with_max_blocks(MOST), ALPHA);
        let most = if scout.search.quick { 4 } else { MOST };
        let mut blocks: Vec<Block> = Vec::new();
        loop {
            let mut block = Block::default();
            for part in scout.order(3) {
                block[part] = self.part(scout, part)?;
            }
            blocks.push(block);
            let phis: Vec<f64> = blocks.iter().map(phi).collect();
            let interval = critical.rci(&phis);
            let verdict = interval.map_or(Shared::Undecided, judge);
            let is_look = critical.design().is_look(blocks.len());
            let may_end = is_look && (verdict != Shared::Undecided || !scout.may_refine());
            if let Some(interval) = interval
                && (may_end || blocks.len() >= most)
            {
                return Ok(self.found(&blocks, interval, verdict));
            }
        }
    }

    /// The throughput of one part of a block.
    fn part(&self, scout: &mut Scout<'_>, part: usize) -> Result<f64, Ended> {
        let (a, b) = self.at;
        let targets: &[usize] = match part {
            0 => &[a],
            1 => &[b],
            _ => &[a, b],
        };
        let shape = Shape {
            purpose: [Purpose::OneAlone, Purpose::OtherAlone, Purpose::BothAtOnce][part],
            ..self.shape()
        };
        let window_s = scout.window_s(shape.expected_iops);
        let seen = scout.measure_all(targets, shape, window_s)?;
        let value = |seen: &Observation| match self.quantity {
            "iops" => seen.iops(),
            _ => seen.bytes_per_s(),
        };
        Ok(seen.iter().map(value).sum())
    }

    /// The same I/Os in all parts: as large as the larger of both caps was measured with. And as
    /// many flows as the path that needs more of them.
    fn shape(&self) -> Shape {
        let (first, second) = self.caps;
        let of_storage = || [first, second].into_iter().filter(|side| side.traffic.is_none());
        let traffic = [first, second].into_iter().filter_map(|side| side.traffic);
        let traffic = traffic.max_by_key(|traffic| traffic.flows);
        let Some(block_bytes) = of_storage().map(|side| side.cap.block_bytes).max() else {
            let block_bytes = first.cap.block_bytes;
            return Shape { block_bytes, queue_depth: 1, traffic, ..Shape::default() };
        };
        let unit = if self.quantity == "iops" { 1.0 } else { f64::from(block_bytes) };
        let iops = || of_storage().map(|side| side.cap.cap / unit);
        Shape {
            block_bytes,
            queue_depth: of_storage().map(|side| side.cap.queue_depth).max().unwrap_or(1),
            expected_iops: iops().reduce(f64::min),
            most_iops: iops().reduce(f64::max).map(|iops| 1.3 * iops),
            traffic,
            ..Shape::default()
        }
    }

    fn found(&self, blocks: &[Block], phi: Interval, verdict: Shared) -> Sharing {
        let mean =
            |part: usize| blocks.iter().map(|block| block[part]).sum::<f64>() / blocks.len() as f64;
        Sharing {
            a: String::new(),
            b: String::new(),
            quantity: self.quantity.to_owned(),
            a_alone: mean(0),
            b_alone: mean(1),
            together: mean(2),
            phi: phi.mean,
            lo: phi.lo,
            hi: phi.hi,
            blocks: count(blocks.len()),
            verdict,
        }
    }
}

fn phi([a, b, both]: &Block) -> f64 {
    (a + b - both) / a.min(*b)
}

fn judge(phi: Interval) -> Shared {
    match phi {
        Interval { hi, .. } if hi < SEPARATE => Shared::Separate,
        Interval { lo, .. } if lo > SHARED => Shared::Shared,
        Interval { lo, hi, .. } if lo > PARTIAL.0 && hi < PARTIAL.1 => Shared::Partial,
        _ => Shared::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_judged_by_both_ends_of_its_interval() {
        let of = |lo: f64, hi: f64| judge(Interval { mean: f64::midpoint(lo, hi), lo, hi });
        assert_eq!([of(-0.1, 0.24), of(-0.1, 0.25)], [Shared::Separate, Shared::Undecided]);
        assert_eq!([of(0.76, 1.0), of(0.75, 1.0)], [Shared::Shared, Shared::Undecided]);
        assert_eq!([of(0.2, 0.8), of(0.11, 0.89)], [Shared::Partial; 2]);
        assert_eq!([of(0.1, 0.8), of(0.2, 0.9), of(0.0, 1.0)], [Shared::Undecided; 3]);
    }
}
