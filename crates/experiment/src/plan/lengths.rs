//! How long the slices of each block are: most are short, some are longer, and one that shows something else
//! than short ones is repeated.

use std::ops::Range;

use super::Plan;

/// Among these blocks is the first of longer slices.
const FIRST_LONG: Range<u32> = 8..16;
/// How many slices a longer one is as long as, at the least.
const LEAST_LONG: u32 = 10;
/// The part of the time for longer slices.
const TENTH: u32 = 10;
/// How often a longer slice is repeated that shows something else than short ones.
const REPEATS: u32 = 3;

impl Plan {
    /// How many slices the trials of block `block` are as long as: 1, but for some at random places. The first
    /// of these is among the blocks before the first look; each later one is longer, as long as a tenth of all
    /// slices before it, and as many slices lie between them as make it a tenth of the time.
    fn slices_of(&self, block: u32) -> u32 {
        let mut next = FIRST_LONG.start + self.toss(0, FIRST_LONG.end - FIRST_LONG.start);
        while self.has_slices && next <= block {
            let slices = LEAST_LONG.max(next / TENTH);
            if next == block {
                return slices;
            }
            let between = slices * TENTH;
            next += between - between / TENTH + self.toss(next, between / 5);
        }
        1
    }

    /// A number below `of`, fixed for each `at`.
    fn toss(&self, at: u32, of: u32) -> u32 {
        let bits = (self.seed ^ (u64::from(at) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        u32::try_from((bits >> 33) % u64::from(of.max(1))).unwrap_or(0)
    }
}

/// How long the slices of a run were so far, and which are to be repeated. Lengths are in slices.
#[derive(Debug, Clone)]
pub struct SliceLengths {
    latest: u32,
    longest: u32,
    /// Repeats of the longest that are still due.
    repeats: u32,
}

impl Default for SliceLengths {
    fn default() -> Self {
        Self { latest: 1, longest: 1, repeats: 0 }
    }
}

impl SliceLengths {
    /// The length of the trials of block `block`; `fits` says whether there is time for one so long.
    pub fn next(&mut self, plan: &Plan, block: u32, fits: impl Fn(u32) -> bool) -> u32 {
        let planned = plan.slices_of(block);
        // Between two long ones there is a short one to compare with.
        let is_repeat = planned == 1 && self.repeats > 0 && self.latest == 1;
        let wanted = if is_repeat { self.longest } else { planned };
        self.latest = if fits(wanted) { wanted } else { 1 };
        if self.latest > 1 {
            self.repeats = if is_repeat { self.repeats - 1 } else { REPEATS };
            self.longest = self.longest.max(self.latest);
        }
        self.latest
    }

    /// Nothing is repeated: long slices show the same, or it is known that they do not.
    pub const fn are_clear(&mut self) {
        self.repeats = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;

    #[test]
    fn longer_slices_are_a_tenth_of_the_time_and_grow() {
        for seed in 0..50 {
            let plan = Plan { has_slices: true, ..plan(2, seed) };
            let long: Vec<(u32, u32)> = (0..4000)
                .map(|block| (block, plan.slices_of(block)))
                .filter(|(_, slices)| *slices > 1)
                .collect();
            assert!(FIRST_LONG.contains(&long[0].0), "{long:?}");
            assert!(long.is_sorted_by_key(|(_, slices)| slices), "{long:?}");
            assert!(long.last().unwrap().1 > 150, "{long:?}");
            let slices: u32 = long.iter().map(|(_, slices)| slices).sum();
            assert!((0.08..0.2).contains(&(f64::from(slices) / 4000.0)), "{long:?}");
        }
        assert!((0..4000).all(|block| plan(2, 0).slices_of(block) == 1));
    }

    #[test]
    fn a_long_slice_is_repeated_with_short_ones_between_until_it_is_clear() {
        let plan = Plan { has_slices: true, ..plan(2, 1) };
        let first = (0..20).find(|block| plan.slices_of(*block) > 1).unwrap();
        let lengths = |clear_at: u32, fits: &dyn Fn(u32) -> bool| -> Vec<u32> {
            let mut lengths = SliceLengths::default();
            (0..first + 9)
                .map(|block| {
                    if block == clear_at {
                        lengths.are_clear();
                    }
                    lengths.next(&plan, block, fits)
                })
                .skip(first as usize)
                .collect()
        };
        let any = |_| true;
        assert_eq!(lengths(99, &any), [10, 1, 10, 1, 10, 1, 10, 1, 1]);
        assert_eq!(lengths(first + 3, &any), [10, 1, 10, 1, 1, 1, 1, 1, 1]);
        assert_eq!(lengths(99, &|slices| slices == 1), [1; 9], "the time is nearly up");
    }
}
