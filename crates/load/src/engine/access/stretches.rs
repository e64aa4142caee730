//! Stretches of the span with gaps between them, as fio's `zonemode=strided` has them
//! (`setup_strided_zone_mode` of `io_u.c`): so many bytes are moved within one before the next.

use iotax_experiment::Stretches;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::order::{Order, Spot};

/// An order within stretches.
pub(super) struct InStretches<O> {
    order: O,
    positions: u64,
    /// Units moved in one.
    most: u64,
    /// From the start of one to that of the next, in units.
    step: u64,
    /// The first unit of this one.
    start: u64,
    moved: u64,
}

impl<O: Order> InStretches<O> {
    /// `order` is over the units of one of them, the least of all the span and
    /// [`units_of_one`]; `positions` are those of the span.
    pub(super) fn new(order: O, stretches: Stretches, positions: u64, unit: u64) -> Self {
        let step = (stretches.range_bytes.saturating_add(stretches.skip_bytes)) / unit;
        let most = stretches.bytes.div_ceil(unit).max(1);
        Self { order, positions, most, step: step.max(1), start: 0, moved: 0 }
    }
}

/// How many units one has in a span of so many.
pub(super) fn units_of_one(stretches: Stretches, positions: u64, unit: u64) -> u64 {
    (stretches.range_bytes / unit).clamp(1, positions)
}

impl<O: Order> Order for InStretches<O> {
    #[inline]
    fn next(&mut self, word: u64, covered: u64, rng: &mut Xoshiro256PlusPlus) -> Spot {
        let mut wrapped = false;
        if self.moved >= self.most {
            self.moved = 0;
            self.start += self.step;
            self.order.restart();
            if self.start >= self.positions {
                (self.start, wrapped) = (0, true);
            }
        }
        let spot = self.order.next(word, covered, rng);
        self.moved += covered;
        // The last one may be cut short by the end of the span.
        let at = (self.start + spot.at).min(self.positions - spot.covered);
        Spot { at, wrapped, ..spot }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_xoshiro::rand_core::SeedableRng as _;

    use super::super::order::{Sequential, Uniform};
    use super::*;

    const UNIT: u64 = 4096;

    fn stretches(bytes: u64, range: u64, skip: u64) -> Stretches {
        Stretches { bytes: bytes * UNIT, range_bytes: range * UNIT, skip_bytes: skip * UNIT }
    }

    fn places(order: &mut impl Order, count: usize) -> Vec<u64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        (0..count).map(|word| order.next((word as u64) << 58, 1, &mut rng).at).collect()
    }

    #[test]
    fn a_stretch_is_moved_then_the_next_one_behind_the_gap() {
        let all = stretches(3, 3, 7);
        let mut order = InStretches::new(Sequential::new(3), all, 24, UNIT);
        let expected = [0, 1, 2, 10, 11, 12, 20, 21, 22, 0, 1, 2];
        assert_eq!(places(&mut order, 12), expected);
        // More than one holds goes over it again; less leaves its end out.
        let mut order = InStretches::new(Sequential::new(2), stretches(3, 2, 8), 24, UNIT);
        assert_eq!(places(&mut order, 7), [0, 1, 0, 10, 11, 10, 20]);
        let mut order = InStretches::new(Sequential::new(5), stretches(2, 5, 5), 24, UNIT);
        assert_eq!(places(&mut order, 5), [0, 1, 10, 11, 20]);
    }

    proptest! {
        #[test]
        fn random_places_are_in_their_stretch_and_in_the_span(
            moved in 1..9_u64, range in 1..9_u64, skip in 0..9_u64, positions in 1..40_u64,
        ) {
            let all = stretches(moved, range, skip);
            let one = units_of_one(all, positions, UNIT);
            let mut order = InStretches::new(Uniform { positions: one }, all, positions, UNIT);
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
            for nth in 0..200_u64 {
                let spot = order.next(nth.wrapping_mul(1 << 57 | 1 << 40), 1, &mut rng);
                prop_assert!(spot.at < positions);
                prop_assert!(spot.at % (range + skip) < range || spot.at == positions - 1);
            }
        }
    }
}
