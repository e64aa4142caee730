//! Every block once per pass, in random order.
//!
//! A list of all blocks would be as long as the target is large, so the order is computed: block
//! number `i` of a pass is a keyed bijection of `i`. It mixes `b`-bit numbers, where `2^b` is the
//! least power of two that takes all blocks, and those that come out too large are passed over
//! (cycle walking; fewer than every second one). Its steps are adding, multiplying by an odd
//! number and folding the upper half into the lower, each of which can be undone modulo `2^b`.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;

use super::order::{Order, Spot};

const ROUNDS: usize = 4;

/// The numbers below `count` in random order, again and again in another one.
struct Permutation {
    count: u64,
    /// `2^b - 1`.
    mask: u64,
    /// Half of `b`, at least 1.
    fold: u32,
    keys: [(u64, u64); ROUNDS],
    /// Numbers of this pass that were mixed so far.
    mixed: u64,
}

impl Permutation {
    fn new(count: u64, rng: &mut Xoshiro256PlusPlus) -> Self {
        // Spans hold at least one block, and fewer than 2^63 units.
        let mask = count.max(2).next_power_of_two() - 1;
        let fold = mask.count_ones().div_ceil(2);
        let mut new = Self { count: count.max(1), mask, fold, keys: [(0, 1); ROUNDS], mixed: 0 };
        new.begin_pass(rng);
        new
    }

    fn begin_pass(&mut self, rng: &mut Xoshiro256PlusPlus) {
        self.keys = [(); ROUNDS].map(|()| (rng.next_u64(), rng.next_u64() | 1));
        self.mixed = 0;
    }

    #[inline]
    fn mix(&self, number: u64) -> u64 {
        self.keys.iter().fold(number, |number, (add, multiply)| {
            let scaled = number.wrapping_add(*add).wrapping_mul(*multiply) & self.mask;
            scaled ^ scaled >> self.fold
        })
    }

    /// The next number, and whether it is the first of another pass.
    #[inline]
    fn next(&mut self, rng: &mut Xoshiro256PlusPlus) -> (u64, bool) {
        let mut wrapped = false;
        loop {
            if self.mixed > self.mask {
                self.begin_pass(rng);
                wrapped = true;
            }
            let number = self.mix(self.mixed);
            self.mixed += 1;
            if number < self.count {
                return (number, wrapped);
            }
        }
    }
}

/// For I/Os that each cover one unit.
pub(super) struct Shuffled(Permutation);

impl Shuffled {
    /// Over so many units.
    pub(super) fn new(positions: u64, rng: &mut Xoshiro256PlusPlus) -> Self {
        Self(Permutation::new(positions, rng))
    }
}

impl Order for Shuffled {
    #[inline]
    fn next(&mut self, _: u64, covered: u64, rng: &mut Xoshiro256PlusPlus) -> Spot {
        let (at, wrapped) = self.0.next(rng);
        Spot { wrapped, ..Spot::new(at, covered) }
    }
}

/// For I/Os of different sizes, as fio's random map does it: an I/O that would reach into what
/// this pass has covered already is cut short there. That takes a bit per unit.
pub(super) struct ShuffledParts {
    order: Permutation,
    covered: Box<[u64]>,
    /// The value of a bit whose unit is covered: it changes with every pass, at the end of which
    /// all bits have it, so that they need not be cleared.
    mark: bool,
}

impl ShuffledParts {
    /// Over so many units.
    pub(super) fn new(positions: u64, rng: &mut Xoshiro256PlusPlus) -> Self {
        let words =
            usize::try_from(positions.div_ceil(64)).expect("one bit per unit fits in memory");
        let covered = vec![0; words].into_boxed_slice();
        Self { order: Permutation::new(positions, rng), covered, mark: true }
    }

    #[inline]
    fn is_covered(&self, unit: u64) -> bool {
        let (word, bit) = place(unit);
        (self.covered[word] & bit != 0) == self.mark
    }

    #[inline]
    fn cover(&mut self, unit: u64) {
        let (word, bit) = place(unit);
        if self.mark {
            self.covered[word] |= bit;
        } else {
            self.covered[word] &= !bit;
        }
    }
}

#[inline]
fn place(unit: u64) -> (usize, u64) {
    (usize::try_from(unit / 64).expect("an index into the bits in memory"), 1 << (unit % 64))
}

