//! Latency histograms: `HdrHistogram` with three significant digits, 1 ns to one hour.

mod header;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer as V2Reader, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use self::header::{DIGITS, MAX_NS};

/// Latencies in nanoseconds. On disk: `HdrHistogram` V2, deflated, base64; empty text if empty.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyHistogram {
    counts: Histogram<u64>,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl LatencyHistogram {
    /// An empty histogram. Allocates all its memory here, and none when recording.
    pub fn new() -> Self {
        let counts = Histogram::new_with_bounds(1, MAX_NS, DIGITS)
            .expect("constant bounds are valid for HdrHistogram");
        Self { counts }
    }

    /// An empty histogram that takes almost no memory until something is merged into it. A reader
    /// of ten thousand trials needs it for directions that a job did not use.
    pub fn empty() -> Self {
        let mut counts = Histogram::new_with_bounds(1, 2, DIGITS)
            .expect("constant bounds are valid for HdrHistogram");
        counts.auto(true);
        Self { counts }
    }

    /// Counts one latency. Allocation-free after [`LatencyHistogram::new`]; out-of-range values are
    /// clamped.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        // Never fails: MAX_NS is within the bounds of `new`, and a histogram from `empty` grows.
        let _ = self.counts.record(latency_ns.min(MAX_NS));
    }

    /// Counts `count` latencies of the same length.
    pub fn record_many(&mut self, latency_ns: u64, count: u64) {
        // Never fails, as above.
        let _ = self.counts.record_n(latency_ns.min(MAX_NS), count);
    }

    /// Adds all of `other`'s counts.
    pub fn merge(&mut self, other: &Self) {
        if other.counts.is_empty() {
            return;
        }
        // Only histograms of equal size are added bucket by bucket; others are added value by
        // value, which would dominate the time to read ten thousand trials.
        if self.counts.is_empty() && self.counts.distinct_values() < other.counts.distinct_values()
        {
            self.counts.clone_from(&other.counts);
            return;
        }
        self.counts.add(&other.counts).expect("it grows, or no value exceeds one hour");
    }

    /// Forgets everything, keeps the memory.
    pub fn reset(&mut self) {
        self.counts.reset();
    }

    /// Number of latencies.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// Latency at quantile `q` in 0..=1, in nanoseconds; 0 if empty.
    pub fn quantile_ns(&self, q: f64) -> u64 {
        self.counts.value_at_quantile(q)
    }

    /// Mean in nanoseconds; 0 if empty.
    pub fn mean_ns(&self) -> f64 {
        self.counts.mean()
    }

    /// Standard deviation in nanoseconds.
    pub fn stdev_ns(&self) -> f64 {
        self.counts.stdev()
    }

    /// Smallest latency in nanoseconds; 0 if empty.
    pub fn min_ns(&self) -> u64 {
        if self.counts.is_empty() { 0 } else { self.counts.min() }
    }

    /// Largest latency in nanoseconds; 0 if empty.
    pub fn max_ns(&self) -> u64 {
        self.counts.max()
    }

    /// Start of the bucket of a latency and of the next one, in nanoseconds.
    pub fn bucket(&self, latency_ns: u64) -> [u64; 2] {
        [self.counts.lowest_equivalent(latency_ns), self.counts.next_non_equivalent(latency_ns)]
    }

    /// Non-empty buckets in ascending order: (highest equivalent value in ns, count).
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts
            .iter_recorded()
            .map(|bucket| (bucket.value_iterated_to(), bucket.count_since_last_iteration()))
    }
}

