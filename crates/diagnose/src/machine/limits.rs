//! Documented limits of the VM and its disks: which binds, what bursts, what lies close together.
//! All of it in I/Os and in bytes per second.

use std::collections::BTreeSet;

use iotax_catalog::{
    Bound, Bucket, Burst, By, Caching, Cloud, Direction, DiskExpectation, Effective, Limit, Rate,
    Scope,
};
use iotax_quantity::whole;
use iotax_record::machine::GroupIoLimits;
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::rules::Named as _;
use super::{
    At, Attached, Component, ComponentKind, Counted, Field, Finder, Finding, Observation, Rule,
    Snapshot, Source, Value, quoted, rule,
};

pub(super) const RULES: &[Rule] = &[
    rule(
        &[
            "azure-disk-limit", "azure-vm-limit", "ebs-volume-limit", "ebs-instance-limit",
            "gcp-disk-limit", "gcp-vm-limit",
        ],
        Finder::All(binding),
    ),
    rule(&["azure-vm-limit", "ebs-instance-limit"], Finder::All(shared_bucket)),
    rule(&["azure-burst", "ebs-volume-burst", "ebs-instance-burst"], Finder::All(bursts)),
    rule(&["stacked-limits"], Finder::Documented(stacked)),
    rule(&["queue-too-short", "too-little-parallelism"], Finder::Documented(depths)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitsWhy {
    // The limit that binds; and what holds I/Os that the host's cache does not answer.
    Binds { by: By, bounds: Vec<BoundOf>, misses: Option<Box<Limit>> },
    Local(Box<Limit>),
    // By several disks, which may do more together.
    Shared { scope: Scope, held: Vec<HeldRate> },
    Bursts { limit: Box<Limit>, bursting: Vec<BurstRate> },
    // The two least of each quantity.
    Stacked { pairs: Vec<StackedPair> },
    // I/Os in flight that the least documented limit needs; what a queue takes that is too short.
    Depth { iops: f64, needed: f64, takes: Option<u64> },
}

/// What is left of a quantity, in a direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BoundOf {
    pub direction: Direction,
    pub counted: Counted,
    pub bound: Bound,
}

/// What several disks may do together, and what they are allowed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldRate {
    pub direction: Direction,
    pub counted: Counted,
    /// As long as credits last.
    pub is_burst: bool,
    pub allowed: f64,
    pub together: f64,
}

/// A rate that may be exceeded for a while.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BurstRate {
    pub counted: Counted,
    pub rate: Rate,
}

