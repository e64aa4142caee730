//! An ordered, seeded schedule of trials for arms and blocks.
//!
//! A *block* is one trial of every arm that is still open, in a balanced random order (the module
//! `order`). Interleaving makes differences comparable while the machine drifts (Abedi & Brecht,
//! ICPE 2017). Balance prevents the position of a trial in its block from looking like a
//! difference. The order of block `b` depends only on the seed and on `b`, so that a plan can be
//! printed before it runs, and dropping a resolved arm does not change the order of the others.

mod lengths;
mod order;

use serde::{Deserialize, Serialize};

pub use crate::workload::Phase;
use crate::{Draft, Workload};
pub use lengths::{AFTER_HELD, LongSlices, SliceLengths};
pub(crate) use lengths::{LEAST_HELD_BLOCKS, REPEATS};

/// The schedule of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Number of arms; arm 0 is the baseline.
    pub arms: usize,
    /// Blocks before the first look at the data.
    pub min_blocks: u32,
    /// Maximum number of blocks.
    pub max_blocks: u32,
    /// The trials of one arm in one block, in order: one per phase of the experiment.
    pub phases: Vec<Phase>,
    /// Maximum wall time, in nanoseconds.
    pub max_time_ns: Option<u64>,
    /// If trials are slices: how many of them take as long as one whole trial. Otherwise 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub usual_slices: u32,
    /// If trials are slices: how long each arm is also loaded without a break, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_ns: Option<u64>,
    /// Trials of a block that run at the same time.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub at_once: usize,
    seed: u64,
}

const fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_default(slices: &u32) -> bool {
    *slices == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_one(at_once: &usize) -> bool {
    *at_once == 1
}

/// The maximum over the phases.
fn usual_slices(spec: &Draft) -> u32 {
    // A longer slice of a recording would be of other parts than the short ones around it.
    if spec.phases().any(Workload::is_recorded) {
        return 0;
    }
    let slices = |phase: &Workload| {
        let usual = phase.slices.filter(|_| phase.is_sliced())?.usual;
        u32::try_from(usual.time_ns.div_ceil(phase.time_ns)).ok()
    };
    if spec.is_of_slices() { spec.phases().filter_map(slices).max().unwrap_or(1) } else { 0 }
}

impl Plan {
    /// The schedule for `spec`.
    pub fn new(spec: &Draft) -> Self {
        Self {
            arms: spec.arms.len(),
            min_blocks: spec.stop.min_blocks,
            max_blocks: spec.stop.max_blocks,
            phases: spec
                .phases()
                .map(|phase| Phase { ramp_ns: phase.ramp_ns, time_ns: phase.time_ns })
                .collect(),
            max_time_ns: spec.stop.max_time_ns,
            usual_slices: usual_slices(spec),
            hold_ns: spec.hold_ns.filter(|_| spec.is_of_slices()),
            at_once: spec.at_once.max(1) as usize,
            seed: spec.seed,
        }
    }

    /// The open arms of block `block` in running order, according to `open(arm)`.
    pub fn order(&self, block: u32, open: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut order = order::of_block(self.arms, block, self.seed);
        order.retain(|arm| open(*arm));
        order
    }

    /// Whether the data are analysed after this many blocks: always at first, then after each 5 %
    /// more.
    pub fn is_look(&self, blocks: u32) -> bool {
        blocks.is_multiple_of((blocks / 20).max(1)) || blocks >= self.max_blocks
    }

    /// Seed of the load in block `block`: the same for every arm, so that all arms have the same
    /// offsets.
    pub fn load_seed(&self, block: u32) -> u64 {
        self.seed ^ u64::from(block).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
    }

    /// Time of one block with `open` arms, excluding switching, in nanoseconds.
    pub fn block_ns(&self, open: usize) -> u64 {
        let phase_ns = |phase: &Phase| phase.ramp_ns.saturating_add(phase.time_ns);
        let turn_ns = self.phases.iter().map(phase_ns).fold(0, u64::saturating_add);
        turn_ns.saturating_mul(open.div_ceil(self.at_once) as u64)
    }

    /// The measured part of a block with trials of one slice, in nanoseconds.
    pub fn measured_ns(&self) -> u64 {
        let turn_ns = self.phases.iter().map(|phase| phase.time_ns).fold(0, u64::saturating_add);
        turn_ns.saturating_mul(self.arms.div_ceil(self.at_once) as u64)
    }

    /// Minimum and maximum duration of the experiment, excluding switching, in nanoseconds.
    pub fn duration_ns(&self) -> (u64, u64) {
        let block = self.block_ns(self.arms);
        let longest = block.saturating_mul(u64::from(self.max_blocks));
        let (fewest, held_ns) = self.held_at_least();
        let shortest = block.saturating_mul(u64::from(fewest)).saturating_add(held_ns);
        match self.max_time_ns {
            Some(limit) => (shortest.min(limit), longest.min(limit)),
            None => (shortest, longest),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::ops::Range;

    use super::*;
    use proptest::prelude::*;

    pub(crate) fn plan(arms: usize, seed: u64) -> Plan {
        Plan {
            at_once: 1,
            arms,
            min_blocks: 3,
            max_blocks: 40,
            phases: vec![Phase { ramp_ns: 2, time_ns: 5 }],
            max_time_ns: None,
            usual_slices: 0,
            hold_ns: None,
            seed,
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_schedule_and_another_seed_another() {
        let blocks = |seed| (0..10).map(|b| plan(4, seed).order(b, |_| true)).collect::<Vec<_>>();
        assert_eq!(blocks(1), blocks(1));
        assert_ne!(blocks(1), blocks(2));
    }

    #[test]
    fn looks_are_thinned_as_blocks_get_more() {
        let plan = Plan { max_blocks: 517, ..plan(2, 0) };
        assert!((1..40).all(|blocks| plan.is_look(blocks)));
        let looks =
            |range: Range<u32>| range.filter(|blocks| plan.is_look(*blocks)).collect::<Vec<u32>>();
        assert_eq!(looks(40..47), [40, 42, 44, 46]);
        assert_eq!(looks(495..518), [500, 517], "every 25th, and the last");
    }

    #[test]
    fn a_time_limit_caps_the_estimate() {
        let plan = Plan { max_time_ns: Some(50), ..plan(2, 0) };
        assert_eq!(plan.duration_ns(), (42, 50));
    }

    proptest! {
        #[test]
        fn each_block_has_each_open_arm_once(arms in 1usize..8, block in 0u32..1000, closed in 0usize..8, seed: u64) {
            let mut order = plan(arms, seed).order(block, |arm| arm != closed);
            order.sort_unstable();
            prop_assert_eq!(order, (0..arms).filter(|arm| *arm != closed).collect::<Vec<_>>());
        }

        #[test]
        fn closing_an_arm_leaves_the_order_of_the_others(arms in 2usize..8, block in 0u32..1000, seed: u64) {
            let plan = plan(arms, seed);
            let mut all = plan.order(block, |_| true);
            all.retain(|arm| *arm != 1);
            prop_assert_eq!(all, plan.order(block, |arm| arm != 1));
        }
    }
}
