//! Where the next I/O goes: the orders that remember at most where they are.
//!
//! Positions are counted in units, the distance between offsets that can be chosen: the smallest
//! block, or what the job aligns to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use iotax_experiment::Stretches;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;

use crate::engine::below;

/// Where an I/O goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    /// The first unit, from the start of the span.
    pub at: u64,
    /// Units to cover: as asked, or fewer.
    pub covered: u64,
    /// Which file of the thread.
    pub file: u16,
    /// A pass over the span was over, and this I/O begins another one.
    pub wrapped: bool,
    /// It goes on with a run whose I/Os are all reads or all writes.
    pub same_way: bool,
}

impl Spot {
    /// In the only file, in the middle of a pass.
    #[inline]
    pub(super) fn new(at: u64, covered: u64) -> Self {
        Self { at, covered, file: 0, wrapped: false, same_way: false }
    }
}

/// Chooses places.
pub(super) trait Order: Send + 'static {
    /// For an I/O that covers so many units. Of `word`, 64 random bits, the upper half is free to
    /// use; the lower half chooses the direction.
    fn next(&mut self, word: u64, covered: u64, rng: &mut Xoshiro256PlusPlus) -> Spot;

    /// Begins where it began at first, if it has such a place.
    #[inline]
    fn restart(&mut self) {}
}

/// Anywhere with the same probability.
pub(super) struct Uniform {
    /// Units of the span.
    pub positions: u64,
}

impl Order for Uniform {
    #[inline]
    fn next(&mut self, word: u64, covered: u64, _: &mut Xoshiro256PlusPlus) -> Spot {
        Spot::new(below(word, self.positions + 1 - covered), covered)
    }
}

/// Behind the last one, from the start again at the end.
pub(super) struct Sequential {
    positions: u64,
    cursor: u64,
}

impl Sequential {
    /// From the start of so many units.
    pub(super) fn new(positions: u64) -> Self {
        Self { positions, cursor: 0 }
    }

    #[inline]
    fn follow(&mut self, covered: u64) -> Spot {
        let wrapped = self.cursor + covered > self.positions;
        let at = if wrapped { 0 } else { self.cursor };
        self.cursor = at + covered;
        Spot { wrapped, ..Spot::new(at, covered) }
    }

    #[inline]
    fn jump(&mut self, word: u64, covered: u64) -> Spot {
        let at = below(word, self.positions + 1 - covered);
        self.cursor = at + covered;
        Spot::new(at, covered)
    }
}

impl Order for Sequential {
    #[inline]
    fn next(&mut self, _: u64, covered: u64, _: &mut Xoshiro256PlusPlus) -> Spot {
        self.follow(covered)
    }

    #[inline]
    fn restart(&mut self) {
        self.cursor = 0;
    }
}

/// All of the span of one file, then of the next; the last I/O of each is shorter where blocks do
/// not fit.
pub(super) struct Once {
    positions: u64,
    cursor: u64,
    file: u16,
}

impl Once {
    /// From the start of so many units of each file.
    pub(super) fn new(positions: u64) -> Self {
        Self { positions, cursor: 0, file: 0 }
    }
}

impl Order for Once {
    #[inline]
    fn next(&mut self, _: u64, covered: u64, _: &mut Xoshiro256PlusPlus) -> Spot {
        if self.cursor == self.positions {
            (self.cursor, self.file) = (0, self.file.wrapping_add(1));
        }
        let covered = covered.min(self.positions - self.cursor);
        let spot = Spot { file: self.file, ..Spot::new(self.cursor, covered) };
        self.cursor += covered;
        spot
    }
}

/// At fixed distances, from the start again at the end.
pub(super) struct Strided {
    positions: u64,
    stride: u64,
    cursor: u64,
    /// Where a pass begins.
    first: u64,
}

impl Strided {
    /// From the start of so many units, so many units apart.
    pub(super) fn new(positions: u64, stride: u64) -> Self {
        Self::from(positions, stride, 0)
    }

    /// The same from another unit. A pass begins at the first unit that the last one has not left
    /// out, as `DiskSpd` has it.
    pub(super) fn from(positions: u64, stride: u64, start: u64) -> Self {
        Self { positions, stride, cursor: start, first: start % stride.max(1) }
    }
}

impl Order for Strided {
    #[inline]
    fn next(&mut self, _: u64, covered: u64, _: &mut Xoshiro256PlusPlus) -> Spot {
        let wrapped = self.cursor + covered > self.positions;
        let at = if wrapped { self.first } else { self.cursor };
        self.cursor = at + self.stride;
        Spot { wrapped, ..Spot::new(at, covered) }
    }
}

/// At fixed distances, in one sequence with the other threads.
pub(super) struct Interlocked {
    /// Places of a pass.
    places: u64,
    stride: u64,
    turn: Arc<AtomicU64>,
}