/// Two limits that are close, the lower one first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackedPair {
    pub counted: Counted,
    pub limits: [StackedLimit; 2],
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackedLimit {
    pub per_s: f64,
    pub whose: StackedBy,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StackedBy {
    Documented { scope: Scope, of: String },
    Group(String),
}

/// Latency of a network disk that depths are computed with.
const ASSUMED_LATENCY_S: f64 = 0.001;
/// Limits that are nearer to each other than this mask one another.
const CLOSE: f64 = 0.25;
/// From this depth on an application has to do something for it.
const DEEP: f64 = 32.0;

/// What a control group allows of reads, by quantity.
const OF_GROUPS: [fn(&GroupIoLimits) -> Option<f64>; 2] =
    [|limits| limits.read_iops, |limits| limits.read_bw_bytes];

/// The two least limits of a path, if they are close: of I/Os, of bytes, or of both.
fn stacked(one: &At<'_, '_, Attached<'_>>, documented: &DiskExpectation) -> Option<Finding> {
    let reads = |limit: &&Limit| limit.direction.counts(Direction::Read);
    let mut pairs = Vec::new();
    let mut observations = Vec::new();
    for (counted, of_group) in Counted::ALL.into_iter().zip(OF_GROUPS) {
        let of_documents = documented.limits.iter().filter(reads).filter_map(|limit| {
            let whose = StackedBy::Documented { scope: limit.scope, of: limit.of.clone() };
            let at = (Source::Documented, field(limit, Direction::Both));
            Some((StackedLimit { per_s: counted.rate(limit)?.sustained, whose }, at))
        });
        let groups = one.seen.machine.groups.io.iter().filter(|limits| limits.path == one.path);
        let of_groups = groups.filter_map(|limits| {
            let at = (Source::from(&*limits.file), Field::from(&*limits.group));
            let whose = StackedBy::Group(limits.group.clone());
            Some((StackedLimit { per_s: of_group(limits)?, whose }, at))
        });
        let mut all: Vec<_> = of_documents.chain(of_groups).collect();
        all.sort_by(|a, b| a.0.per_s.total_cmp(&b.0.per_s));
        let [least, next, ..] = all.as_slice() else { continue };
        if next.0.per_s > least.0.per_s * (1.0 + CLOSE) {
            continue;
        }
        for (StackedLimit { per_s, .. }, (source, field)) in [least, next] {
            let value = Value::Rate { counted, per_s: *per_s };
            observations.push(Observation::field(source.clone(), field.clone(), value));
        }
        pairs.push(StackedPair { counted, limits: [least.0.clone(), next.0.clone()] });
    }
    let is_close = !pairs.is_empty();
    one.finding(ToBeTested, LimitsWhy::Stacked { pairs })
        .observed_all(observations)
        .limits(&one.seen.options(one), one.path)
        .when(is_close)
}

/// Queues that are shorter than the documented IOPS need, and depths that need attention.
fn depths(one: &At<'_, '_, Attached<'_>>, documented: &DiskExpectation) -> Option<Finding> {
    let queue = &one.device.queue;
    let iops = documented.effective.first()?.iops.as_ref()?.sustained;
    let needed = (iops * ASSUMED_LATENCY_S).ceil();
    let requests = queue
        .requests
        .map(|requests| requests.saturating_mul(queue.hardware_queues.unwrap_or(1).max(1)));
    let takes = requests.into_iter().chain(queue.depth).min();
    let is_short = takes.is_some_and(|takes| (takes as f64) < needed);
    // The latency is an assumption; a measurement tells which of them it is.
    let cause = if is_short { "queue-too-short" } else { "too-little-parallelism" };
    let why = LimitsWhy::Depth { iops, needed, takes: takes.filter(|_| is_short) };
    let file =
        |name, value: Option<u64>| value.map(|value| Observation::block(one.device, name, value));
    Finding { cause, ..one.finding(ToBeTested, why) }
        .observed(Observation::documented("IOPS", Value::Count(whole(iops))))
        .observed_all(file("queue/nr_requests", queue.requests))
        .observed_all(file("device/queue_depth", queue.depth))
        .run("randread-4k", one.path, "")
        .run("randread-4k", one.path, &format!("--set depth={}", whole(needed)))
        .when(is_short || needed >= DEEP)
}

/// The cause for a burst that ends, of a disk or of a VM; Google Cloud has none.
pub(crate) fn burst_cause(cloud: Cloud, scope: Scope) -> Option<&'static str> {
    match (cloud, scope) {
        (Cloud::Azure, _) => Some("azure-burst"),
        (Cloud::Aws, Scope::Disk) => Some("ebs-volume-burst"),
        (Cloud::Aws, _) => Some("ebs-instance-burst"),
        (Cloud::Gcp, _) => None,
    }
}

/// The cause for a limit that binds.
pub(crate) fn limit_cause(cloud: Cloud, scope: Scope) -> &'static str {
    match (cloud, scope) {
        (Cloud::Azure, Scope::Disk) => "azure-disk-limit",
        (Cloud::Azure, _) => "azure-vm-limit",
        (Cloud::Aws, Scope::Disk) => "ebs-volume-limit",
        (Cloud::Aws, _) => "ebs-instance-limit",
        (Cloud::Gcp, Scope::Disk) => "gcp-disk-limit",
        (Cloud::Gcp, _) => "gcp-vm-limit",
    }
}

