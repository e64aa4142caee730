//! Arms and trials as figures to show; descriptive, no conclusion rests on them.

use iotax_experiment::{Job, Workload};
use iotax_record::{
    ExperimentHead, LatencyHistogram, OperationRecord, ReplayRecord, SystemCounters,
};
use iotax_stats::sample::{count, mean, variance};

use crate::analysis::{
    ArmSummary, FoundDepth, JobSummary, OperationSummary, QuantilePoint, ReplaySummary,
    SyncSummary, TrialOutcome, TrialPoint, Work, latency_at,
};
use crate::counters::{self, IntervalBudget};
use crate::facts::{JobFacts, TrialFacts};
use crate::metrics::Metric;
use crate::pool::{ArmPool, Described};
use crate::{network, pooled, slow_mode, targets};

/// Quantiles of the latency curves.
const LADDER: [f64; 24] = [
    0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99,
    0.995, 0.998, 0.999, 0.9995, 0.9999, 0.99995, 0.99999,
];
/// I/Os that must lie beyond a quantile for the curve to go that far.
const MIN_BEYOND: f64 = 10.0;

/// One summary per arm of the spec.
pub(crate) fn arms(
    experiment: &ExperimentHead,
    trials: &[&TrialFacts],
    pools: &[ArmPool],
) -> Vec<ArmSummary> {
    let spec = &experiment.spec;
    let mut by_arm: Vec<Vec<&TrialFacts>> = vec![Vec::new(); spec.arms.len()];
    for trial in trials {
        if let Some(arm) = trial.arm {
            by_arm[arm].push(trial);
        }
    }
    let site = |arm: usize| experiment.sites.get(arm).map(|site| site.target.clone());
    (spec.arms.iter().enumerate().zip(pools).zip(&by_arm))
        .map(|(((i, arm), pool), trials)| {
            let usable = shown(trials);
            let primary =
                spec.workload().jobs.iter().position(|j| j.name == spec.workload().primary);
            let throughputs: Vec<f64> = pooled::primary(&usable).map(JobFacts::iops).collect();
            let ios = |trial: &TrialFacts| trial.primary().map_or(0.0, |job| job.ios as f64);
            ArmSummary {
                name: arm.name.clone(),
                target: site(i)
                    .filter(|target| !target.is_empty())
                    .unwrap_or_else(|| arm.target.to_string()),
                trials: count(usable.len()),
                failed_trials: count(
                    trials
                        .iter()
                        .filter(|t| !t.usable && t.outcome != TrialOutcome::Paused)
                        .count(),
                ),
                stalled_trials: count(
                    usable.iter().filter(|trial| trial.stalled_below.is_some()).count(),
                ),
                iops: pooled::iops(pooled::primary(&usable)),
                bytes_per_s: pooled::bytes_per_s(pooled::primary(&usable)),
                requests_per_s: spec.workload().answers_requests().then(|| {
                    let primary = pooled::primary(&usable);
                    1e9 * pooled::ratio(
                        primary,
                        |job| job.requests as f64,
                        |job| job.active_ns as f64,
                    )
                }),
                throughput_cv: coefficient_of_variation(&throughputs),
                cpu_ns_per_io: pooled::mean(&usable, Metric::CpuPerIo, ios),
                mean_latency_ns: pooled::latency_ns(pooled::primary(&usable)),
                latency: primary.map_or_else(Vec::new, |job| curve_of(pool, job)),
                latency_ios: primary.map_or(0, |job| latency_ios(pool, job)),
                slow_mode: slow_mode::of_directions(&pool.directions),
                sync: primary.and_then(|job| syncs(spec.workload(), &usable, pool, job)),
                network: network::summary(spec.workload(), &usable),
                operations: operations(pool),
                other_jobs: other_jobs(experiment, &usable, pool, primary),
                replay: pool.replay.as_ref().map(replay),
                found_depths: found_depths(spec.workload(), &usable),
                targets: targets::of_arm(experiment, i, &usable, pool),
                together: arm.target.several().map(|_| targets::together(&usable)),
                counters: counters::of_arm(
                    &usable.iter().filter_map(|t| t.counters.as_ref()).collect::<Vec<_>>(),
                ),
            }
        })
        .collect()
}

/// The trials that figures are of: the usable ones; where the load generator was held up in all
/// there are, these, for something was measured.
fn shown<'a>(trials: &[&'a TrialFacts]) -> Vec<&'a TrialFacts> {
    let usable: Vec<&TrialFacts> = trials.iter().copied().filter(|t| t.usable).collect();
    if usable.is_empty() {
        trials.iter().copied().filter(|trial| trial.outcome == TrialOutcome::Paused).collect()
    } else {
        usable
    }
}

