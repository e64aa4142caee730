//! What is compared under a workload, and what forbids it.

use iotax_spec::Workload;
use iotax_stats::tail;
use iotax_stats::verdict::Verdict;

use crate::analysis::Metric;
use crate::facts::TrialFacts;

/// Below this share of the offered rate the latencies are those of a growing queue.
pub(crate) const MIN_ACHIEVED: f64 = 0.99;

/// What is compared under this workload, the primary metric first.
///
/// In a closed loop the arms issue different numbers of I/Os, so their tails are not those of the
/// same load; throughput is what they share. At an offered rate it is the other way round.
pub(crate) fn metrics(workload: &Workload) -> Vec<Metric> {
    let mut metrics = if is_open_loop(workload) {
        vec![Metric::P99, Metric::Latency]
    } else {
        vec![Metric::Throughput]
    };
    if workload.index.is_some() {
        metrics.push(Metric::LoadTime);
    }
    metrics.push(Metric::CpuPerIo);
    metrics
}

/// Whether the primary job runs at an offered rate.
pub(crate) fn is_open_loop(workload: &Workload) -> bool {
    workload.primary_job().is_some_and(|job| job.pace.offered_iops().is_some())
}

/// The word that forbids a conclusion about response times, whatever the interval.
///
/// Each element of `blocks` holds the trials of one block, one per arm, always the same arms.
pub(crate) fn gate<'a, B: AsRef<[&'a TrialFacts]>>(
    metric: Metric,
    blocks: &[B],
) -> Option<Verdict> {
    let count = blocks.first().map_or(0, |block| block.as_ref().len());
    let arms = || (0..count).map(|arm| blocks.iter().map(move |block| block.as_ref()[arm]));
    let is_response = matches!(metric, Metric::P99 | Metric::Latency);
    if is_response && arms().any(|trials| achieved(trials).is_some_and(|a| a < MIN_ACHIEVED)) {
        return Some(Verdict::Overloaded);
    }
    let too_few = metric == Metric::P99 && arms().any(|trials| !has_p99(trials));
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

/// Whether these trials' p99s have, on average, enough I/Os behind them.
pub(crate) fn has_p99<'a>(trials: impl Iterator<Item = &'a TrialFacts>) -> bool {
    tail::enough_samples(ios_per_trial(trials), 0.99)
}

/// Mean number of I/Os of the primary job in a trial.
pub(crate) fn ios_per_trial<'a>(trials: impl Iterator<Item = &'a TrialFacts>) -> u64 {
    let (mut trials_seen, mut ios) = (0, 0);
    for job in trials.filter_map(TrialFacts::primary) {
        trials_seen += 1;
        ios += job.latency_ios;
    }
    ios.checked_div(trials_seen).unwrap_or(0)
}
