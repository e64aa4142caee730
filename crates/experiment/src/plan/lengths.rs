//! The length of the slices of each block: most are short, some are longer. A longer one that
//! differs from short ones is repeated.

use std::ops::Range;

use super::{Phase, Plan};

/// The first block of longer slices is at this part of the way to the first look, in tenths.
const FIRST_LONG: Range<u32> = 4..8;
/// Maximum number of blocks on that way, so that a late first look does not delay the longer
/// slices.
const MOST_FIRST: u32 = 20;
/// The part of the time for longer slices.
const TENTH: u32 = 10;
/// Arms are held in one of these blocks, after the first look.
const HELD: Range<u32> = 20..30;
/// Number of blocks after that one until its result is known.
pub const AFTER_HELD: u32 = 4;
/// Minimum number of blocks of an experiment whose arms are held.
pub(crate) const LEAST_HELD_BLOCKS: u32 = HELD.end + AFTER_HELD;
/// Minimum number of short slices between two repeats: the first shows the after-effects of the
/// long one, the next are for comparison.
const BETWEEN: u32 = 4;
/// How often a longer slice that differs from short ones is repeated.
pub(crate) const REPEATS: u32 = 3;
/// Growth of the next repeats if these were not conclusive.
const GROWTH: u32 = 4;

impl Plan {
    /// Length of the trials of block `block` in slices: 1, except for some at random positions. The
    /// first of these is before the first look. Each later one is longer, a tenth of all slices
    /// before it, and the slices in between make it a tenth of the time.
    fn slices_of(&self, block: u32) -> u32 {
        let of = self.min_blocks.min(MOST_FIRST);
        let [start, end] = [FIRST_LONG.start, FIRST_LONG.end].map(|at| at * of / TENTH);
        let mut next = start + self.toss(0, end - start);
        while self.usual_slices > 0 && next <= block {
            let slices = self.least_long().max(next / TENTH);
            if next == block {
                return slices;
            }
            let between = slices * TENTH;
            next += between - between / TENTH + self.toss(next, between / 5);
        }
        1
    }

    /// Minimum length of a longer one, in slices: half of all before the first look.
    fn least_long(&self) -> u32 {
        (self.min_blocks.min(MOST_FIRST) / 2).clamp(1, self.usual_slices.max(1))
    }

    /// How many slices arms are held for, if requested.
    fn hold_slices(&self) -> Option<u32> {
        let hold_ns = self.hold_ns?;
        let slices = |phase: &Phase| hold_ns.div_ceil(phase.time_ns.max(1));
        let most = self.phases.iter().map(slices).max()?;
        u32::try_from(most).ok().filter(|slices| *slices > 1)
    }

    /// The measured window of a trial of `slices` slices, in nanoseconds.
    pub fn window_ns(&self, phase: usize, slices: u32) -> u64 {
        let window_ns = self.phases[phase].time_ns.saturating_mul(slices.into());
        match self.hold_ns.filter(|_| self.hold_slices() == Some(slices)) {
            Some(hold_ns) => window_ns.min(hold_ns),
            None => window_ns,
        }
    }

    /// The block in which arms are held, or the first after it without other open questions.
    fn held_block(&self) -> u32 {
        HELD.start + self.toss(u32::MAX, HELD.end - HELD.start)
    }

    /// Number of blocks before there can be a verdict.
    pub fn least_blocks(&self) -> u32 {
        self.held_at_least().0
    }

    /// The minimum number of blocks, and the additional time for holding arms, in nanoseconds.
    pub(super) fn held_at_least(&self) -> (u32, u64) {
        let Some(slices) = self.hold_slices() else { return (self.min_blocks, 0) };
        let window_ns = |phase| self.window_ns(phase, slices);
        let turn_ns = (0..self.phases.len()).map(window_ns).fold(0, u64::saturating_add);
        (
            self.min_blocks.max(self.held_block() + AFTER_HELD),
            turn_ns.saturating_mul(self.arms as u64),
        )
    }

    /// The next length after an inconclusive one, at most that of a whole trial.
    fn longer(&self, slices: u32) -> u32 {
        slices.saturating_mul(GROWTH).min(self.usual_slices)
    }