/// Which limits bind on each disk: one may bind its IOPS and another its bytes, or one its reads
/// and another its writes. Each is a finding of its own.
fn binding(seen: &Snapshot<'_>) -> Vec<Finding> {
    let of_disks = seen.documented().flat_map(|(one, documented)| {
        let stages = stages(&documented.effective).into_iter();
        stages.filter_map(move |by| of_stage(seen, one, documented, by))
    });
    of_disks.chain(local(seen)).collect()
}

/// Each bound: of which I/Os, of what, and how much is left.
fn bounds(effective: &[Effective]) -> impl Iterator<Item = (Direction, Counted, &Bound)> {
    effective.iter().flat_map(|side| {
        let each = Counted::ALL.into_iter();
        each.filter_map(|counted| Some((side.direction, counted, counted.left(side)?)))
    })
}

/// Whose limits bind, each once; those of the VM first.
fn stages(effective: &[Effective]) -> Vec<&By> {
    let mut stages: Vec<&By> = Vec::new();
    for by in bounds(effective).filter_map(|(.., bound)| bound.sustained_by.as_ref()) {
        if !stages.contains(&by) {
            stages.push(by);
        }
    }
    stages.sort_by_key(|by| by.scope == Scope::Disk);
    stages
}

fn of_stage(
    seen: &Snapshot<'_>,
    one: &Attached<'_>,
    documented: &DiskExpectation,
    by: &By,
) -> Option<Finding> {
    let cause = limit_cause(documented.disk.cloud, by.scope);
    // Counters of the volume itself tell more.
    let is_counted = one.device.ebs.as_ref().is_some_and(|ebs| match by.scope {
        Scope::Disk => ebs.volume_iops_exceeded_us.max(ebs.volume_throughput_exceeded_us) > 0,
        _ => ebs.instance_iops_exceeded_us.max(ebs.instance_throughput_exceeded_us) > 0,
    });
    let bounds = bounds(&documented.effective)
        .filter(|(.., bound)| bound.sustained_by.as_ref() == Some(by))
        .map(|(direction, counted, bound)| BoundOf { direction, counted, bound: bound.clone() });
    let misses = if by.scope == Scope::VmUncached { None } else { misses(seen, one.caching) };
    let why = LimitsWhy::Binds { by: by.clone(), bounds: bounds.collect(), misses };
    let certainty = if by.scope == Scope::Disk { ToBeTested } else { Likely };
    Finding::new(cause, one.component(one.path), certainty, why)
        .observed_all(observed(&documented.limits))
        .limits(&seen.options(one), one.path)
        .when(!is_counted)
}

/// What holds the I/Os of a cached disk that its cache does not answer.
fn misses(seen: &Snapshot<'_>, caching: Caching) -> Option<Box<Limit>> {
    let vm = seen.vm_documented().filter(|_| caching != Caching::None)?;
    let uncached = vm.limits.iter().find(|limit| limit.scope == Scope::VmUncached)?;
    Some(Box::new(uncached.clone()))
}

/// The VM's limit on its temporary disk, or on its local `NVMe` disks all together.
fn local(seen: &Snapshot<'_>) -> Option<Finding> {
    let vm = seen.vm_documented().filter(|vm| vm.cloud == Cloud::Azure)?;
    let (disk, path) = seen.bottom().find(|(disk, _)| seen.is_local(disk))?;
    let is_nvme = disk.transport.as_deref() == Some("nvme");
    let scope = if is_nvme { Scope::LocalNvme } else { Scope::VmTemporary };
    let limit = vm.limits.iter().find(|limit| limit.scope == scope)?;
    let (about, why) =
        (Component::device(disk).of(path), LimitsWhy::Local(Box::new(limit.clone())));
    Finding::new("azure-vm-limit", about, ToBeTested, why)
        .observed_all(observed(std::slice::from_ref(limit)))
        .limits("", path)
        .into()
}