/// Sums over the usable trials of one arm.
pub(crate) fn work(trials: &[&TrialFacts]) -> Work {
    let bytes = |is_primary: bool| {
        let jobs = trials.iter().flat_map(|trial| &trial.jobs);
        let bytes = jobs.filter(|job| job.is_primary == is_primary).map(JobFacts::bytes);
        bytes.fold(0, u64::saturating_add)
    };
    let rate = |bytes: fn(&JobFacts) -> u64| {
        let moved = |trial: &&TrialFacts| {
            trial.jobs.iter().map(bytes).fold(0, u64::saturating_add) as f64 * 1e9
        };
        pooled::ratio(trials.iter().copied(), moved, |trial| trial.window_ns as f64)
    };
    let sum = |time: fn(&SystemCounters) -> Option<u64>| {
        let mut times = trials.iter().map(|trial| time(&trial.system));
        times.try_fold(0, |sum: u64, time| Some(sum.saturating_add(time?)))
    };
    let threads_ns = |job: &&JobFacts| f64::from(job.threads.max(1)) * job.active_ns as f64;
    Work {
        bytes: bytes(true),
        other_bytes: bytes(false),
        read_bytes_per_s: rate(|job| job.read_bytes),
        write_bytes_per_s: rate(|job| job.write_bytes),
        flush_share: pooled::ratio(pooled::primary(trials), |job| job.sync_sum_ns, threads_ns),
        flush_ns: pooled::sync_ns(pooled::primary(trials)),
        cpu_busy_ns: sum(|system| system.cpu_busy_ns),
        process_cpu_ns: sum(|system| system.process_cpu_ns),
    }
}

/// One point per trial; `used` holds the sorted (block, arm) pairs that conclusions rest on.
pub(crate) fn points(
    experiment: &ExperimentHead,
    trials: &[&TrialFacts],
    used: &[(u32, usize)],
) -> Vec<TrialPoint> {
    let is_used = |trial: &TrialFacts| {
        let is_in = |arm| used.binary_search(&(trial.block, arm)).is_ok();
        trial.usable && trial.arm.is_some_and(is_in)
    };
    let mut budget = IntervalBudget::default();
    trials
        .iter()
        .map(|trial| {
            let is_shown = budget.takes(trial.intervals);
            let job = trial.primary().filter(|job| job.ios > 0 && job.active_ns > 0);
            let synced = job.filter(|job| job.syncs > 0);
            TrialPoint {
                slot: trial.slot,
                block: trial.block,
                arm: trial.arm_name.clone(),
                started_ns: trial.started_ns,
                switch_ns: trial.switch_ns,
                outcome: trial.outcome,
                why: trial.why.clone(),
                paused_ns: trial
                    .paused
                    .filter(|_| trial.outcome == TrialOutcome::Paused)
                    .map(|paused| paused.total_ns),
                used: is_used(trial),
                iops: job.map(JobFacts::iops),
                bytes_per_s: job.map(JobFacts::bytes_per_s),
                p50_ns: Metric::P50.of(trial).map(iotax_quantity::whole),
                p99_ns: job.filter(|job| job.latency_ios > 0).map(|job| job.p99_latency_ns),
                sync_mean_ns: synced.map(|job| job.sync_sum_ns / job.syncs as f64),
                sync_p99_ns: synced.map(|job| job.sync_p99_ns).filter(|ns| *ns > 0),
                spread: trial.spread.clone(),
                targets: targets::of_trial(experiment, trial),
                per_second_ios: trial.per_second_ios.clone(),
                counters: trial.series.clone().filter(|_| is_shown),
            }
        })
        .collect()
}

fn other_jobs(
    experiment: &ExperimentHead,
    usable: &[&TrialFacts],
    pool: &ArmPool,
    primary: Option<usize>,
) -> Vec<JobSummary> {
    let jobs = experiment.spec.workload().jobs.iter().enumerate();
    jobs.filter(|(i, _)| Some(*i) != primary)
        .map(|(i, job)| JobSummary {
            name: job.name.clone(),
            target: job.target.clone(),
            iops: pooled::iops(pooled::job(usable, i)),
            bytes_per_s: pooled::bytes_per_s(pooled::job(usable, i)),
            mean_latency_ns: pooled::latency_ns(pooled::job(usable, i)),
            p99_latency_ns: quantile_of(pool, i, 0.99),
            p999_latency_ns: quantile_of(pool, i, 0.999),
            sync: syncs(experiment.spec.workload(), usable, pool, i),
        })
        .collect()
}

/// Of the jobs that look for one.
fn found_depths(workload: &Workload, usable: &[&TrialFacts]) -> Vec<FoundDepth> {
    let of_job = |(index, job): (usize, &Job)| {
        let found = || pooled::job(usable, index).filter_map(|facts| facts.found_depth);
        let (least, most) = (found().min()?, found().max()?);
        Some(FoundDepth { job: job.name.clone(), least, most })
    };
    workload.jobs.iter().enumerate().filter_map(of_job).collect()
}

