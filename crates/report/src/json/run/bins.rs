//! Latency histograms in fio's layout.
//!
//! fio (`stat.c`, `plat_val_to_idx` and `plat_idx_to_val`): 29 groups of 64 buckets. Values below
//! 128 have a bucket each; above, each power of two has 64. A bucket is named after its middle,
//! its last group takes everything larger. `HdrHistogram` with three digits has 1,024 buckets per
//! power of two, so each of its buckets lies within one of fio's and nothing is lost but detail.

use std::collections::BTreeMap;

use iotax_record::LatencyHistogram;

const BITS: u32 = 6;
const PER_GROUP: u64 = 1 << BITS;
const BUCKETS: u64 = 29 * PER_GROUP;

/// Non-empty buckets: middle in nanoseconds, count.
pub(super) fn of(histogram: &LatencyHistogram) -> BTreeMap<u64, u64> {
    let mut bins = BTreeMap::new();
    for (ns, count) in histogram.buckets() {
        *bins.entry(middle(index(ns))).or_default() += count;
    }
    bins
}

fn index(ns: u64) -> u64 {
    let Some(most_significant) = ns.checked_ilog2().filter(|bit| *bit > BITS) else { return ns };
    let dropped = most_significant - BITS;
    let base = u64::from(dropped + 1) << BITS;
    let offset = (ns >> dropped) & (PER_GROUP - 1);
    (base + offset).min(BUCKETS - 1)
}

fn middle(index: u64) -> u64 {
    if index < 2 * PER_GROUP {
        return index;
    }
    let dropped = (index >> BITS) - 1;
    let base = 1 << (dropped + u64::from(BITS));
    base + (index % PER_GROUP) * (1 << dropped) + (1 << (dropped - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_named_as_fio_names_them() {
        // Names that fio 3.33 printed, with a value that belongs there.
        for (ns, name) in [(127, 127), (190, 191), (501, 502), (621, 620), (1_000, 1_004)] {
            assert_eq!(middle(index(ns)), name, "{ns}");
        }
        assert_eq!(middle(index(4_062_252)), 4_046_848);
    }

    #[test]
    fn what_exceeds_fios_range_lands_in_its_last_bucket() {
        assert_eq!(index(u64::MAX), BUCKETS - 1);
        assert_eq!(middle(index(1 << 40)), middle(BUCKETS - 1));
    }

    #[test]
    fn a_bucket_is_within_a_hundredth_of_what_it_holds() {
        for ns in (0..34).flat_map(|bit| [1u64 << bit, (1 << bit) + (1 << bit) / 3]) {
            let off = middle(index(ns)).abs_diff(ns);
            assert!(off as f64 <= 0.008 * ns as f64, "{ns}: {off}");
        }
    }

    #[test]
    fn no_latency_is_lost() {
        let mut histogram = LatencyHistogram::new();
        (1..5_000u64).for_each(|i| histogram.record(i * i * 97));
        assert_eq!(of(&histogram).values().sum::<u64>(), histogram.count());
    }
}
