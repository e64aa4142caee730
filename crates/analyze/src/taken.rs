//! The figures of a trial that rules are about.

use std::borrow::Cow;

use iotax_experiment::Spec;
use iotax_experiment::rule::{Condition, Figure, Statistic, TimeKind};
use iotax_record::{JobRecord, LatencyHistogram, LoadRecord};

use crate::described;

/// A figure of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    /// In nanoseconds, I/Os per second or bytes per second.
    pub value: f64,
    /// Operations behind it.
    pub operations: u64,
    /// How many of them are under way at once: a stall delays all of these.
    pub in_flight: u64,
    /// Operations that took longer than the limit of the rule, where each was timed.
    pub beyond: Option<u64>,
}

/// One for each of [`Spec::rules`]; `None` where the trial has no such figure, or the rule is about
/// no figure.
pub(crate) fn taken(load: &LoadRecord, spec: &Spec) -> Vec<Option<Taken>> {
    let of = |condition: &Condition| match condition {
        Condition::SlowerBy(_) | Condition::BelowDocumented(_) => None,
        Condition::Figure { job, figure, limit, .. } => {
            let name = job.as_ref().unwrap_or(&spec.workload().primary);
            figure_of(load, name, figure, *limit, spec.counts_from_submission())
        }
    };
    spec.rules().map(|rule| of(&rule.condition)).collect()
}

fn figure_of(
    load: &LoadRecord,
    job: &str,
    figure: &Figure,
    limit: f64,
    from_submission: bool,
) -> Option<Taken> {
    if let Figure::Time(TimeKind::Operation(name), statistic) = figure {
        let done = load.operations.iter().find(|done| done.name == *name)?;
        return time(&done.latency, *statistic, limit, 1);
    }
    let job = load.jobs.iter().find(|record| record.name == job)?;
    let ios = job.ios();
    let rate = |count: u64| {
        let value = count as f64 * 1e9 / job.active_ns.max(1) as f64;
        (count > 0).then_some(Taken { value, operations: ios, in_flight: 1, beyond: None })
    };
    match figure {
        Figure::Iops => rate(ios),
        Figure::Bandwidth => rate(job.bytes()),
        Figure::Time(kind, statistic) => {
            let threads = u64::from(job.threads.max(1));
            let in_flight = match kind {
                // A thread waits for each flush.
                TimeKind::Sync => threads,
                _ => threads * u64::from(job.queue_depth.max(1)),
            };
            let latencies = latencies(job, kind, from_submission)?;
            let taken = time(&latencies, *statistic, limit, in_flight);
            // At an offered rate, a stall delays as many as are due meanwhile.
            let is_closed = job.offered_ios.is_none() || from_submission;
            let taken =
                taken.map(|taken| Taken { beyond: taken.beyond.filter(|_| is_closed), ..taken });
            taken.or_else(|| {
                let (value, operations) = described::time(job, kind, *statistic)?;
                let taken = Taken { value, operations, in_flight, beyond: None };
                (operations > 0 && value > 0.0).then_some(taken)
            })
        }
    }
}

pub(crate) fn latencies<'a>(
    job: &'a JobRecord,
    kind: &TimeKind,
    from_submission: bool,
) -> Option<Cow<'a, LatencyHistogram>> {
    Some(match kind {
        TimeKind::Latency => job.latency_from(from_submission),
        TimeKind::Read => Cow::Borrowed(job.read.latency_from(from_submission)),
        TimeKind::Write => Cow::Borrowed(job.write.latency_from(from_submission)),
        TimeKind::Trim => Cow::Borrowed(job.trim.as_ref()?.latency_from(from_submission)),
        TimeKind::Sync => Cow::Borrowed(&job.sync),
        TimeKind::Operation(_) => return None,
    })
}

fn time(
    latencies: &LatencyHistogram,
    statistic: Statistic,
    limit: f64,
    in_flight: u64,
) -> Option<Taken> {
    let operations = latencies.count();
    let value = match statistic {
        Statistic::Mean => latencies.mean_ns(),
        Statistic::Quantile(quantile) => latencies.quantile_ns(quantile) as f64,
    };
    let beyond = latencies.buckets().filter(|(latency_ns, _)| *latency_ns as f64 > limit);
    let beyond = Some(beyond.map(|(_, count)| count).sum());
    (operations > 0 && value > 0.0).then_some(Taken { value, operations, in_flight, beyond })
}
