//! Which limit binds: on each disk alone, and on disks that share a bucket of their VM.

use std::collections::BTreeSet;

use iotax_catalog::{
    Bound, Bucket, By, Caching, Cloud, Direction, DiskExpectation, Effective, Limit, Rate, Scope,
};

use super::quantity::{Counted, about, observed};
use super::{BoundOf, HeldRate, LimitsWhy};
use crate::machine::finding::{Certainty, Component, Finding};
use crate::machine::snapshot::{Attached, Snapshot, quoted};

/// The cause for a limit that binds.
fn cause(cloud: Cloud, scope: Scope) -> &'static str {
    match (cloud, scope) {
        (Cloud::Azure, Scope::Disk) => "azure-disk-limit",
        (Cloud::Azure, _) => "azure-vm-limit",
        (Cloud::Aws, Scope::Disk) => "ebs-volume-limit",
        (Cloud::Aws, _) => "ebs-instance-limit",
        (Cloud::Gcp, Scope::Disk) => "gcp-disk-limit",
        (Cloud::Gcp, _) => "gcp-vm-limit",
    }
}

/// Which limits bind on each disk: one may bind its IOPS and another its bytes, or one its reads and
/// another its writes. Each is a finding of its own.
pub(in crate::machine::rules) fn binding(seen: &Snapshot<'_>) -> Vec<Finding> {
    let of_disk = |(one, documented): (&Attached<'_>, &DiskExpectation)| {
        let stages = stages(&documented.effective);
        let of_stage = |by| of_stage(seen, (one, documented), by);
        stages.into_iter().filter_map(of_stage).collect::<Vec<_>>()
    };
    let mut findings: Vec<_> = seen.documented().flat_map(of_disk).collect();
    findings.extend(local(seen));
    findings
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
    (one, documented): (&Attached<'_>, &DiskExpectation),
    by: &By,
) -> Option<Finding> {
    let cause = cause(documented.disk.cloud, by.scope);
    // Counters of the volume itself tell more.
    let is_counted = one.device.ebs.as_ref().is_some_and(|ebs| match by.scope {
        Scope::Disk => ebs.volume_iops_exceeded_us.max(ebs.volume_throughput_exceeded_us) > 0,
        _ => ebs.instance_iops_exceeded_us.max(ebs.instance_throughput_exceeded_us) > 0,
    });
    let of_it =
        bounds(&documented.effective).filter(|(.., bound)| bound.sustained_by.as_ref() == Some(by));
    let bounds = of_it.map(|(direction, counted, bound)| {
        let bound = bound.clone();
        BoundOf { direction, counted, bound }
    });
    let misses = if by.scope == Scope::VmUncached { None } else { misses(seen, one.caching) };
    let why = LimitsWhy::Binds { by: by.clone(), bounds: bounds.collect(), misses };
    let certainty = if by.scope == Scope::Disk { Certainty::ToBeTested } else { Certainty::Likely };
    let mut finding =
        Finding::new(cause, about(one), certainty, why).limits(&seen.options(one), one.path);
    finding.seen.extend(observed(&documented.limits));
    (!is_counted).then_some(finding)
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
    let mut finding = Finding::new("azure-vm-limit", about, Certainty::ToBeTested, why);
    finding.seen.extend(observed(std::slice::from_ref(limit)));
    Some(finding.limits("", path))
}

/// Disks that together may do more than their bucket of the VM.
pub(in crate::machine::rules) fn shared_bucket(seen: &Snapshot<'_>) -> Vec<Finding> {
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
        let why = LimitsWhy::Shared { scope, held };
        let paths: BTreeSet<_> = members.iter().map(|one| quoted(one.path)).collect();
        let paths: Vec<_> = paths.iter().map(String::as_str).collect();
        let mut finding = Finding::new(cause(cloud, scope), about, Certainty::Likely, why)
            .command(format!("iotax limits {}", paths.join(" ")));
        finding.seen.extend(observed(&bucket.limits));
        is_held.then_some(finding)
    };
    expectation.buckets.iter().filter_map(finding).collect()
}

/// In what the disks of a bucket come to more than it allows, where none does alone: that is told of
/// that disk.
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
