//! Distributions of sizes and durations.

use hdrhistogram::Histogram;

use super::summary::Bucket;

/// Significant decimal digits: every quantile is at most 0.1 % too low.
const DIGITS: u8 = 3;
/// Longer values are counted as this one.
const HIGHEST: u64 = 1 << 62;

/// A distribution whose memory grows with the logarithm of its highest value: 8 KiB per power of
/// two, less than half a mebibyte in all.
pub(super) struct Distribution {
    counts: Histogram<u64>,
    /// Values of 0, of 1, below 4, below 8, ...
    powers: [u64; 65],
    sum: u128,
    highest: u64,
}

impl Default for Distribution {
    fn default() -> Self {
        let mut counts = Histogram::new_with_bounds(1, 2, DIGITS).expect("valid bounds");
        counts.auto(true);
        Self { counts, powers: [0; 65], sum: 0, highest: 0 }
    }
}

impl Distribution {
    pub(super) fn add(&mut self, value: u64) {
        self.counts.record(value.min(HIGHEST)).expect("it grows to the highest value");
        self.powers[power_of(value)] += 1;
        self.sum += u128::from(value);
        self.highest = self.highest.max(value);
    }

    pub(super) fn count(&self) -> u64 {
        self.counts.len()
    }

    pub(super) const fn highest(&self) -> u64 {
        self.highest
    }

    pub(super) fn mean(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum as f64 / self.count() as f64 }
    }

    /// At most this share of the values is lower. 0 if there are none.
    pub(super) fn quantile(&self, share: f64) -> u64 {
        if self.count() == 0 {
            return 0;
        }
        self.counts.lowest_equivalent(self.counts.value_at_quantile(share))
    }

    /// From the first bucket that is not empty to the last.
    pub(super) fn buckets(&self) -> Vec<Bucket> {
        let Some(first) = self.powers.iter().position(|count| *count > 0) else {
            return Vec::new();
        };
        let last = power_of(self.highest);
        (first..=last)
            .map(|power| Bucket { from: lowest_of(power), count: self.powers[power] })
            .collect()
    }
}

/// 0 for 0, otherwise the number of binary digits.
pub(super) const fn power_of(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()) as usize
}

/// The lowest value with this power.
pub(super) const fn lowest_of(power: usize) -> u64 {
    if power == 0 { 0 } else { 1 << (power - 1) }
}

/// Parts of a power of two: each value is kept to within 1 in 8.
const PARTS: usize = 8;
/// Rows of parts; the last part begins near 4 TiB.
const POWERS: usize = 40;

/// A small distribution of bytes, for use in each of many files. Multiples of 4 KiB up to 64 KiB are
/// exact.
pub(super) struct Coarse {
    counts: [u32; PARTS * POWERS],
}

impl Default for Coarse {
    fn default() -> Self {
        Self { counts: [0; PARTS * POWERS] }
    }
}

impl Coarse {
    pub(super) fn add(&mut self, bytes: u64) {
        let count = &mut self.counts[Self::at(bytes)];
        *count = count.saturating_add(1);
    }

    fn at(bytes: u64) -> usize {
        // Up to eight bytes, each value has its own count.
        let Some(shift) = power_of(bytes).checked_sub(4) else {
            return usize::try_from(bytes).expect("less than eight");
        };
        let part = usize::try_from(bytes >> shift).expect("less than sixteen") - PARTS;
        ((shift + 1) * PARTS + part).min(PARTS * POWERS - 1)
    }

    const fn lowest(at: usize) -> u64 {
        match (at / PARTS).checked_sub(1) {
            None => at as u64,
            Some(shift) => ((PARTS + at % PARTS) as u64) << shift,
        }
    }

    /// The lower bound of the part that contains the median.
    pub(super) fn median(&self) -> Option<u64> {
        let all: u64 = self.counts.iter().map(|count| u64::from(*count)).sum();
        let mut below = 0;
        let reaches_half = |count: &u32| {
            below += u64::from(*count);
            below > 0 && below * 2 >= all
        };
        self.counts.iter().position(reaches_half).map(Self::lowest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_values(
            mut values in prop::collection::vec(
                prop_oneof![0_u64..5_000, 0_u64..1 << 40, 0_u64..1 << 62], 1..300
            ),
            thousandths in 1_usize..=1_000,
        ) {
            let mut distribution = Distribution::default();
            for value in &values {
                distribution.add(*value);
            }
            values.sort_unstable();
            let rank = (thousandths * values.len()).div_ceil(1_000);
            let found = distribution.quantile(thousandths as f64 / 1_000.0);
            // The product may come out above a whole number.
            let (right, next) = (values[rank - 1], values[rank.min(values.len() - 1)]);
            prop_assert!(found <= next);
            prop_assert!(found >= right - right.div_ceil(1_000), "{found} for {right}");
            prop_assert_eq!(distribution.highest(), values[values.len() - 1]);
            let buckets = distribution.buckets();
            let all: u64 = buckets.iter().map(|bucket| bucket.count).sum();
            prop_assert_eq!(all, values.len() as u64);
            prop_assert!(buckets[0].from <= values[0]);
        }

        #[test]
        fn the_coarse_median_is_within_an_eighth(
            mut values in prop::collection::vec(0_u64..1 << 40, 1..100)
        ) {
            let mut coarse = Coarse::default();
            for value in &values {
                coarse.add(*value);
            }
            values.sort_unstable();
            let right = values[values.len().div_ceil(2) - 1];
            let found = coarse.median().expect("there are values");
            prop_assert!(found <= right && right - found <= right / 8, "{found} for {right}");
        }
    }

    #[test]
    fn extremes_are_counted() {
        let mut distribution = Distribution::default();
        assert_eq!((distribution.quantile(0.5), distribution.mean()), (0, 0.0));
        assert!(distribution.buckets().is_empty());
        distribution.add(u64::MAX);
        assert_eq!(distribution.highest(), u64::MAX);
        let mut coarse = Coarse::default();
        assert_eq!(coarse.median(), None);
        coarse.add(u64::MAX);
        assert!(coarse.median() > Some(1 << 40));
    }

    #[test]
    fn usual_sizes_are_exact() {
        for pages in 1..=16 {
            let mut coarse = Coarse::default();
            coarse.add(pages * 4096);
            assert_eq!(coarse.median(), Some(pages * 4096));
        }
    }
}