impl Order for ShuffledParts {
    #[inline]
    fn next(&mut self, _: u64, covered: u64, rng: &mut Xoshiro256PlusPlus) -> Spot {
        let mut wrapped = false;
        let at = loop {
            let (at, new_pass) = self.order.next(rng);
            if new_pass {
                self.mark = !self.mark;
                wrapped = true;
            }
            if !self.is_covered(at) {
                break at;
            }
        };
        let end = (at + covered).min(self.order.count);
        let mut reached = at;
        while reached < end && !self.is_covered(reached) {
            self.cover(reached);
            reached += 1;
        }
        Spot { wrapped, ..Spot::new(at, reached - at) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_xoshiro::rand_core::SeedableRng as _;

    use super::*;

    fn rng(seed: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(seed)
    }

    proptest! {
        #[test]
        fn a_pass_is_a_permutation_and_the_next_one_another(count in 1..3000_u64, seed: u64) {
            let mut rng = rng(seed);
            let mut order = Shuffled::new(count, &mut rng);
            let mut passes = Vec::new();
            for pass in 0..3 {
                let spots: Vec<Spot> = (0..count).map(|_| order.next(0, 1, &mut rng)).collect();
                prop_assert_eq!(spots[0].wrapped, pass > 0);
                prop_assert!(spots[1..].iter().all(|spot| !spot.wrapped));
                let order: Vec<u64> = spots.iter().map(|spot| spot.at).collect();
                let mut sorted = order.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, (0..count).collect::<Vec<_>>());
                passes.push(order);
            }
            // 1 in 20! that two are the same by chance.
            prop_assert!(count < 20 || (passes[0] != passes[1] && passes[1] != passes[2]));
        }

        /// Against the slow oracle: a list of what each pass has covered.
        #[test]
        fn parts_cover_every_unit_once_per_pass(
            count in 1..700_u64, largest in 1..40_u64, seed: u64
        ) {
            let mut rng = rng(seed);
            let mut order = ShuffledParts::new(count, &mut rng);
            let mut times = vec![0_u32; usize::try_from(count).unwrap()];
            let mut pass = 1;
            for _ in 0..3 * count {
                let wanted = 1 + rng.next_u64() % largest.min(count);
                let spot = order.next(0, wanted, &mut rng);
                if spot.wrapped {
                    prop_assert!(times.iter().all(|times| *times == pass));
                    pass += 1;
                }
                prop_assert!((1..=wanted).contains(&spot.covered));
                for unit in spot.at..spot.at + spot.covered {
                    times[usize::try_from(unit).unwrap()] += 1;
                    prop_assert_eq!(times[usize::try_from(unit).unwrap()], pass);
                }
                // Cut short only where something was in the way.
                let end = usize::try_from(spot.at + spot.covered).unwrap();
                prop_assert!(
                    spot.covered == wanted || end == times.len() || times[end] == pass
                );
            }
        }
    }

    #[test]
    fn neighbours_in_time_are_no_neighbours_in_space() {
        let mut rng = rng(7);
        let count = 10_000;
        let mut order = Shuffled::new(count, &mut rng);
        let places: Vec<u64> = (0..count).map(|_| order.next(0, 1, &mut rng).at).collect();
        let distances = places.windows(2).map(|pair| pair[0].abs_diff(pair[1]) as f64);
        // Two random places are a third of the span apart on average; a standard error is 0.24 %.
        let mean = distances.sum::<f64>() / (count - 1) as f64 / count as f64;
        assert!((mean - 1.0 / 3.0).abs() < 0.012, "{mean}");
        let ascending = places.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((4800..5200).contains(&ascending), "{ascending}");
    }

    #[test]
    fn every_place_is_equally_likely_to_come_first() {
        let mut rng = rng(3);
        let mut first = [0_u32; 12];
        let mut order = Shuffled::new(12, &mut rng);
        for _ in 0..12_000 {
            for turn in 0..12 {
                let at = order.next(0, 1, &mut rng).at;
                first[usize::try_from(at).unwrap()] += u32::from(turn == 0);
            }
        }
        // 1000 expected; 6 standard deviations are 182.
        assert!(first.iter().all(|count| count.abs_diff(1000) < 182), "{first:?}");
    }
}
