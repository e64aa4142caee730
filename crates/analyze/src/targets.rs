//! What the jobs on each of several targets did.

use std::collections::BTreeSet;

use iotax_catalog::Direction;
use iotax_experiment::documented::named;
use iotax_experiment::{Arm, Job, KnownLimit, Layer, NamedTarget, Target};
use iotax_record::{ExperimentHead, LatencyHistogram, Site};

use crate::analysis::{Rates, TargetPoint, TargetSummary};
use crate::facts::{JobFacts, TrialFacts};
use crate::pool::ArmPool;
use crate::pooled;

/// What sets a limit that a stack of ours has.
pub(crate) const THROTTLE: &str = "throttle";

/// The targets of an arm that jobs of this workload work on; none if it has one.
pub(crate) fn of_arm(
    experiment: &ExperimentHead,
    arm: usize,
    usable: &[&TrialFacts],
    pool: &ArmPool,
) -> Vec<TargetSummary> {
    let spec = &experiment.spec;
    let site = experiment.sites.get(arm);
    let Some(targets) = spec.arms[arm].target.several() else { return Vec::new() };
    // An unknown name is refused before anything is measured.
    let known = named(&experiment.cloud, spec.targets().count()).unwrap_or_default();
    let first: usize = spec.arms[..arm].iter().map(|arm| arm.target.each().len()).sum();
    let of_target = |(at, named): (usize, &NamedTarget)| {
        let jobs = jobs_on(experiment, &named.name);
        if jobs.is_empty() {
            return None;
        }
        let directions = jobs.iter().map(|job| direction(&spec.workload().jobs[*job]));
        let either = |a, b| if a == b { a } else { Direction::Both };
        let direction = directions.reduce(either).unwrap_or(Direction::Both);
        let own = site.and_then(|site| site.targets.iter().find(|own| own.name == named.name));
        let mut latency = LatencyHistogram::empty();
        for job in &jobs {
            latency.merge(&pool.jobs[*job]);
        }
        let facts = usable.iter().flat_map(|trial| &trial.jobs);
        let mean_latency_ns = pooled::latency_ns(facts.filter(|job| jobs.contains(&job.job)));
        Some(TargetSummary {
            name: named.name.clone(),
            target: named.target.to_string(),
            device: own.and_then(|own| own.site.device.clone()),
            jobs: jobs.iter().map(|job| spec.workload().jobs[*job].name.clone()).collect(),
            rates: rates(usable, |job| jobs.contains(&job.job)),
            mean_latency_ns,
            p99_latency_ns: latency.quantile_ns(0.99),
            p999_latency_ns: latency.quantile_ns(0.999),
            limits: limits(named, own.map(|own| &own.site)),
            documented: known.limits(first + at, &named.target, direction),
        })
    };
    targets.iter().enumerate().filter_map(of_target).collect()
}

/// All jobs of an arm.
pub(crate) fn together(usable: &[&TrialFacts]) -> Rates {
    rates(usable, |_| true)
}

/// The targets of one trial; none if its arm has one.
pub(crate) fn of_trial(experiment: &ExperimentHead, trial: &TrialFacts) -> Vec<TargetPoint> {
    let arm = trial.arm.and_then(|arm| experiment.spec.arms.get(arm));
    let targets = arm.and_then(|arm: &Arm| arm.target.several()).unwrap_or_default();
    let of_target = |named: &NamedTarget| {
        let jobs = jobs_on(experiment, &named.name);
        let own: Vec<&JobFacts> = trial.jobs.iter().filter(|job| jobs.contains(&job.job)).collect();
        let p99_ns = match own.as_slice() {
            [] => return None,
            [one] => Some(one.p99_latency_ns).filter(|_| one.latency_ios > 0),
            _ => None,
        };
        let rates = rates(&[trial], |job| jobs.contains(&job.job));
        Some(TargetPoint { name: named.name.clone(), rates, p99_ns })
    };
    targets.iter().filter_map(of_target).collect()
}

/// What a job does to a limit that counts reads or writes alone.
pub(crate) fn direction(job: &Job) -> Direction {
    match (job.reads(), job.writes()) {
        (true, false) => Direction::Read,
        (false, true) => Direction::Write,
        _ => Direction::Both,
    }
}

/// Positions of the jobs that call their target so.
fn jobs_on(experiment: &ExperimentHead, target: &str) -> Vec<usize> {
    let jobs = experiment.spec.workload().jobs.iter().enumerate();
    jobs.filter(|(_, job)| job.target.as_deref() == Some(target)).map(|(at, _)| at).collect()
}

/// Sums over jobs of what each did in all these trials.
fn rates(trials: &[&TrialFacts], is_counted: impl Fn(&JobFacts) -> bool) -> Rates {
    let counted = || trials.iter().flat_map(|trial| &trial.jobs).filter(|job| is_counted(job));
    let jobs: BTreeSet<usize> = counted().map(|job| job.job).collect();
    let each = || jobs.iter().map(|index| counted().filter(|job| job.job == *index));
    Rates {
        iops: each().map(pooled::iops).sum(),
        bytes_per_s: each().map(pooled::bytes_per_s).sum(),
    }
}

/// What is known of a target: the throttles in its stack, by the name of their group or the
/// target's; and what was read on the machine.
fn limits(named: &NamedTarget, site: Option<&Site>) -> Vec<KnownLimit> {
    let read = site.into_iter().flat_map(|site| site.known.iter().cloned());
    throttles(named).chain(read).collect()
}

fn throttles(named: &NamedTarget) -> impl Iterator<Item = KnownLimit> {
    let layers: &[Layer] = match &named.target {
        Target::Stack(stack) => &stack.layers,
        Target::Path(_) | Target::Several(_) => &[],
    };
    layers.iter().filter_map(|layer| match layer {
        Layer::Throttle(throttle) => Some(KnownLimit {
            scope: THROTTLE.to_owned(),
            of: throttle.group.clone().unwrap_or_else(|| named.name.clone()),
            direction: None,
            iops: throttle.iops,
            bw_bytes: throttle.bw_bytes,
        }),
        _ => None,
    })
}