/// Disks that together may do more than their bucket of the VM.
fn shared_bucket(seen: &Snapshot<'_>) -> Vec<Finding> {
    let Some(expectation) = seen.expectation() else { return Vec::new() };
    let Some(cloud) = expectation.vm.as_ref().map(|vm| vm.cloud) else { return Vec::new() };
    let finding = |bucket: &Bucket| {
        let scope = bucket.scope.filter(|scope| *scope != Scope::Disk)?;
        let members: Vec<_> =
            bucket.disks.iter().filter_map(|at| seen.attached().get(*at)).collect();
        let about: Vec<_> = members.iter().map(|one| Component::device(one.device)).collect();
        let disks: Vec<_> = bucket.disks.iter().map(|at| &expectation.disks[*at]).collect();
        let held = held(bucket, &disks);
        let is_held = about.len() > 1 && !held.is_empty();
        let paths: BTreeSet<_> = members.iter().map(|one| quoted(one.path)).collect();
        let paths: Vec<_> = paths.iter().map(String::as_str).collect();
        let why = LimitsWhy::Shared { scope, held };
        Finding::new(limit_cause(cloud, scope), about, Likely, why)
            .observed_all(observed(&bucket.limits))
            .command(format!("iotax limits {}", paths.join(" ")))
            .when(is_held)
    };
    expectation.buckets.iter().filter_map(finding).collect()
}

/// In what the disks of a bucket come to more than it allows, where none does alone: that is told
/// of that disk.
fn held(bucket: &Bucket, disks: &[&DiskExpectation]) -> Vec<HeldRate> {
    let own =
        |disk: &DiskExpectation, direction: Direction, counted: Counted, rate: fn(&Rate) -> f64| {
            let limits = disk.limits.iter().filter(|limit| limit.scope == Scope::Disk);
            let limits = limits.filter(|limit| limit.direction.counts(direction));
            limits.filter_map(|limit| counted.rate(limit)).map(rate).fold(0.0, f64::max)
        };
    let mut held = Vec::new();
    for (direction, counted, sum) in bounds(&bucket.of_disks) {
        let limits = bucket.limits.iter().filter(|limit| limit.direction.counts(direction));
        let Some(most) = limits
            .filter_map(|limit| counted.rate(limit))
            .min_by(|a, b| a.sustained.total_cmp(&b.sustained))
        else {
            continue;
        };
        let exceeds = |together: f64, allowed: f64, rate: fn(&Rate) -> f64| {
            let alone = disks.iter().map(|disk| own(disk, direction, counted, rate));
            together > allowed && alone.fold(0.0, f64::max) <= allowed
        };
        let peak = sum.burst.as_ref().map_or(sum.sustained, |burst| burst.per_s);
        let (is_burst, allowed, together) =
            if exceeds(sum.sustained, most.sustained, |rate| rate.sustained) {
                (false, most.sustained, sum.sustained)
            } else if exceeds(peak, most.peak(), Rate::peak) {
                (true, most.peak(), peak)
            } else {
                continue;
            };
        held.push(HeldRate { direction, counted, is_burst, allowed, together });
    }
    held
}

/// Limits that burst, of disks and of the VM.
fn bursts(seen: &Snapshot<'_>) -> Vec<Finding> {
    let of_disks = seen.documented().flat_map(|(one, documented)| {
        let limits = documented.limits.iter().filter(|limit| limit.scope == Scope::Disk);
        limits.filter_map(move |limit| {
            let cause = burst_cause(documented.disk.cloud, limit.scope)?;
            let (about, bursting) = (one.component(one.path), bursting(limit, |_, _| true));
            burst(cause, about, limit, bursting, &seen.options(one), one.path)
        })
    });
    of_disks.chain(bursts_of_vm(seen)).collect()
}

