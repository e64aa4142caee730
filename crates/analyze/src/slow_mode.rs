//! Finds a second, slow mode in a distribution of latencies.
//!
//! A heavy tail is no mode: its density falls all the way on a logarithmic scale, so that each
//! octave has more I/Os than all beyond it together, or nearly so (a Pareto tail with exponent 1
//! has as many). A mode has an octave before it with next to none. Sixteen I/Os beyond an octave
//! with at most one come from such a tail less than once in a thousand distributions.

use iotax_record::LatencyHistogram;

use crate::analysis::SlowMode;

/// Bins for each doubling of the latency.
const BINS_PER_OCTAVE: usize = 8;
/// Latencies up to an hour, in nanoseconds, are below 2 to this.
const OCTAVES: usize = 44;
/// Fewer I/Os make no mode.
const MIN_IOS: u64 = 16;
/// I/Os in the octave before it, as a share of its own.
const GAP: f64 = 0.1;
/// A smaller share of the time is not worth a word.
const SHARE_OF_TIME: f64 = 0.25;
/// Medians of both modes are this far apart.
const APART: f64 = 4.0;

/// The slow mode of a job's reads or writes, whichever has the larger share of the time of all of
/// them; `None` if neither has one.
pub(crate) fn of_directions(directions: &[LatencyHistogram; 2]) -> Option<SlowMode> {
    let all: f64 = directions.iter().map(sum_ns).sum();
    let modes = directions.iter().enumerate().filter_map(|(direction, latency)| {
        let mode = of(latency, all)?;
        Some(SlowMode { writes: direction == 1, ..mode })
    });
    modes.max_by(|a, b| a.share_of_time.total_cmp(&b.share_of_time))
}

/// The slow mode of one direction, whose I/Os took part of the time `all`.
fn of(latency: &LatencyHistogram, all: f64) -> Option<SlowMode> {
    let mut bins = [(0_u64, 0.0_f64); OCTAVES * BINS_PER_OCTAVE];
    for (ns, count) in latency.buckets() {
        let bin = &mut bins[bin(ns)];
        *bin = (bin.0 + count, bin.1 + ns as f64 * count as f64);
    }
    let ios = latency.count();
    let count = |bins: &[(u64, f64)]| bins.iter().map(|bin| bin.0).sum::<u64>();
    // The lowest place of the gap has the most beyond it.
    (0..bins.len() - BINS_PER_OCTAVE).find_map(|at| {
        let (fast, rest) = bins.split_at(at);
        let (gap, slow) = rest.split_at(BINS_PER_OCTAVE);
        let (fast, gap, slow_ios) = (count(fast), count(gap), count(slow));
        let time = slow.iter().map(|bin| bin.1).sum::<f64>() / all;
        let is_mode = slow_ios >= MIN_IOS
            && slow_ios <= fast
            && gap as f64 <= GAP * slow_ios as f64
            && time >= SHARE_OF_TIME;
        is_mode.then_some(())?;
        let share = slow_ios as f64 / ios as f64;
        let median_ns = latency.quantile_ns(1.0 - share / 2.0);
        let others_ns = latency.quantile_ns((1.0 - share) / 2.0);
        (median_ns as f64 >= APART * others_ns as f64).then(|| SlowMode {
            writes: false,
            ios: slow_ios,
            share_of_ios: share,
            share_of_time: time.min(1.0),
            median_ns,
            others_ns,
            max_ns: latency.max_ns(),
        })
    })
}

