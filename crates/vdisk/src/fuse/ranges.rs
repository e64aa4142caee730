//! Which reads and writes may be in flight together.
//!
//! Reads and writes of whole blocks need no protection: where they overlap, either may be first,
//! as on any device. A write that covers a block only in part becomes read, modify, write. Between
//! its read and its write nobody else may write to its blocks, or that other write would be lost;
//! and nobody may read them during its write, because bytes change on their way through an
//! encryption layer that are not its own. So each I/O enters here with the blocks it touches,
//! `alone` or not, and waits while one that it must not meet is in flight or came before it.

use std::collections::VecDeque;
use std::ops::Range;

/// What an I/O touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    /// Bytes, whole blocks.
    pub(crate) bytes: Range<u64>,
    /// Nobody else may be there meanwhile.
    pub(crate) alone: bool,
}

impl Touch {
    fn excludes(&self, other: &Self) -> bool {
        (self.alone || other.alone)
            && self.bytes.start < other.bytes.end
            && other.bytes.start < self.bytes.end
    }
}

/// The I/Os in flight, each named by its slot, and those that wait.
pub(crate) struct Ranges<T> {
    /// By slot.
    active: Box<[Option<Touch>]>,
    waiting: VecDeque<(usize, Touch, T)>,
    /// How many of both must be alone: with none, which is the rule, nothing needs to be compared.
    alone: usize,
}

impl<T> Ranges<T> {
    /// For slots below `slots`.
    pub(crate) fn new(slots: usize) -> Self {
        let active = (0..slots).map(|_| None).collect();
        Self { active, waiting: VecDeque::new(), alone: 0 }
    }

    /// Gives `io` back if it may start; keeps it until [`Ranges::leave`] hands it out otherwise.
    /// A waiting one holds back later ones, so that it does not wait for ever.
    pub(crate) fn enter(&mut self, slot: usize, touch: Touch, io: T) -> Option<T> {
        self.alone += usize::from(touch.alone);
        self.start(slot, touch, io)
    }

    fn start(&mut self, slot: usize, touch: Touch, io: T) -> Option<T> {
        if self.alone > 0 {
            let earlier = self.active.iter().flatten();
            let mut earlier = earlier.chain(self.waiting.iter().map(|(_, touch, _)| touch));
            if earlier.any(|earlier| earlier.excludes(&touch)) {
                self.waiting.push_back((slot, touch, io));
                return None;
            }
        }
        self.active[slot] = Some(touch);
        Some(io)
    }

    /// Ends the I/O of `slot`; those that may start now are appended to `started`.
    pub(crate) fn leave(&mut self, slot: usize, started: &mut Vec<T>) {
        let left = self.active[slot].take().expect("each I/O leaves once, after it starts");
        self.alone -= usize::from(left.alone);
        let mut waiting = std::mem::take(&mut self.waiting);
        // Once more, in order, against those that still wait before them.
        for (slot, touch, io) in waiting.drain(..) {
            started.extend(self.start(slot, touch, io));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn touch(bytes: Range<u64>, alone: bool) -> Touch {
        Touch { bytes, alone }
    }

    #[test]
    fn whole_blocks_never_wait_for_each_other() {
        let mut ranges = Ranges::new(40);
        assert_eq!(ranges.enter(0, touch(0..8, false), 'a'), Some('a'));
        assert_eq!(ranges.enter(1, touch(4..12, false), 'b'), Some('b'));
    }

    #[test]
    fn one_that_must_be_alone_waits_and_is_not_overtaken() {
        let mut ranges = Ranges::new(40);
        assert_eq!(ranges.enter(0, touch(0..8, false), 'a'), Some('a'));
        assert_eq!(ranges.enter(1, touch(4..12, true), 'b'), None);
        assert_eq!(ranges.enter(2, touch(8..16, false), 'c'), None, "behind b");
        assert_eq!(ranges.enter(3, touch(16..24, true), 'd'), Some('d'), "elsewhere");
        let mut started = Vec::new();
        ranges.leave(0, &mut started);
        assert_eq!(started, ['b']);
        ranges.leave(1, &mut started);
        assert_eq!(started, ['b', 'c']);
    }

    proptest! {
        /// Whatever enters and leaves: no two in flight exclude each other, and in the end every
        /// write has had its turn.
        #[test]
        fn nobody_meets_whom_it_must_not(
            writes in prop::collection::vec((0_u64..16, 1_u64..8, any::<bool>()), 1..40),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 80),
        ) {
            let mut ranges = Ranges::new(40);
            let touches: Vec<Touch> = writes
                .iter()
                .map(|&(start, len, alone)| touch(start..start + len, alone))
                .collect();
            let mut in_flight: Vec<usize> = Vec::new();
            let mut done = 0;
            let mut entering = 0..touches.len();
            for pick in picks {
                if pick.index(2) == 0 && let Some(slot) = entering.next() {
                    in_flight.extend(ranges.enter(slot, touches[slot].clone(), slot));
                } else if !in_flight.is_empty() {
                    let slot = in_flight.swap_remove(pick.index(in_flight.len()));
                    ranges.leave(slot, &mut in_flight);
                    done += 1;
                }
                for (at, &a) in in_flight.iter().enumerate() {
                    for &b in &in_flight[at + 1..] {
                        prop_assert!(!touches[a].excludes(&touches[b]), "{a} and {b}");
                    }
                }
            }
            for slot in entering {
                in_flight.extend(ranges.enter(slot, touches[slot].clone(), slot));
            }
            while let Some(slot) = in_flight.pop() {
                ranges.leave(slot, &mut in_flight);
                done += 1;
            }
            prop_assert_eq!(done, touches.len());
        }
    }
}
