//! Some blocks far more often than others, as fio draws them (`lib/zipf.c`, `lib/gauss.c`).
//!
//! A distribution draws ranks; a hash scatters them over the span, since what is hot is rarely
//! contiguous, and a random shift makes other blocks hot for each thread. The hash may put two
//! ranks on one block, as in fio.

use iotax_experiment::{Extent, Zone};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;

use super::order::{Order, Spot};
use crate::engine::below;

/// `GOLDEN_RATIO_64` of fio's `hash.h`.
const HASH: u64 = 0x61C8_8646_80B5_83EB;
/// Terms of the harmonic number that are added up; the rest is an integral. The error of the
/// Euler-Maclaurin formula from there on is far below the precision of a double.
const TERMS: u64 = 1000;
/// Uniform numbers that fio averages to get something close to a normal one.
const NORMAL_TERMS: u32 = 12;

/// Draws ranks.
trait Ranks: Send + 'static {
    /// A number below the number of positions, or a few above.
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64;
}

/// An order by ranks.
pub(super) struct Skewed<R> {
    ranks: R,
    positions: u64,
    shift: u64,
}

impl<R> Skewed<R> {
    /// Over `positions` units, shifted by `shift`, or by a random number.
    pub(super) fn new(
        ranks: R,
        positions: u64,
        shift: Option<u64>,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Self {
        Self { ranks, positions, shift: shift.unwrap_or_else(|| rng.next_u64()) }
    }
}

impl<R: Ranks> Order for Skewed<R> {
    #[inline]
    fn next(&mut self, _: u64, covered: u64, rng: &mut Xoshiro256PlusPlus) -> Spot {
        let hashed = self.ranks.draw(rng).wrapping_mul(HASH).wrapping_add(self.shift);
        Spot::new(hashed % (self.positions + 1 - covered).max(1), covered)
    }
}

/// The shift with which the first rank is at a centre.
pub(super) fn first_at(centre: f64, positions: u64) -> u64 {
    whole(centre * positions as f64)
}

/// The shift that fio has for a normal distribution with a centre, which is a number of 32 bits.
/// None is the same as the middle.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as fio does it")]
pub(super) fn middle_at(centre: f64, positions: u64) -> u64 {
    u64::from(((centre - 0.5) * positions as f64) as i64 as u32)
}

/// Zipf's law, by the method of Gray et al., "Quickly generating billion-record synthetic
/// databases" (SIGMOD 1994), which is exact for the first two ranks and close for the others.
pub(super) struct Zipf {
    positions: f64,
    zeta: f64,
    /// `1 + 0.5^theta`: the first two ranks.
    zeta_of_two: f64,
    alpha: f64,
    eta: f64,
}

impl Zipf {
    /// With exponent `theta`, above 0 and not 1.
    pub(super) fn new(positions: u64, theta: f64) -> Self {
        let count = positions as f64;
        let zeta = zeta(positions, theta);
        let zeta_of_two = 1.0 + 0.5_f64.powf(theta);
        Self {
            positions: count,
            zeta,
            zeta_of_two,
            alpha: 1.0 / (1.0 - theta),
            eta: (1.0 - (2.0 / count).powf(1.0 - theta)) / (1.0 - zeta_of_two / zeta),
        }
    }
}

impl Ranks for Zipf {
    #[inline]
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        let uniform = unit_interval(rng);
        let scaled = uniform * self.zeta;
        if scaled < 1.0 {
            0
        } else if scaled < self.zeta_of_two {
            1
        } else {
            whole(self.positions * (self.eta * uniform - self.eta + 1.0).powf(self.alpha))
        }
    }
}

/// The generalised harmonic number: the sum of `i^-theta` up to `count`.
fn zeta(count: u64, theta: f64) -> f64 {
    let term = |i: f64| i.powf(-theta);
    let added = count.min(TERMS);
    let sum: f64 = (1..=added).map(|i| term(i as f64)).sum();
    if added == count {
        return sum;
    }
    let (from, to) = (added as f64, count as f64);
    let integral = (to.powf(1.0 - theta) - from.powf(1.0 - theta)) / (1.0 - theta);
    let ends = (term(to) - term(from)) / 2.0;
    let slopes = theta * (from.powf(-theta - 1.0) - to.powf(-theta - 1.0)) / 12.0;
    sum + integral + ends + slopes
}

/// The share `1 - power` of accesses goes to the share `power` of blocks.
pub(super) struct Pareto {
    last: f64,
    exponent: f64,
}

impl Pareto {
    /// With `power` between 0 and 1.
    pub(super) fn new(positions: u64, power: f64) -> Self {
        Self { last: (positions - 1) as f64, exponent: power.ln() / (1.0 - power).ln() }
    }
}

impl Ranks for Pareto {
    #[inline]
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        whole(self.last * unit_interval(rng).powf(self.exponent))
    }
}

/// What fio calls normal: the mean of twelve uniform places, moved by up to half the deviation
/// either way.
pub(super) struct Normal {
    positions: u64,
    deviation: u64,
}

impl Normal {
    /// With a deviation in percent of the span.
    pub(super) fn new(positions: u64, percent: f64) -> Self {
        let deviation = whole((positions as f64 * percent / 100.0).ceil());
        Self { positions, deviation: deviation.min(positions / 2) }
    }
}

