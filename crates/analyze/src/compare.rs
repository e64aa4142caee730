//! What forbids a comparison.

use iotax_stats::tail;
use iotax_stats::verdict::Verdict;

use crate::facts::TrialFacts;
use crate::metrics::{Metric, Trait};

/// Below this share of the offered rate the latencies are those of a growing queue.
pub(crate) const MIN_ACHIEVED: f64 = 0.99;

/// The word that forbids a conclusion about response times, whatever the interval.
///
/// Each element of `blocks` holds the trials of one block, one per arm, always the same arms.
pub(crate) fn gate<'a, B: AsRef<[&'a TrialFacts]>>(
    metric: Metric,
    blocks: &[B],
) -> Option<Verdict> {
    let count = blocks.first().map_or(0, |block| block.as_ref().len());
    let arms = || (0..count).map(|arm| blocks.iter().map(move |block| block.as_ref()[arm]));
    if metric.has(Trait::NeedsRate)
        && arms().any(|trials| achieved(trials).is_some_and(|a| a < MIN_ACHIEVED))
    {
        return Some(Verdict::Overloaded);
    }
    let too_few = arms().any(|trials| !has_tail(metric, trials));
    too_few.then_some(Verdict::InsufficientTailSamples)
}

/// Share of the offered I/Os of the primary job that were completed; `None` in a closed loop.
pub(crate) fn achieved<'a>(trials: impl Iterator<Item = &'a TrialFacts>) -> Option<f64> {
    let (mut offered, mut done) = (0, 0);
    for job in trials.filter_map(TrialFacts::primary) {
        offered += job.offered_ios?;
        // Short ones are among them.
        done += job.ios;
    }
    (offered > 0).then(|| done as f64 / offered as f64)
}

/// Whether these trials' figures, if they are quantiles, have on average enough I/Os behind them.
pub(crate) fn has_tail<'a>(metric: Metric, trials: impl Iterator<Item = &'a TrialFacts>) -> bool {
    metric.quantile().is_none_or(|q| tail::enough_samples(per_trial(trials, metric), q))
}

/// Mean number of I/Os, or of syncs, of the primary job in a trial: what `metric` is a quantile of.
pub(crate) fn per_trial<'a>(trials: impl Iterator<Item = &'a TrialFacts>, metric: Metric) -> u64 {
    let (mut trials_seen, mut samples) = (0, 0);
    for job in trials.filter_map(TrialFacts::primary) {
        trials_seen += 1;
        samples += metric.samples(job);
    }
    samples.checked_div(trials_seen).unwrap_or(0)
}
