//! The order of the arms in each block, balanced so that effects of a position in the schedule do
//! not look like differences between arms.
//!
//! Blocks come in pairs, and the second block of a pair runs the arms of the first backwards.
//! Effects on the first trials of a block, and linear drift, cancel within each pair, between any
//! two arms, even if other arms are closed. The pairs together are Williams' design (Aust. J. Sci.
//! Res. A 2, 1949), with the arms shuffled for each repetition: in `k` blocks (`2 k` for an odd
//! number `k` of arms), each arm is at each position equally often, and follows each other arm
//! equally often.
//!
//! *Two arms* have only two orders, and an effect that alternates with the trials can match a few
//! of their pairs: pairs with independent random first orders agree in half of all runs after four
//! blocks. So the first four pairs are AB BA, BA AB, BA AB, BA AB, or the same with A and B
//! exchanged. Of the eight ways to order four pairs, this one matches an oscillation of any period
//! the least (the simulation `known_truth` of `iotax-analyze` tests several). Later pairs are
//! random.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Pairs of blocks of two arms whose order is determined by the first.
const FIXED_PAIRS: u32 = 4;

/// The order of `arms` arms in block `block`.
pub(crate) fn of_block(arms: usize, block: u32, seed: u64) -> Vec<usize> {
    let (pair, is_second) = (block / 2, block % 2 == 1);
    let mut order = if arms == 2 { of_two(pair, seed) } else { of_pair(arms, pair, seed) };
    if is_second {
        order.reverse();
    }
    order
}

fn of_two(pair: u32, seed: u64) -> Vec<usize> {
    let toss = |pair| rng(seed, pair).random::<bool>();
    let is_swapped = match pair {
        0 => toss(0),
        1..FIXED_PAIRS => !toss(0),
        _ => toss(pair),
    };
    if is_swapped { vec![1, 0] } else { vec![0, 1] }
}

/// The first block of a pair: a row of a design, or that row backwards.
fn of_pair(arms: usize, pair: u32, seed: u64) -> Vec<usize> {
    // For an even number of arms, a row backwards is the row half the arms later.
    let pairs = if arms.is_multiple_of(2) { arms / 2 } else { arms }.max(1);
    let (design, at) = (pair as usize / pairs, pair as usize % pairs);
    let mut rng = rng(seed, u32::try_from(design).unwrap_or(u32::MAX));
    let mut names: Vec<usize> = (0..arms).collect();
    names.shuffle(&mut rng);
    let mut rows: Vec<usize> = (0..pairs).collect();
    rows.shuffle(&mut rng);
    let backwards: Vec<bool> = rows.iter().map(|_| rng.random()).collect();
    let mut order: Vec<usize> =
        zigzag(arms).map(|place| names[(place + rows[at]) % arms.max(1)]).collect();
    if backwards[at] {
        order.reverse();
    }
    order
}

/// 0, n - 1, 1, n - 2, ...: the first row of Williams' square, in which the differences of
/// neighbours are all distinct.
fn zigzag(n: usize) -> impl Iterator<Item = usize> {
    (0..n).map(move |at| if at % 2 == 0 { at / 2 } else { n - 1 - at / 2 })
}

fn rng(seed: u64, of: u32) -> impl Rng {
    Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(u64::from(of) << 32))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// How often each arm is at each place, and follows each other, in these blocks.
    fn counts(
        arms: usize,
        blocks: std::ops::Range<u32>,
        seed: u64,
    ) -> [BTreeMap<(usize, usize), u32>; 2] {
        let [mut places, mut follows] = [BTreeMap::new(), BTreeMap::new()];
        for block in blocks {
            let order = of_block(arms, block, seed);
            for (place, arm) in order.iter().enumerate() {
                *places.entry((*arm, place)).or_insert(0) += 1;
            }
            for two in order.windows(2) {
                *follows.entry((two[0], two[1])).or_insert(0) += 1;
            }
        }
        [places, follows]
    }

    #[test]
    fn pairs_of_two_arms_begin_in_all_ways_but_those_that_an_oscillation_fits() {
        let firsts = |seed| (0..12).map(move |pair| of_block(2, 2 * pair, seed)[0]);
        let mut seen = BTreeMap::new();
        for seed in 0..400 {
            let firsts: Vec<usize> = firsts(seed).collect();
            let other = 1 - firsts[0];
            assert_eq!(firsts[1..4], [other; 3], "{firsts:?}");
            for (at, first) in firsts.iter().enumerate() {
                *seen.entry((at, *first)).or_insert(0) += 1;
            }
        }
        // Binomial(400, 1/2): mean 200, standard deviation 10.
        assert!(seen.values().all(|n| (160..240).contains(n)), "{seen:?}");
    }

    #[test]
    fn arms_are_dealt_out_anew_for_each_design() {
        let mut counts = BTreeMap::new();
        for design in 0..2000 {
            *counts.entry(of_block(3, 6 * design, 7)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Binomial(2000, 1/6): mean 333, standard deviation 17.
        assert!(counts.values().all(|n| (270..400).contains(n)), "{counts:?}");
    }

    proptest! {
        #[test]
        fn in_each_pair_of_blocks_every_two_arms_come_in_both_orders(
            arms in 1usize..12, pair in 0u32..500, seed: u64,
        ) {
            let first = of_block(arms, 2 * pair, seed);
            let mut second = of_block(arms, 2 * pair + 1, seed);
            second.reverse();
            prop_assert_eq!(first, second);
        }

        #[test]
        fn in_each_design_every_arm_is_equally_often_at_each_place_and_behind_each_other(
            arms in 2usize..10, design in 0u32..50, seed: u64,
        ) {
            let blocks = u32::try_from(if arms.is_multiple_of(2) { arms } else { 2 * arms }).unwrap();
            let [places, follows] = counts(arms, design * blocks..(design + 1) * blocks, seed);
            let times = blocks / u32::try_from(arms).unwrap();
            prop_assert_eq!(places.len(), arms * arms);
            prop_assert!(places.values().all(|n| *n == times), "{:?}", places);
            prop_assert_eq!(follows.len(), arms * (arms - 1));
            prop_assert!(follows.values().all(|n| *n == times), "{:?}", follows);
        }
    }
}