impl Ranks for Normal {
    #[inline]
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        let mean = (0..NORMAL_TERMS).map(|_| unit_interval(rng)).sum::<f64>() / 12.0;
        let moved = (unit_interval(rng) - 0.5) * self.deviation as f64;
        // Negative ones become 0; both ends are as good as never reached.
        whole(mean * self.positions as f64 + moved).min(self.positions - 1)
    }
}

/// Uniform in 0..1.
#[inline]
fn unit_interval(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating")]
fn whole(number: f64) -> u64 {
    number as u64
}

// Parts of the span with shares of the accesses of their own, as fio draws them
// (`__get_next_rand_offset_zoned` of `io_u.c`): first the part, by whole percents, then a place
// in it.

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

    const DRAWS: u32 = 200_000;

    fn counts(ranks: &impl Ranks, positions: usize) -> Vec<u32> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut counts = vec![0; positions];
        for _ in 0..DRAWS {
            counts[usize::try_from(ranks.draw(&mut rng)).unwrap()] += 1;
        }
        counts
    }

    proptest! {
        #[test]
        fn harmonic_numbers_equal_their_sums(count in 1..20_000_u64, theta in 0.1..3.0_f64) {
            prop_assume!((theta - 1.0).abs() > 1e-3);
            let slow: f64 = (1..=count).map(|i| (i as f64).powf(-theta)).sum();
            prop_assert!((zeta(count, theta) / slow - 1.0).abs() < 1e-9);
        }

        #[test]
        fn every_place_is_inside(
            positions in 1..50_u64, covered in 1..50_u64, theta in 0.1..3.0_f64, seed: u64
        ) {
            prop_assume!(covered <= positions && (theta - 1.0).abs() > 1e-3);
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let power = theta / 3.1;
            let mut zipf = Skewed::new(Zipf::new(positions, theta), positions, None, &mut rng);
            let mut pareto = Skewed::new(Pareto::new(positions, power), positions, Some(seed), &mut rng);
            let mut normal = Skewed::new(Normal::new(positions, 100.0), positions, Some(middle_at(power, positions)), &mut rng);
            for _ in 0..100 {
                for order in [&mut zipf as &mut dyn Order, &mut pareto, &mut normal] {
                    let spot = order.next(0, covered, &mut rng);
                    prop_assert!(spot.at + spot.covered <= positions);
                }
            }
        }
    }

    /// The first rank of Zipf's law is at the centre, and the others are where fio's hash puts
    /// them.
    #[test]
    fn a_centre_is_where_the_first_rank_is() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        for (centre, first) in [(0.0, 0), (0.25, 100), (0.999, 399)] {
            let zipf = Zipf::new(400, 1.2);
            let mut order = Skewed::new(zipf, 400, Some(first_at(centre, 400)), &mut rng);
            let mut counts = [0_u32; 400];
            for _ in 0..20_000 {
                counts[usize::try_from(order.next(0, 1, &mut rng).at).unwrap()] += 1;
            }
            let second = usize::try_from((HASH.wrapping_add(first)) % 400).unwrap();
            let mut places: Vec<usize> = (0..400).collect();
            places.sort_by_key(|place| std::cmp::Reverse(counts[*place]));
            assert_eq!(places[..2], [usize::try_from(first).unwrap(), second], "{centre}");
        }
    }

    #[test]
    fn ranks_follow_zipfs_law() {
        for theta in [0.8, 1.2] {
            let counts = counts(&Zipf::new(1000, theta), 1001);
            let zeta = zeta(1000, theta);
            let expected = |from: u64, to: u64| {
                let sum: f64 = (from..=to).map(|i| (i as f64).powf(-theta)).sum();
                f64::from(DRAWS) * sum / zeta
            };
            let drawn =
                |from: usize, to: usize| f64::from(counts[from - 1..to].iter().sum::<u32>());
            // The first two are exact; of the others the method is close, not exact.
            for (from, to, tolerance) in [
                (1_u32, 1_u32, 0.03),
                (2, 2, 0.03),
                (3, 10, 0.15),
                (11, 100, 0.1),
                (101, 1000, 0.1),
            ] {
                let ratio = drawn(from as usize, to as usize) / expected(from.into(), to.into());
                assert!((ratio - 1.0).abs() < tolerance, "{theta}: {from} to {to}: {ratio}");
            }
        }
    }

    #[test]
    fn pareto_0_2_sends_80_percent_to_20_percent() {
        let counts = counts(&Pareto::new(1000, 0.2), 1000);
        let hot = f64::from(counts[..200].iter().sum::<u32>()) / f64::from(DRAWS);
        assert!((hot - 0.8).abs() < 0.01, "{hot}");
    }

    #[test]
    fn normal_places_spread_around_the_middle() {
        // Variance of a mean of 12 uniform places, and of the uniform shift.
        for percent in [0.0, 10.0, 40.0_f64] {
            let counts = counts(&Normal::new(1000, percent), 1000);
            let total = f64::from(DRAWS);
            let moment = |power: i32| {
                let at = |(i, count): (usize, &u32)| {
                    f64::from(*count) * (i as f64 / 1000.0 - 0.5).powi(power)
                };
                counts.iter().enumerate().map(at).sum::<f64>() / total
            };
            let expected = 1.0 / 144.0 + (percent / 100.0).powi(2) / 12.0;
            assert!(moment(1).abs() < 0.002, "{percent}: {}", moment(1));
            assert!((moment(2) / expected - 1.0).abs() < 0.03, "{percent}: {}", moment(2));
        }
    }
}

#[cfg(test)]
mod tests_of_zoned {
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
