//! Do two targets share a bucket? Each alone and both at once, in random order, block by block.

use iotax_stats::design::Design;
use iotax_stats::rci::{CriticalValues, Interval};

use crate::found::{Cap, Shared, Sharing, TargetCaps};
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
pub(crate) fn find(
    scout: &mut Scout<'_>,
    targets: &[TargetCaps],
    sharing: &mut Vec<Sharing>,
) -> Result<(), Ended> {
    for a in 0..targets.len() {
        for b in a + 1..targets.len() {
            let iops = targets[a].iops.as_ref().zip(targets[b].iops.as_ref());
            let bytes = targets[a].bw_bytes.as_ref().zip(targets[b].bw_bytes.as_ref());
            for (quantity, caps) in [("iops", iops), ("bw_bytes", bytes)] {
                let Some(caps) = caps else { continue };
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

struct Pair<'a> {
    at: (usize, usize),
    quantity: &'static str,
    caps: (&'a Cap, &'a Cap),
}

/// One alone, the other alone, both at once.
type Block = [f64; 3];

impl Pair<'_> {
    fn measure(&self, scout: &mut Scout<'_>) -> Result<Sharing, Ended> {
        let critical = CriticalValues::new(Design::with_max_blocks(MOST), ALPHA);
        let most = if scout.search().quick { 4 } else { MOST };
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
            let is_over = blocks.len() >= most;
            if let Some(interval) = interval
                && (is_over || (is_look && verdict != Shared::Undecided))
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
        // The same I/Os in all parts: as large as the larger of both caps was measured with.
        let (first, second) = self.caps;
        let larger = if first.block_bytes >= second.block_bytes { first } else { second };
        let shape = Shape {
            purpose: ["one alone", "the other alone", "both at once"][part],
            block_bytes: larger.block_bytes,
            queue_depth: first.queue_depth.max(second.queue_depth),
            expected_iops: Some(self.iops_of(f64::min, larger.block_bytes)),
            most_iops: Some(1.3 * self.iops_of(f64::max, larger.block_bytes)),
            ..Shape::default()
        };
        let window_s = scout.window_s(shape.expected_iops);
        let seen = scout.measure_all(targets, shape, window_s)?;
        let value = |seen: &Observation| match self.quantity {
            "iops" => seen.iops(),
            _ => seen.bytes_per_s(),
        };
        Ok(seen.iter().map(value).sum())
    }

    /// I/Os per second of one of both: the slower, or the faster.
    fn iops_of(&self, which: fn(f64, f64) -> f64, block_bytes: u32) -> f64 {
        let cap = which(self.caps.0.cap, self.caps.1.cap);
        if self.quantity == "iops" { cap } else { cap / f64::from(block_bytes) }
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
            blocks: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
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
