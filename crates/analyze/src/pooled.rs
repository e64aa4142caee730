//! Figures of several trials, from their totals: I/Os over time, summed latency over I/Os. Means of
//! the trials' own figures would not agree with each other: rate x latency would not be what is in
//! flight (Little's law), and a trial with few I/Os would weigh as much as one with many.

use crate::facts::{JobFacts, TrialFacts};
use crate::metrics::Metric;

/// One total over another; 0 where the other is.
pub(crate) fn ratio<T>(
    parts: impl Iterator<Item = T>,
    part: impl Fn(&T) -> f64,
    whole: impl Fn(&T) -> f64,
) -> f64 {
    let (sum, of) = parts.fold((0.0, 0.0), |(sum, of), one| (sum + part(&one), of + whole(&one)));
    if of > 0.0 { sum / of } else { 0.0 }
}

/// What the jobs counted in a second of the time for which they ran.
pub(crate) fn rate<'a>(
    jobs: impl Iterator<Item = &'a JobFacts>,
    counted: impl Fn(&JobFacts) -> f64,
) -> f64 {
    ratio(jobs, |job| counted(job) * 1e9, |job| job.active_ns as f64)
}

pub(crate) fn iops<'a>(jobs: impl Iterator<Item = &'a JobFacts>) -> f64 {
    rate(jobs, |job| job.ios as f64)
}

pub(crate) fn bytes_per_s<'a>(jobs: impl Iterator<Item = &'a JobFacts>) -> f64 {
    rate(jobs, |job| job.bytes() as f64)
}

/// Mean latency of an I/O, in nanoseconds.
pub(crate) fn latency_ns<'a>(jobs: impl Iterator<Item = &'a JobFacts>) -> f64 {
    ratio(jobs, |job| job.mean_latency_ns * job.latency_ios as f64, |job| job.latency_ios as f64)
}

/// Mean time of a sync, in nanoseconds.
pub(crate) fn sync_ns<'a>(jobs: impl Iterator<Item = &'a JobFacts>) -> f64 {
    ratio(jobs, |job| job.sync_sum_ns, |job| job.syncs as f64)
}

/// A metric that is a mean over what trials did, `weight` of it each.
pub(crate) fn mean(
    trials: &[&TrialFacts],
    metric: Metric,
    weight: impl Fn(&TrialFacts) -> f64,
) -> f64 {
    let known = trials.iter().filter_map(|trial| Some((metric.of(trial)?, weight(trial))));
    ratio(known, |(value, weight)| value * weight, |(_, weight)| *weight)
}

/// The jobs whose throughput decides.
pub(crate) fn primary<'a>(trials: &'a [&TrialFacts]) -> impl Iterator<Item = &'a JobFacts> {
    trials.iter().filter_map(|trial| trial.primary())
}

/// One job of each trial that has it.
pub(crate) fn job<'a>(
    trials: &'a [&TrialFacts],
    index: usize,
) -> impl Iterator<Item = &'a JobFacts> {
    trials.iter().filter_map(move |trial| trial.jobs.iter().find(|job| job.job == index))
}
