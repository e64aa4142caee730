//! How latencies are spread, coarse enough to be drawn.

use iotax_record::LatencyHistogram;
use serde::Serialize;

/// Bins per doubling of the latency.
const BINS_PER_OCTAVE: f64 = 4.0;

/// How many I/Os, or syncs, took how long.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct LatencySpread {
    /// The first bin: bin `i` begins at [`LatencySpread::edge_ns`] of `i`.
    pub first: u32,
    /// I/Os in each bin from there on; neither the first nor the last is 0.
    pub counts: Vec<u64>,
}

impl LatencySpread {
    /// `None` of an empty one.
    pub(crate) fn of(histogram: &LatencyHistogram) -> Option<Self> {
        let mut spread: Option<Self> = None;
        for (latency_ns, count) in histogram.buckets() {
            let bin = bin(latency_ns);
            let spread = spread.get_or_insert(Self { first: bin, counts: Vec::new() });
            let at = (bin - spread.first) as usize;
            if spread.counts.len() <= at {
                spread.counts.resize(at + 1, 0);
            }
            spread.counts[at] += count;
        }
        spread
    }

    /// Where a bin begins, in nanoseconds: a quarter of an octave above the one before.
    pub fn edge_ns(bin: u32) -> f64 {
        (f64::from(bin) / BINS_PER_OCTAVE).exp2()
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 256")]
fn bin(latency_ns: u64) -> u32 {
    ((latency_ns.max(1) as f64).log2() * BINS_PER_OCTAVE).floor() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_latency_lies_between_the_edges_of_its_bin() {
        let mut histogram = LatencyHistogram::new();
        assert_eq!(LatencySpread::of(&histogram), None);
        let latencies: [u64; 5] = [1, 999, 100_000, 118_000, 3_000_000_000];
        for latency_ns in latencies {
            histogram.record_many(latency_ns, 3);
        }
        let spread = LatencySpread::of(&histogram).unwrap();
        assert_eq!(spread.counts.iter().sum::<u64>(), 15);
        for latency_ns in latencies {
            let bin = bin(latency_ns);
            assert_eq!(spread.counts[(bin - spread.first) as usize] % 3, 0);
            let range = LatencySpread::edge_ns(bin)..LatencySpread::edge_ns(bin + 1);
            assert!(range.contains(&(latency_ns as f64)), "{latency_ns} in {range:?}");
        }
        assert_ne!(spread.counts.last(), Some(&0));
    }
}
