//! How well single trials bear a block difference, however well blocks agree.
//!
//! Few blocks may agree by chance, and then their spread says nothing. What the trials are made of
//! says how well they can be known at best: a rate is a count, which the ends of the window round;
//! a percentile is a bucket of a histogram; and the mean of a few seconds is no surer than these
//! seconds.

use std::collections::BTreeSet;

use iotax_stats::dependence::pooled_long_run_variance;

use crate::facts::{JobFacts, TrialFacts};
use crate::metrics::{Metric, Trait};

/// Blocks from which on their own spread tells how well they agree.
const ENOUGH: usize = 8;

/// Seconds that a trial must have for their spread to tell something.
const MIN_SECONDS: usize = 3;

/// Relative width of a histogram's buckets: three significant digits.
const BUCKET: f64 = 1e-3;

/// Standard deviation that the difference of one of these blocks, baseline and arm, has at least,
/// in logarithms.
pub(crate) fn of(metric: Metric, pairs: &[[&TrialFacts; 2]]) -> f64 {
    if pairs.is_empty() {
        return 0.0;
    }
    let sides = [0, 1].map(|side| {
        let trials: Vec<&TrialFacts> = pairs.iter().map(|pair| pair[side]).collect();
        let rounded =
            trials.iter().filter_map(|trial| Some(rounded(metric, trial.primary()?, pairs.len())));
        let is_told_by_seconds = pairs.len() < ENOUGH && metric.has(Trait::AddsUp);
        let seconds = || trials.iter().map(|trial| trial.per_second_ios.as_slice());
        let of_seconds = if is_told_by_seconds { variance_of_means(seconds()) } else { 0.0 };
        of_seconds.max(rounded.sum::<f64>() / trials.len() as f64)
    });
    (sides[0] + sides[1]).sqrt()
}

/// The same of a contrast of several arms in p50. As in a difference of two, the squares of its
/// weights add up to 2 at most.
pub(crate) fn of_contrast<'a>(metric: Metric, trials: impl Iterator<Item = &'a TrialFacts>) -> f64 {
    let trials: Vec<&TrialFacts> = trials.filter(|_| metric == Metric::P50).collect();
    let blocks = trials.iter().map(|trial| trial.block).collect::<BTreeSet<_>>().len();
    let variances =
        trials.iter().filter_map(|trial| Some(rounded(metric, trial.primary()?, blocks)));
    (2.0 * variances.sum::<f64>() / trials.len().max(1) as f64).sqrt()
}

/// Variance by rounding: of a count at both ends of the window, of a percentile to its bucket. The
/// variance of a median follows from how its operations spread; `blocks` is the number of blocks in
/// the comparison.
fn rounded(metric: Metric, job: &JobFacts, blocks: usize) -> f64 {
    if metric == Metric::P50 {
        return job.typical.map_or(0.0, |typical| typical.variance(blocks));
    }
    if metric.quantile().is_some() {
        return BUCKET * BUCKET / 12.0;
    }
    let count = metric.samples(job).max(job.ios);
    if count == 0 { 0.0 } else { (count as f64).powi(-2) / 6.0 }
}

/// Variance of a trial's mean by its seconds, as far as they depend on each other. What every trial
/// of the arm shows at the same second, as a burst at its start, is no noise.
fn variance_of_means<'a>(trials: impl Iterator<Item = &'a [u32]>) -> f64 {
    let relative = |seconds: &[u32]| {
        let ios = seconds.iter().map(|ios| f64::from(*ios));
        let mean = ios.clone().sum::<f64>() / seconds.len() as f64;
        let is_enough = seconds.len() >= MIN_SECONDS && mean > 0.0;
        is_enough.then(|| ios.map(|ios| ios / mean).collect::<Vec<f64>>())
    };
    let mut series: Vec<Vec<f64>> = trials.filter_map(relative).collect();
    let seconds = series.iter().map(Vec::len).min().unwrap_or(0);
    let count = series.len() as f64;
    if count < 2.0 {
        return 0.0;
    }
    for second in 0..seconds {
        let usual = series.iter().map(|series| series[second]).sum::<f64>() / count;
        for series in &mut series {
            series[second] = (series[second] - usual) * (count / (count - 1.0)).sqrt();
        }
    }
    for series in &mut series {
        series.truncate(seconds);
    }
    pooled_long_run_variance(&series) / seconds.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typical::Typical;

    fn sd(trials: [&[u32]; 2]) -> f64 {
        variance_of_means(trials.into_iter().cycle().take(4)).sqrt()
    }

    #[test]
    fn few_trials_are_no_surer_than_their_seconds() {
        let sd = sd([&[900, 1100, 1000, 1100, 900], &[1100, 900, 1000, 900, 1100]]);
        assert!((0.04..0.1).contains(&sd), "{sd}");
    }

    #[test]
    fn a_burst_at_the_start_of_every_trial_is_no_noise() {
        assert!(sd([&[2000, 1000, 1000, 1000, 1000]; 2]) < 1e-9);
        assert_eq!(sd([&[1000, 2000]; 2]), 0.0, "two seconds tell nothing");
        assert_eq!(sd([&[], &[0, 0, 0]]), 0.0);
    }

    #[test]
    fn a_count_is_known_to_its_ends_and_a_percentile_to_its_bucket() {
        let job = JobFacts { ios: 5000, ..JobFacts::default() };
        let rate = rounded(Metric::Throughput, &job, 4).sqrt();
        assert!((rate - 1.0 / 5000.0 / 6.0_f64.sqrt()).abs() < 1e-12, "{rate}");
        assert!((rounded(Metric::P99, &job, 4).sqrt() - 1e-3 / 12.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(rounded(Metric::Throughput, &JobFacts::default(), 4), 0.0);
    }

    #[test]
    fn more_blocks_do_not_tell_where_in_its_bucket_a_median_is() {
        let typical = Typical { ns: 1e5, sampling: 1e-6, blur: 1e-3 };
        let job = JobFacts { typical: Some(typical), ..JobFacts::default() };
        let error_of_mean =
            |blocks: usize| (rounded(Metric::P50, &job, blocks) / blocks as f64).sqrt();
        assert!((error_of_mean(4) / error_of_mean(400) - 1.0).abs() < 1e-5);
        assert!((error_of_mean(400) - 1e-3 / 12.0_f64.sqrt()).abs() < 1e-6);
    }
}