impl Serialize for LatencyHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.counts.is_empty() {
            return serializer.serialize_str("");
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.counts, &mut bytes)
            .map_err(ser::Error::custom)?;
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Ok(Self::empty());
        }
        let bytes = STANDARD.decode(text).map_err(de::Error::custom)?;
        header::check(&bytes).map_err(de::Error::custom)?;
        let mut counts: Histogram<u64> =
            V2Reader::new().deserialize(&mut bytes.as_slice()).map_err(de::Error::custom)?;
        counts.auto(true);
        Ok(Self { counts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use hdrhistogram::serialization::V2Serializer;
    use proptest::prelude::*;
    use std::io::Write as _;

    #[test]
    fn an_empty_histogram_has_zeros_everywhere() {
        let empty = LatencyHistogram::new();
        assert_eq!((empty.count(), empty.min_ns(), empty.max_ns()), (0, 0, 0));
        assert_eq!(empty.quantile_ns(0.99), 0);
    }

    #[test]
    fn every_kind_of_empty_histogram_counts_what_it_is_told() {
        for mut h in
            [LatencyHistogram::new(), LatencyHistogram::empty(), LatencyHistogram::default()]
        {
            h.record(5_000_000);
            assert!((4_990_000..5_010_000).contains(&h.quantile_ns(0.5)), "{}", h.quantile_ns(0.5));
        }
    }

    #[test]
    fn latencies_over_an_hour_are_counted_as_an_hour() {
        let mut h = LatencyHistogram::new();
        h.record(u64::MAX);
        assert_eq!(h.count(), 1);
        assert!(h.max_ns() >= MAX_NS);
    }

    #[test]
    fn each_latency_is_in_its_bucket_and_buckets_meet() {
        for h in [LatencyHistogram::new(), LatencyHistogram::empty()] {
            for ns in [0, 1, 2047, 2048, 100_000, 4_000_000_007] {
                let [begin, end] = h.bucket(ns);
                assert!((begin..end).contains(&ns), "{ns} in {begin}..{end}");
                assert!((end - begin) as f64 <= (ns as f64 * 1e-3).max(1.0));
                assert_eq!(h.bucket(end)[0], end);
            }
        }
    }

    /// The header as the library writes it, with one number changed.
    fn with_header(at: usize, number: &[u8]) -> String {
        let mut counts = LatencyHistogram::new();
        counts.record(1000);
        let mut plain = Vec::new();
        V2Serializer::new().serialize(&counts.counts, &mut plain).unwrap();
        plain[at..at + number.len()].copy_from_slice(number);
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&plain).unwrap();
        let packed = packed.finish().unwrap();
        let mut bytes = 0x1c84_9314_u32.to_be_bytes().to_vec();
        bytes.extend(u32::try_from(packed.len()).unwrap().to_be_bytes());
        bytes.extend(packed);
        STANDARD.encode(bytes)
    }

    fn read(text: &str) -> Result<LatencyHistogram, String> {
        let text = serde_json::to_string(text).unwrap();
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    /// Each of them made the library take gigabytes.
    #[test]
    fn no_memory_is_taken_for_what_a_header_claims() {
        assert_eq!(read(&with_header(12, &3_u32.to_be_bytes())).unwrap().count(), 1);
        let refused = |at, number: &[u8]| read(&with_header(at, number)).unwrap_err();
        insta::assert_snapshot!(refused(4, &u32::MAX.to_be_bytes()), @"the number of bytes of a histogram is 4294967295; it must be from 0 to 322560");
        insta::assert_snapshot!(refused(12, &5_u32.to_be_bytes()), @"the number of digits of a histogram is 5; it must be from 3 to 3");
        insta::assert_snapshot!(refused(16, &0_u64.to_be_bytes()), @"the lowest value of a histogram is 0; it must be from 1 to 1");
        insta::assert_snapshot!(refused(24, &u64::MAX.to_be_bytes()), @"the highest value of a histogram is 18446744073709551615; it must be from 2 to 8796093022208");
        insta::assert_snapshot!(read("HISTFAAA").unwrap_err(), @"cannot decompress a histogram: incomplete deflate stream");
    }

    #[test]
    fn what_was_grown_to_the_longest_is_read_back() {
        let mut grown = LatencyHistogram::empty();
        grown.record_many(MAX_NS, i64::MAX.unsigned_abs());
        let text = serde_json::to_string(&grown).unwrap();
        assert_eq!(
            serde_json::from_str::<LatencyHistogram>(&text).unwrap().max_ns(),
            grown.max_ns()
        );
    }

    proptest! {
        #[test]
        fn merging_counts_everything_once_whatever_the_sizes(
            parts in prop::collection::vec(prop::collection::vec(1u64..MAX_NS, 0..20), 1..5), full: bool,
        ) {
            let mut merged = if full { LatencyHistogram::new() } else { LatencyHistogram::empty() };
            let mut at_once = LatencyHistogram::new();
            for part in &parts {
                let mut one = LatencyHistogram::new();
                for v in part { one.record(*v); at_once.record(*v); }
                merged.merge(&one);
            }
            prop_assert_eq!(merged.buckets().collect::<Vec<_>>(), at_once.buckets().collect::<Vec<_>>());
            prop_assert_eq!((merged.count(), merged.max_ns()), (at_once.count(), at_once.max_ns()));
        }

        #[test]
        fn a_histogram_survives_its_own_file_format(values in prop::collection::vec(1u64..MAX_NS, 0..200)) {
            let mut before = LatencyHistogram::new();
            for v in &values { before.record(*v); }
            let text = serde_json::to_string(&before).unwrap();
            let after: LatencyHistogram = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(before.buckets().collect::<Vec<_>>(), after.buckets().collect::<Vec<_>>());
            prop_assert_eq!(before.count(), after.count());
        }

        #[test]
        fn quantiles_are_within_a_thousandth_of_the_sorted_sample(
            mut values in prop::collection::vec(1u64..10_000_000_000, 1..300), q in 0.0f64..=1.0
        ) {
            let mut h = LatencyHistogram::new();
            for v in &values { h.record(*v); }
            values.sort_unstable();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let (exact, got) = (values[rank - 1] as f64, h.quantile_ns(q) as f64);
            prop_assert!((got - exact).abs() <= exact * 1e-3 + 1.0, "exact {} got {}", exact, got);
        }
    }
}
