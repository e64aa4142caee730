//! Repeatable randomness without a lock: the n-th draw is a hash of n.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

/// A sequence of draws that threads share. Which thread gets which draw is up to the schedule;
/// the set of draws is not.
pub(crate) struct Draws {
    seed: u64,
    next: CachePadded<AtomicU64>,
}

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, next: CachePadded::new(AtomicU64::new(0)) }
    }

    /// The number of this draw, from 0, and its 64 random bits.
    pub(crate) fn draw(&self) -> (u64, u64) {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        (index, split_mix(self.seed.wrapping_add(index.wrapping_mul(GOLDEN_GAMMA))))
    }

    /// Uniform on `0..bound` (Lemire's multiply-shift; the bias is below `bound` / 2^64).
    pub(crate) fn below(&self, bound: u64) -> u64 {
        let (_, bits) = self.draw();
        u64::try_from((u128::from(bits) * u128::from(bound)) >> 64)
            .expect("the high half of a 128-bit product fits in 64 bits")
    }
}

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of `SplitMix64` (Steele, Lea and Flood, 2014), whose n-th output is a
/// function of seed + n * gamma: random access, which no shift-register generator offers.
pub(crate) const fn split_mix(state: u64) -> u64 {
    let z = state.wrapping_add(GOLDEN_GAMMA);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_published_generator() {
        // The first outputs of java.util.SplittableRandom's reference for seed 1234567.
        let draws = Draws::new(1_234_567);
        let outputs: Vec<u64> = (0..5).map(|_| draws.draw().1).collect();
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(outputs, expected);
    }

    #[test]
    fn draws_below_a_bound_cover_it_evenly() {
        let draws = Draws::new(7);
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[usize::try_from(draws.below(10)).unwrap()] += 1;
        }
        // 5 standard deviations of a binomial(100 000, 1/10) are 475.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 475), "{counts:?}");
    }
}