fn sum_ns(latency: &LatencyHistogram) -> f64 {
    latency.buckets().map(|(ns, count)| ns as f64 * count as f64).sum()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 352")]
fn bin(ns: u64) -> usize {
    let bin = ((ns.max(1) as f64).log2() * BINS_PER_OCTAVE as f64).floor() as usize;
    bin.min(OCTAVES * BINS_PER_OCTAVE - 1)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_distr::{Distribution, Exp, LogNormal, Pareto};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// So many latencies in microseconds.
    fn drawn(
        seed: u64,
        n: usize,
        mut draw: impl FnMut(&mut Xoshiro256PlusPlus) -> f64,
    ) -> LatencyHistogram {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut latency = LatencyHistogram::new();
        for _ in 0..n {
            latency.record(iotax_quantity::whole(1e3 * draw(&mut rng)));
        }
        latency
    }

    fn mode(reads: &LatencyHistogram) -> Option<SlowMode> {
        of_directions(&[reads.clone(), LatencyHistogram::empty()])
    }

    fn stalls(seed: u64, n: usize, share: f64, stall: impl Distribution<f64>) -> LatencyHistogram {
        let body = LogNormal::new(150_f64.ln(), 0.3).unwrap();
        drawn(seed, n, |rng| {
            if rng.random::<f64>() < share { stall.sample(rng) } else { body.sample(rng) }
        })
    }

    #[test]
    fn planted_stalls_are_found_with_their_share_of_the_time() {
        for (seed, share) in [(1, 0.02), (2, 0.005), (3, 0.1)] {
            let uniform = rand_distr::Uniform::new(15_000.0, 25_000.0).unwrap();
            let found = mode(&stalls(seed, 20_000, share, uniform)).unwrap();
            let expected = share * 20_000.0 / (share * 20_000.0 + (1.0 - share) * 157.0);
            assert!((found.share_of_ios / share - 1.0).abs() < 0.25, "{found:?}");
            assert!((found.share_of_time - expected).abs() < 0.05, "{found:?} {expected}");
            assert!((19e6..21e6).contains(&(found.median_ns as f64)), "{found:?}");
            assert!((140e3..160e3).contains(&(found.others_ns as f64)), "{found:?}");
        }
        // Of very different lengths.
        assert!(mode(&stalls(4, 20_000, 0.02, Exp::new(1.0 / 20_000.0).unwrap())).is_some());
    }

    #[test]
    fn tails_however_heavy_are_no_mode() {
        for seed in 0..40 {
            let n = [2_000, 20_000][usize::try_from(seed % 2).unwrap()];
            for sigma in [0.5, 1.0, 1.5, 2.0] {
                let tail = LogNormal::new(5.0, sigma).unwrap();
                assert_eq!(mode(&drawn(seed, n, |rng| tail.sample(rng))), None, "{seed} {sigma}");
            }
            for alpha in [0.9, 1.1, 1.5, 2.0] {
                let tail = Pareto::new(100.0, alpha).unwrap();
                assert_eq!(mode(&drawn(seed, n, |rng| tail.sample(rng))), None, "{seed} {alpha}");
            }
            let tail = Exp::new(0.005).unwrap();
            assert_eq!(mode(&drawn(seed, n, |rng| 50.0 + tail.sample(rng))), None, "{seed}");
        }
    }

    #[test]
    fn what_is_rare_short_or_common_is_none() {
        let at = |ms: f64| rand_distr::Uniform::new(ms * 999.0, ms * 1001.0).unwrap();
        assert_eq!(mode(&stalls(1, 20_000, 0.0005, at(20.0))), None, "6 % of the time");
        assert_eq!(mode(&stalls(2, 2_000, 0.005, at(50.0))), None, "ten are too few to tell");
        assert_eq!(mode(&stalls(3, 20_000, 0.1, at(0.4))), None, "not far apart");
        assert_eq!(
            mode(&stalls(4, 20_000, 0.8, at(20.0))),
            None,
            "the slow ones are the usual ones"
        );
        assert_eq!(mode(&LatencyHistogram::empty()), None);
    }

    #[test]
    fn reads_and_writes_of_unlike_speed_are_no_modes() {
        let uniform = |ms: f64| rand_distr::Uniform::new(ms * 800.0, ms * 1200.0).unwrap();
        let latency = |seed, ms| drawn(seed, 10_000, |rng| uniform(ms).sample(rng));
        assert_eq!(of_directions(&[latency(1, 0.1), latency(2, 5.0)]), None);
        let both = [latency(3, 0.1), stalls(4, 10_000, 0.05, uniform(40.0))];
        let found = of_directions(&both).unwrap();
        assert!(found.writes, "{found:?}");
    }
}
