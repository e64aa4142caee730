//! Parts of the span with shares of the accesses of their own, as fio draws them
//! (`__get_next_rand_offset_zoned` of `io_u.c`): first the part, by whole percents, then a place
//! in it.

use iotax_experiment::{Extent, Zone};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;

use super::order::{Order, Spot};
use crate::engine::below;

pub(super) struct Zoned {
    /// By percent of the accesses: the first unit of the part, and how many it has.
    by_percent: Vec<(u64, u64)>,
    positions: u64,
}

impl Zoned {
    /// Over so many units of `unit` bytes.
    pub(super) fn new(zones: &[Zone], positions: u64, unit: u64) -> Self {
        let (mut percent_before, mut bytes_before) = (0, 0_u64);
        let share = |percent: u64| {
            let units = u128::from(positions) * u128::from(percent) / 100;
            u64::try_from(units).unwrap_or(positions)
        };
        let mut by_percent = Vec::with_capacity(100);
        for zone in zones {
            let start = (share(percent_before) + bytes_before / unit).min(positions);
            let units = match zone.extent {
                Extent::Percent(percent) => {
                    percent_before += u64::from(percent);
                    share(percent.into())
                }
                Extent::Bytes(bytes) => {
                    bytes_before = bytes_before.saturating_add(bytes);
                    bytes / unit
                }
                Extent::Rest => positions - start,
            };
            // One that is shorter than a block begins in the first one all the same.
            let place = (start, units.min(positions - start).max(1));
            by_percent.extend(std::iter::repeat_n(place, zone.accesses_percent.into()));
        }
        Self { by_percent, positions }
    }
}

impl Order for Zoned {
    #[inline]
    fn next(&mut self, word: u64, covered: u64, rng: &mut Xoshiro256PlusPlus) -> Spot {
        let zone = below(rng.next_u64(), self.by_percent.len() as u64);
        let (start, units) = self.by_percent[usize::try_from(zone).expect("an index of it")];
        // Of the last one, an I/O begins where it ends with the span at the latest.
        let last = self.positions - covered;
        let start = start.min(last);
        Spot::new(start + below(word, units.min(last - start + 1)), covered)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_xoshiro::rand_core::SeedableRng as _;

    use super::*;

    const DRAWS: u32 = 100_000;

    fn zone(accesses_percent: u8, extent: Extent) -> Zone {
        Zone { accesses_percent, extent }
    }

    /// How often each unit was chosen.
    fn counts(zones: &[Zone], positions: u64, unit: u64) -> Vec<u32> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut order = Zoned::new(zones, positions, unit);
        let mut counts = vec![0; usize::try_from(positions).unwrap()];
        for _ in 0..DRAWS {
            let word = rng.next_u64();
            counts[usize::try_from(order.next(word, 1, &mut rng).at).unwrap()] += 1;
        }
        counts
    }

    /// Pearson's statistic of counts against equal expectations.
    fn chi_square(counts: &[u32]) -> f64 {
        let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
    }

    #[test]
    fn each_zone_gets_its_share_spread_evenly() {
        let zones = [
            zone(50, Extent::Percent(5)),
            zone(30, Extent::Percent(15)),
            zone(20, Extent::Percent(80)),
        ];
        let counts = counts(&zones, 1000, 4096);
        for (range, share) in [(0..50, 0.5), (50..200, 0.3), (200..1000, 0.2)] {
            let part = &counts[range];
            let drawn = f64::from(part.iter().sum::<u32>()) / f64::from(DRAWS);
            assert!((drawn - share).abs() < 0.006, "{drawn} of {share}");
            // Five standard deviations of a chi-square distribution above its mean.
            let freedom = part.len() as f64 - 1.0;
            assert!(chi_square(part) < freedom + 5.0 * (2.0 * freedom).sqrt());
        }
    }

    #[test]
    fn zones_of_bytes_begin_where_the_last_one_ended_and_gaps_stay_empty() {
        let zones =
            [zone(60, Extent::Bytes(40_960)), zone(0, Extent::Bytes(8192)), zone(40, Extent::Rest)];
        let counts = counts(&zones, 100, 4096);
        let sum = |from: usize, to: usize| counts[from..to].iter().sum::<u32>();
        assert!((f64::from(sum(0, 10)) / f64::from(DRAWS) - 0.6).abs() < 0.006);
        assert_eq!(sum(10, 12), 0);
        assert_eq!(sum(0, 10) + sum(12, 100), DRAWS);
        assert!(counts[12..].iter().all(|count| *count > 0));
    }

    proptest! {
        #[test]
        fn every_place_is_inside(
            parts in proptest::collection::vec((0..=100_u8, 0..9000_u64), 1..8),
            positions in 1..80_u64, covered in 1..80_u64, seed: u64
        ) {
            prop_assume!(covered <= positions && parts.iter().any(|(percent, _)| *percent > 0));
            let zones: Vec<Zone> = parts
                .iter()
                .map(|(percent, bytes)| zone(*percent, Extent::Bytes(*bytes)))
                .collect();
            let mut order = Zoned::new(&zones, positions, 512);
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            for _ in 0..100 {
                let word = rng.next_u64();
                let spot = order.next(word, covered, &mut rng);
                prop_assert!(spot.at + spot.covered <= positions);
            }
        }
    }
}
