//! The median of a trial: how long its typical operation takes, and how well one trial tells that.
//!
//! A histogram tells a latency to its bucket, and the median of a trial would jump from bucket to
//! bucket. So it is placed within its bucket by its rank. That is the better, the fewer of all
//! operations are in that bucket; where most are, nothing tells where in it they are, in all trials
//! alike.

use iotax_experiment::rule::{Statistic, TimeKind};
use iotax_record::{JobRecord, LatencyHistogram};

use crate::described;
use crate::taken::latencies;

/// Relative width of a bucket where another tool gave the median alone: fio's buckets are 64 for
/// each doubling.
const WIDTH_OF_FIO: f64 = 1.0 / 64.0;

/// The median of one trial.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Typical {
    pub ns: f64,
    /// Its standard deviation as a share of it, by how few operations it is the median of.
    pub sampling: f64,
    /// The part of it by which its bucket may hide where it is. Blocks do not average it out.
    pub blur: f64,
}

impl Typical {
    /// Of the operations of one kind; `None` without any. `by_fio`: its histograms are made of
    /// fio's.
    pub(crate) fn of(
        job: &JobRecord,
        kind: &TimeKind,
        from_submission: bool,
        by_fio: bool,
    ) -> Option<Self> {
        let latencies = latencies(job, kind, from_submission)?;
        if latencies.count() > 0 {
            return if by_fio {
                Self::in_buckets(&latencies, bucket_of_fio)
            } else {
                Self::in_buckets(&latencies, |ns| latencies.bucket(ns))
            };
        }
        let (ns, operations) = described::time(job, kind, Statistic::Quantile(0.5))?;
        let blur = if by_fio { WIDTH_OF_FIO } else { 0.0 };
        (operations > 0 && ns > 0.0).then_some(Self { ns, sampling: 0.0, blur })
    }

    /// `bucket`: where the bucket of a latency begins and ends. The quantiles at one standard
    /// deviation of the rank of a median, on either side of it, are one standard deviation of the
    /// median apart.
    fn in_buckets(latencies: &LatencyHistogram, bucket: impl Fn(u64) -> [u64; 2]) -> Option<Self> {
        let operations = latencies.count() as f64;
        let reach = 0.5 / operations.sqrt();
        let ranks = [0.5 - reach, 0.5, 0.5 + reach].map(|quantile| quantile * operations);
        let mut found = [0.0; 3];
        let (mut at, mut below, mut blur_ns) = (0, 0.0, 0.0);
        for (ns, count) in latencies.buckets() {
            let ([begin, end], count) = (bucket(ns).map(|edge| edge as f64), count as f64);
            while at < ranks.len() && ranks[at] <= below + count {
                found[at] = begin + (end - begin) * (ranks[at] - below) / count;
                if at == 1 {
                    blur_ns = (end - begin) * count / operations;
                }
                at += 1;
            }
            below += count;
        }
        let [low, ns, high] = found;
        let sampling = (high - low) / (2.0 * ns);
        (at == ranks.len()).then_some(Self { ns, sampling, blur: blur_ns / ns })
    }

    /// Variance of its logarithm in one of `blocks` blocks.
    pub(crate) fn variance(&self, blocks: usize) -> f64 {
        self.sampling * self.sampling + self.blur_variance() * blocks as f64
    }

    /// The part of it that no number of trials makes smaller: that of a place anywhere in the blur.
    pub(crate) fn blur_variance(&self) -> f64 {
        self.blur * self.blur / 12.0
    }
}

/// Where the bucket of fio's own histogram begins that a latency is in, and where it ends.
fn bucket_of_fio(ns: u64) -> [u64; 2] {
    let width = ns.max(1).ilog2().saturating_sub(6);
    let begin = ns >> width << width;
    [begin, begin + (1 << width)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(latencies: impl IntoIterator<Item = u64>, by_fio: bool) -> Typical {
        let mut job = JobRecord::default();
        for ns in latencies {
            job.read.service.record(ns);
        }
        Typical::of(&job, &TimeKind::Read, false, by_fio).unwrap()
    }

    #[test]
    fn a_median_moves_less_than_its_bucket() {
        // A tenth of a bucket at a time: 65 µs begin one of 64 ns.
        let medians =
            (0..20_u64).map(|shift| of((60_000..70_000).map(|ns| ns + 6 * shift), false).ns);
        let steps: Vec<f64> = medians.clone().zip(medians.skip(1)).map(|(a, b)| b - a).collect();
        assert!(steps.iter().all(|step| (step - 6.0).abs() < 0.5), "{steps:?}");
    }

    #[test]
    fn where_most_are_in_one_bucket_nothing_tells_where_they_are() {
        let one = of([100_000; 900], false);
        assert!((one.ns - 100_000.0).abs() < 64.0 && one.sampling < 1e-4, "{one:?}");
        assert!((3e-4..1e-3).contains(&one.blur), "{one:?}");
        let spread = of((50_000..150_000).step_by(7), false);
        assert!(spread.blur < one.blur / 100.0, "{spread:?}");
        let more = one.variance(4) - one.variance(3);
        assert!((more / one.blur_variance() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn few_operations_tell_little_of_a_median() {
        // Of a uniform distribution the median of n has the standard deviation (b - a) / (2
        // sqrt(n)).
        let sampling = of((0..100).map(|i| 100_000 + 1_000 * i), false).sampling;
        assert!((sampling - 100e3 / (2.0 * 10.0) / 150e3).abs() < 4e-3, "{sampling}");
        let one = of([5_000_000], false);
        assert!((one.ns - 5e6).abs() < 5e3, "{one:?}");
    }

    #[test]
    fn the_buckets_of_fio_are_wide() {
        // From fio's stat.h, and a middle that fio 3.33 printed.
        assert_eq!(
            [100, 129, 255, 44_288].map(bucket_of_fio),
            [[100, 101], [128, 130], [254, 256], [44_032, 44_544]]
        );
        let found = of([44_288; 1000], true);
        assert!((found.ns - 44_288.0).abs() < 1.0 && (found.blur - 512.0 / 44_288.0).abs() < 1e-6);
    }

    #[test]
    fn without_operations_there_is_none() {
        let job = JobRecord::default();
        for kind in [TimeKind::Read, TimeKind::Sync, TimeKind::Trim, TimeKind::Latency] {
            assert_eq!(Typical::of(&job, &kind, true, false), None);
        }
    }
}