impl Interlocked {
    /// From the start of so many units, so many units apart, for I/Os that cover so many.
    pub(super) fn new(positions: u64, stride: u64, covered: u64, turn: Arc<AtomicU64>) -> Self {
        let places = positions.saturating_sub(covered) / stride.max(1) + 1;
        Self { places, stride, turn }
    }
}

impl Order for Interlocked {
    #[inline]
    fn next(&mut self, _: u64, covered: u64, _: &mut Xoshiro256PlusPlus) -> Spot {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let place = turn % self.places;
        let wrapped = place == 0 && turn > 0;
        Spot { wrapped, ..Spot::new(place * self.stride, covered) }
    }
}

/// At fixed distances downwards, from the end again at the start.
pub(super) struct Backward {
    positions: u64,
    step: u64,
    /// Where the last one was.
    cursor: Option<u64>,
}

impl Backward {
    /// From the end of so many units, so many units apart.
    pub(super) fn new(positions: u64, step: u64) -> Self {
        Self { positions, step, cursor: None }
    }
}

impl Order for Backward {
    #[inline]
    fn next(&mut self, _: u64, covered: u64, _: &mut Xoshiro256PlusPlus) -> Spot {
        let below = self.cursor.map(|at| at.checked_sub(self.step));
        let at = below.flatten().unwrap_or(self.positions - covered);
        self.cursor = Some(at);
        Spot { wrapped: below == Some(None), ..Spot::new(at, covered) }
    }
}

/// Sequential runs of the same length from random places.
pub(super) struct Runs {
    sequential: Sequential,
    length: u32,
    left: u32,
}

impl Runs {
    /// Of `length` I/Os, over so many units.
    pub(super) fn new(positions: u64, length: u32) -> Self {
        Self { sequential: Sequential::new(positions), length, left: 0 }
    }
}

impl Order for Runs {
    #[inline]
    fn next(&mut self, word: u64, covered: u64, _: &mut Xoshiro256PlusPlus) -> Spot {
        if self.left == 0 {
            self.left = self.length - 1;
            return self.sequential.jump(word, covered);
        }
        self.left -= 1;
        self.sequential.follow(covered)
    }
}

/// Each I/O at a random place with a fixed probability, else behind the last one. Sequential runs
/// are then of geometric length.
pub(super) struct Jumps {
    sequential: Sequential,
    /// Jumps in 2^64.
    threshold: u64,
    /// Each run is all reads or all writes; none has begun before the first I/O.
    homogeneous: bool,
    begun: bool,
}

impl Jumps {
    /// From the start of so many units.
    pub(super) fn new(positions: u64, probability: f64) -> Self {
        // Saturates, so that 1 is as good as always.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
        let threshold = (probability * 2.0_f64.powi(64)) as u64;
        let sequential = Sequential::new(positions);
        Self { sequential, threshold, homogeneous: false, begun: false }
    }

    /// The same, from a random place, and each run is all reads or all writes (`DiskSpd`:
    /// `NextIOType` of its `Common.h`).
    pub(super) fn from_anywhere(
        positions: u64,
        probability: f64,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Self {
        let mut jumps = Self { homogeneous: true, ..Self::new(positions, probability) };
        jumps.sequential.cursor = below(rng.next_u64(), positions);
        jumps
    }
}

impl Order for Jumps {
    #[inline]
    fn next(&mut self, word: u64, covered: u64, rng: &mut Xoshiro256PlusPlus) -> Spot {
        let begun = std::mem::replace(&mut self.begun, true);
        if rng.next_u64() < self.threshold {
            self.sequential.jump(word, covered)
        } else {
            let same_way = self.homogeneous && begun;
            Spot { same_way, ..self.sequential.follow(covered) }
        }
    }
}

/// Several files in turn, each with an order of its own (fio: `file_service_type=roundrobin`).
pub(super) struct Turns<O> {
    files: Box<[O]>,
    next: u16,
}

impl<O> Turns<O> {
    /// At most 65535 files.
    pub(super) fn new(files: impl Iterator<Item = O>) -> Self {
        Self { files: files.collect(), next: 0 }
    }
}

impl<O: Order> Order for Turns<O> {
    #[inline]
    fn next(&mut self, word: u64, covered: u64, rng: &mut Xoshiro256PlusPlus) -> Spot {
        let file = self.next;
        self.next = if usize::from(file) + 1 == self.files.len() { 0 } else { file + 1 };
        Spot { file, ..self.files[usize::from(file)].next(word, covered, rng) }
    }
}

// Stretches of the span with gaps between them, as fio's `zonemode=strided` has them
// (`setup_strided_zone_mode` of `io_u.c`): so many bytes are moved within one before the next.

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

    use super::{Sequential, Uniform, *};

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
