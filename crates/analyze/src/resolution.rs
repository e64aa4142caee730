//! How well single trials bear a block difference, however well blocks agree.
//!
//! Few blocks may agree by chance, and then their spread says nothing. What the trials are made of says
//! how well they can be known at best: a rate is a count, which the ends of the window round; a
//! percentile is a bucket of a histogram; and the mean of a few seconds is no surer than these seconds.

use iotax_stats::dependence::pooled_long_run_variance;

use crate::facts::TrialFacts;
use crate::metrics::{Metric, Trait};

/// Blocks from which on their own spread tells how well they agree.
const ENOUGH: usize = 8;

/// Seconds that a trial must have for their spread to tell something.
const MIN_SECONDS: usize = 3;

/// Relative width of a histogram's buckets: three significant digits.
const BUCKET: f64 = 1e-3;

/// Standard deviation that the difference of one of these blocks, baseline and arm, has at least, in
/// logarithms.
pub(crate) fn of(metric: Metric, pairs: &[[&TrialFacts; 2]]) -> f64 {
    if pairs.is_empty() {
        return 0.0;
    }
    let sides = [0, 1].map(|side| {
        let trials: Vec<&TrialFacts> = pairs.iter().map(|pair| pair[side]).collect();
        let rounded = trials.iter().map(|trial| rounded(metric, trial)).sum::<f64>();
        let of_seconds =
            if pairs.len() < ENOUGH && metric.has(Trait::AddsUp) { seconds(&trials) } else { 0.0 };
        of_seconds.max(rounded / trials.len() as f64)
    });
    (sides[0] + sides[1]).sqrt()
}

/// Variance by rounding: of a count at both ends of the window, of a percentile to its bucket.
fn rounded(metric: Metric, trial: &TrialFacts) -> f64 {
    if metric.quantile().is_some() {
        return BUCKET * BUCKET / 12.0;
    }
    let count = trial.primary().map_or(0, |job| metric.samples(job).max(job.ios));
    if count == 0 { 0.0 } else { (count as f64).powi(-2) / 6.0 }
}

/// Variance of a trial's mean by its seconds, as far as they depend on each other.
fn seconds(trials: &[&TrialFacts]) -> f64 {
    let relative = |trial: &&TrialFacts| {
        // The last one may be a part of a second.
        let whole = (trial.window_ns / 1_000_000_000) as usize;
        let seconds = &trial.per_second_ios[..whole.min(trial.per_second_ios.len())];
        let ios = seconds.iter().map(|ios| f64::from(*ios));
        let mean = ios.clone().sum::<f64>() / seconds.len() as f64;
        let enough = seconds.len() >= MIN_SECONDS && mean > 0.0;
        enough.then(|| ios.map(|ios| ios / mean).collect::<Vec<f64>>())
    };
    let series: Vec<Vec<f64>> = trials.iter().filter_map(relative).collect();
    let seconds = series.iter().map(Vec::len).min().unwrap_or(MIN_SECONDS);
    pooled_long_run_variance(&series) / seconds as f64
}