fn replay(record: &ReplayRecord) -> ReplaySummary {
    let lateness = &record.lateness;
    ReplaySummary {
        operations: record.operations,
        left_over: record.left_over,
        failed_as_recorded: record.failed_as_recorded,
        shared_syncs: record.shared_syncs,
        added_syncs: record.added_syncs,
        late_mean_ns: lateness.mean_ns(),
        late_p50_ns: lateness.quantile_ns(0.5),
        late_p99_ns: lateness.quantile_ns(0.99),
        late_max_ns: lateness.max_ns(),
        recorded_cycle_ns: record.recorded_cycle_ns,
        times: record.times,
    }
}

/// Those of a job that syncs as it goes; a sync at its end is one of another kind.
fn syncs(
    workload: &Workload,
    usable: &[&TrialFacts],
    pool: &ArmPool,
    index: usize,
) -> Option<SyncSummary> {
    let job = &workload.jobs[index];
    if !job.syncs_as_it_goes() {
        return None;
    }
    let with: Vec<&JobFacts> = pooled::job(usable, index).filter(|job| job.syncs > 0).collect();
    let histogram = &pool.syncs[index];
    (!with.is_empty()).then(|| SyncSummary {
        leads: job.waits_for_syncs(),
        count: with.iter().map(|job| job.syncs).sum(),
        mean_ns: pooled::sync_ns(with.iter().copied()),
        latency: if histogram.count() > 0 {
            curve(histogram)
        } else {
            described(&pool.described_syncs[index])
        },
        max_ns: with.iter().map(|job| job.sync_max_ns).max().unwrap_or(0),
    })
}

fn operations(pool: &ArmPool) -> Vec<OperationSummary> {
    let all: u64 = pool.operations.iter().map(|record| record.latency.count()).sum();
    let share = |record: &OperationRecord| record.latency.count() as f64 / all.max(1) as f64;
    let of_primary = pool.operations.iter().map(|record| operation(record, Some(share(record))));
    of_primary.chain(pool.beside.iter().map(|record| operation(record, None))).collect()
}

fn operation(record: &OperationRecord, share: Option<f64>) -> OperationSummary {
    OperationSummary {
        name: record.name.clone(),
        count: record.latency.count(),
        share,
        errors: record.errors,
        mean_ns: record.latency.mean_ns(),
        p99_ns: record.latency.quantile_ns(0.99),
        max_ns: record.latency.max_ns(),
        latency: curve(&record.latency),
        slow: record.slow,
        waited: record.waited,
    }
}

/// Of one job of an arm: from its histogram, or else from what other tools gave.
fn curve_of(pool: &ArmPool, job: usize) -> Vec<QuantilePoint> {
    if pool.jobs[job].count() > 0 {
        curve(&pool.jobs[job])
    } else {
        described(&pool.described[job])
    }
}

/// One quantile of a job; 0 where nobody knows.
fn quantile_of(pool: &ArmPool, job: usize, q: f64) -> u64 {
    if pool.jobs[job].count() > 0 {
        return pool.jobs[job].quantile_ns(q);
    }
    latency_at(&described(&pool.described[job]), q).unwrap_or(0)
}

fn latency_ios(pool: &ArmPool, job: usize) -> u64 {
    let histogram = pool.jobs[job].count();
    if histogram > 0 { histogram } else { pool.described[job].iter().map(|d| d.ios).sum() }
}

/// Quantiles without a distribution cannot be pooled: the geometric mean over the trials, as
/// comparisons have it, of those quantiles that all of them give and enough I/Os support.
fn described(trials: &[Described]) -> Vec<QuantilePoint> {
    let at = |trial: &Described, q: f64| {
        let supported = trial.ios as f64 * (1.0 - q) >= MIN_BEYOND;
        let point = trial.quantiles.iter().find(|(p, _)| (p - q).abs() < 1e-9);
        point.filter(|_| supported).map(|(_, ns)| (*ns).max(1) as f64)
    };
    let mean = |q: f64| -> Option<QuantilePoint> {
        let logs: Vec<f64> =
            trials.iter().map(|trial| at(trial, q).map(f64::ln)).collect::<Option<_>>()?;
        let latency = mean(&logs).exp();
        Some(QuantilePoint { q, latency_ns: iotax_quantity::whole(latency) })
    };
    if trials.is_empty() { Vec::new() } else { LADDER.into_iter().filter_map(mean).collect() }
}

fn curve(latency: &LatencyHistogram) -> Vec<QuantilePoint> {
    let ios = latency.count() as f64;
    let supported = |q: &f64| ios > 0.0 && (*q == 0.0 || ios * (1.0 - q) >= MIN_BEYOND);
    let point = |q| {
        let latency_ns = if q == 0.0 { latency.min_ns() } else { latency.quantile_ns(q) };
        QuantilePoint { q, latency_ns }
    };
    LADDER.into_iter().filter(supported).map(point).collect()
}

/// Standard deviation over mean; 0 for fewer than two values.
pub(crate) fn coefficient_of_variation(values: &[f64]) -> f64 {
    let cv = variance(values).sqrt() / mean(values);
    if cv.is_finite() { cv } else { 0.0 }
}