fn bursts_of_vm(seen: &Snapshot<'_>) -> Vec<Finding> {
    let Some(vm) = seen.vm_documented() else { return Vec::new() };
    let Some((_, path)) = seen.network_disks().next() else { return Vec::new() };
    let finding = |limit: &Limit| {
        let cause = burst_cause(vm.cloud, limit.scope)?;
        let bursting = bursting(limit, |counted, rate| !stays_below(seen, limit, counted, rate));
        let about = Component::new(ComponentKind::Vm, vm.name.as_str());
        burst(cause, about, limit, bursting, &seen.vm_options(), path)
    };
    vm.limits.iter().filter(|limit| holds_some(seen, limit)).filter_map(finding).collect()
}

/// Whether a limit of the VM is on disks that are attached by its network; where none is known, on
/// any that could be.
fn holds_some(seen: &Snapshot<'_>, limit: &Limit) -> bool {
    let is_on_disks = matches!(limit.scope, Scope::VmCached | Scope::VmUncached | Scope::Instance);
    let mut documented = seen.documented().peekable();
    let is_any = documented.peek().is_none() && limit.scope != Scope::VmCached;
    is_on_disks && (is_any || documented.any(|(_, one)| one.limits.contains(limit)))
}

/// The quantities of a limit that burst without being turned on first.
fn bursting(limit: &Limit, matters: impl Fn(Counted, &Rate) -> bool) -> Vec<BurstRate> {
    let each = Counted::ALL.into_iter().filter_map(|counted| {
        let rate = counted.rate(limit)?;
        own_burst(rate).filter(|_| matters(counted, rate))?;
        Some(BurstRate { counted, rate: rate.clone() })
    });
    each.collect()
}

/// Whether all disks together may not do more than a limit allows for ever.
fn stays_below(seen: &Snapshot<'_>, limit: &Limit, counted: Counted, rate: &Rate) -> bool {
    let peak = |one: &DiskExpectation| {
        if !one.limits.contains(limit) {
            return Some(0.0);
        }
        let own = one.limits.iter().filter(|limit| limit.scope == Scope::Disk);
        let peaks: Option<Vec<f64>> =
            own.map(|limit| counted.rate(limit).map(Rate::peak)).collect();
        Some(peaks?.into_iter().fold(0.0, f64::max))
    };
    let peaks: Option<f64> = seen.documented().map(|(_, one)| peak(one)).sum();
    !seen.attached().is_empty() && peaks.is_some_and(|peaks| peaks <= rate.sustained)
}

fn burst(
    cause: &'static str,
    about: Component,
    limit: &Limit,
    bursting: Vec<BurstRate>,
    options: &str,
    path: &str,
) -> Option<Finding> {
    let has_some = !bursting.is_empty();
    let why = LimitsWhy::Bursts { limit: Box::new(limit.clone()), bursting };
    Finding::new(cause, about, ToBeTested, why)
        .observed_all(observed(std::slice::from_ref(limit)))
        .limits(&format!(" --burst=40m{options}"), path)
        .when(has_some)
}

/// The burst above a rate that nobody has to turn on.
pub fn own_burst(rate: &Rate) -> Option<&Burst> {
    rate.burst.as_ref().filter(|burst| !burst.opt_in)
}

fn field(limit: &Limit, direction: Direction) -> Field {
    Field::Limit { scope: limit.scope, of: limit.of.clone(), direction }
}

/// Limits with figures, as observations.
pub(super) fn observed(limits: &[Limit]) -> impl Iterator<Item = Observation> {
    let has_figures =
        limits.iter().filter(|limit| limit.iops.is_some() || limit.bw_bytes.is_some());
    has_figures.map(|limit| {
        let value = Value::Limit(Box::new(limit.clone()));
        Observation::documented(field(limit, limit.direction), value)
    })
}