    /// A random number below `of`, fixed for each `at`.
    fn toss(&self, at: u32, of: u32) -> u32 {
        let bits = (self.seed ^ (u64::from(at) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        u32::try_from((bits >> 33) % u64::from(of.max(1))).unwrap_or(0)
    }
}

/// Which longer slices come next, according to the data so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LongSlices {
    /// The planned ones: the latest show the same as short ones, or are known not to.
    #[default]
    Planned,
    /// The latest are repeated, because they may differ.
    Repeated,
    /// Longer ones: the latest show the same, but something else suggests that slices are too
    /// short.
    Longer,
}

/// The lengths of slices so far in a run, and which to repeat. Lengths are in slices.
#[derive(Debug, Clone)]
pub struct SliceLengths {
    longest: u32,
    /// Short slices since the latest longer one.
    since: u32,
    next: LongSlices,
    /// Remaining repeats, and their length.
    repeats: u32,
    repeated: u32,
    is_held: bool,
    /// The block in which arms were last held.
    held: u32,
}

impl Default for SliceLengths {
    fn default() -> Self {
        Self {
            longest: 1,
            since: 0,
            next: LongSlices::Planned,
            repeats: 0,
            repeated: 1,
            is_held: false,
            held: 0,
        }
    }
}

impl SliceLengths {
    /// The length of the trials of block `block`; `fits` tells whether there is time for a given
    /// length.
    pub fn next(&mut self, plan: &Plan, block: u32, fits: impl Fn(u32) -> bool) -> u32 {
        let held = plan.hold_slices().filter(|_| {
            let is_clear = self.next == LongSlices::Planned && self.since >= BETWEEN;
            block >= plan.held_block() && is_clear && !self.is_held
        });
        let planned = held.unwrap_or_else(|| plan.slices_of(block));
        let is_due = planned == 1 && self.since >= BETWEEN && self.is_rested(plan, block);
        let more = if is_due { self.next } else { LongSlices::Planned };
        let is_repeat = more == LongSlices::Repeated && self.repeats > 0;
        let wanted = match more {
            LongSlices::Repeated if is_repeat => self.repeated,
            LongSlices::Longer if self.longest > 1 && self.longest < plan.usual_slices => {
                plan.longer(self.longest)
            }
            _ => planned,
        };
        let length = if fits(wanted) { wanted } else { 1 };
        self.since += 1;
        if Some(length) == plan.hold_slices() {
            (self.is_held, self.held) = (true, block);
        }
        if length > 1 {
            (self.since, self.longest) = (0, self.longest.max(length));
            (self.repeats, self.repeated) = match self.repeats {
                _ if !is_repeat => (REPEATS, length),
                // Those of this length are not conclusive.
                1 if self.repeated < plan.usual_slices => (REPEATS, plan.longer(self.repeated)),
                repeats => (repeats - 1, self.repeated),
            };
        }
        length
    }

    /// Whether no arm would be held twice in a row, without time for its credits to come back.
    fn is_rested(&self, plan: &Plan, block: u32) -> bool {
        let order = |block| plan.order(block, |_| true);
        !self.is_held || order(block).first() != order(self.held).last()
    }

    /// Takes the result of each look at the data.
    pub const fn set_next(&mut self, next: LongSlices) {
        self.next = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;

    #[test]
    fn longer_slices_are_a_tenth_of_the_time_and_grow() {
        for seed in 0..50 {
            let plan = Plan { usual_slices: 50, min_blocks: 20, ..plan(2, seed) };
            let long: Vec<(u32, u32)> = (0..4000)
                .map(|block| (block, plan.slices_of(block)))
                .filter(|(_, slices)| *slices > 1)
                .collect();
            assert!((8..16).contains(&long[0].0) && long[0].1 == 10, "{long:?}");
            assert!(long.is_sorted_by_key(|(_, slices)| slices), "{long:?}");
            assert!(long.last().unwrap().1 > 150, "{long:?}");
            let slices: u32 = long.iter().map(|(_, slices)| slices).sum();
            assert!((0.08..0.2).contains(&(f64::from(slices) / 4000.0)), "{long:?}");
        }
        assert!((0..4000).all(|block| plan(2, 0).slices_of(block) == 1));
    }

    #[test]
    fn before_an_early_first_look_there_is_a_longer_slice_too() {
        for (usual_slices, slices) in [(16, 4), (2, 2)] {
            let plan = Plan { usual_slices, min_blocks: 8, ..plan(2, 3) };
            let first = (0..40).find(|block| plan.slices_of(*block) > 1).unwrap();
            assert!((3..6).contains(&first), "{first}");
            assert_eq!(plan.slices_of(first), slices);
        }
    }

    #[test]
    fn a_long_slice_is_repeated_with_short_ones_between_until_they_are_clear() {
        let plan = Plan { usual_slices: 50, min_blocks: 20, ..plan(2, 1) };
        let first = (0..20).find(|block| plan.slices_of(*block) > 1).unwrap();
        // From their first look on, until that block.
        let run =
            |next: LongSlices, end: u32, clear_at: u32, fits: &dyn Fn(u32) -> bool| -> Vec<u32> {
                let mut lengths = SliceLengths::default();
                let length = |block: u32| {
                    let is_clear = !(first..clear_at).contains(&block.saturating_sub(1));
                    lengths.set_next(if is_clear { LongSlices::Planned } else { next });
                    lengths.next(&plan, block, fits)
                };
                (0..first + end).map(length).skip(first as usize).collect()
            };
        let until = |end, clear_at, fits| run(LongSlices::Repeated, end, clear_at, fits);
        let any = |_| true;
        let long = |lengths: Vec<u32>| -> Vec<(usize, u32)> {
            lengths.into_iter().enumerate().filter(|(_, slices)| *slices > 1).collect()
        };
        let repeated = [(0, 10), (5, 10), (10, 10), (15, 10), (20, 40)];
        assert_eq!(long(until(21, 99, &any)), repeated);
        assert_eq!(until(99, 99, &any).into_iter().max(), Some(50), "as trials usually are");
        assert_eq!(long(until(21, first + 6, &any)), repeated[..2]);
        assert_eq!(long(run(LongSlices::Longer, 21, 99, &any)), [(0, 10), (5, 40), (10, 50)]);
        assert_eq!(long(until(21, 99, &|slices| slices == 1)), [], "the time is nearly up");
    }
}
