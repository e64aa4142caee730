//! What forbids a comparison.

use iotax_stats::tail;
use iotax_stats::verdict::Verdict;

use crate::facts::TrialFacts;
use crate::metrics::{Metric, Trait};

/// Below this share of the offered rate the latencies are those of a growing queue.
const MIN_ACHIEVED: f64 = 0.99;

/// The word that forbids a conclusion about response times, whatever the interval.
///
/// Each element of `blocks` holds the trials of one block, one per arm, always the same arms.
pub(crate) fn gate<'a, B: AsRef<[&'a TrialFacts]>>(
    metric: Metric,
    blocks: &[B],
) -> Option<Verdict> {
    let count = blocks.first().map_or(0, |block| block.as_ref().len());
    let arms = || (0..count).map(|arm| blocks.iter().map(move |block| block.as_ref()[arm]));
    if metric.has(Trait::NeedsRate) && arms().any(falls_behind) {
        return Some(Verdict::Overloaded);
    }
    let too_few = arms().any(|trials| !has_tail(metric, trials));
    too_few.then_some(Verdict::InsufficientTailSamples)
}

/// Whether the primary job fell behind the offered rate; never in a closed loop.
fn falls_behind<'a>(trials: impl Iterator<Item = &'a TrialFacts>) -> bool {
    let (mut offered, mut done, mut windows) = (0, 0, 0);
    for job in trials.filter_map(TrialFacts::primary) {
        let Some(of_job) = job.offered_ios else { return false };
        offered += of_job;
        // Short ones are among them.
        done += job.ios;
        windows += 1;
    }
    !keeps_up(offered, done, windows)
}

/// Whether `done` of the I/Os `offered` in some windows are as many as a job completes whose queue
/// does not grow. One that is due as a window ends completes after it.
pub(crate) fn keeps_up(offered: u64, done: u64, windows: u64) -> bool {
    let missing = offered.saturating_sub(done.saturating_add(windows));
    missing as f64 <= (1.0 - MIN_ACHIEVED) * offered as f64
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
