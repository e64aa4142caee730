//! Documented limits of the VM and its disks: which binds, what bursts, what lies close together.

use std::collections::BTreeSet;

use iotax_catalog::{By, Cloud, Direction, DiskExpectation, Limit, Scope};
use iotax_words::mb_per_s;

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::{Attached, Snapshot, quoted};

/// Latency of a network disk that depths are computed with.
const ASSUMED_LATENCY_S: f64 = 0.001;
/// Limits that are nearer to each other than this mask one another.
const CLOSE: f64 = 0.25;
/// From this depth on an application has to do something for it.
const DEEP: f64 = 32.0;

/// I/Os in flight that so many IOPS need.
fn depth(iops: f64) -> f64 {
    (iops * ASSUMED_LATENCY_S).ceil()
}

fn in_flight(iops: f64) -> String {
    let depth = depth(iops);
    if depth == 1.0 { "1 I/O".to_owned() } else { format!("{depth:.0} I/Os") }
}

fn about(one: &Attached<'_>) -> String {
    format!("{} ({}) of {}", one.device.name, one.name, one.path)
}

fn name(limit: &Limit) -> String {
    format!("{} limit of {}", limit.scope, limit.of)
}

/// The rates of a limit, for people.
fn rates(limit: &Limit) -> String {
    let iops = limit.iops.as_ref().map(|rate| format!("{:.0} IOPS", rate.sustained));
    let bytes = limit.bw_bytes.as_ref().map(|rate| mb_per_s(rate.sustained));
    iops.into_iter().chain(bytes).collect::<Vec<_>>().join(", ")
}

/// Limits with figures, as observations.
pub(super) fn observed(limits: &[Limit]) -> impl Iterator<Item = Observation> {
    let told = limits.iter().filter(|limit| limit.iops.is_some() || limit.bw_bytes.is_some());
    told.map(|limit| {
        let direction = match limit.direction {
            Direction::Both => String::new(),
            direction => format!(", {direction}"),
        };
        Observation::documented(name(limit) + &direction, rates(limit))
    })
}

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

/// Which limit binds on each disk: by IOPS, or by bytes where only these are known.
pub(super) fn binding(seen: &Snapshot<'_>) -> Vec<Finding> {
    let finding = |(one, documented): (&Attached<'_>, &DiskExpectation)| {
        let effective = documented.effective.first()?;
        let iops = effective.iops.as_ref();
        let by = |bound: Option<&iotax_catalog::Bound>| bound?.sustained_by.clone();
        let by: By = by(iops).or_else(|| by(effective.bw_bytes.as_ref()))?;
        let cause = cause(documented.disk.cloud, by.scope);
        // Counters of the volume itself tell more.
        let is_counted = one.device.ebs.as_ref().is_some_and(|ebs| match by.scope {
            Scope::Disk => ebs.volume_iops_exceeded_us.max(ebs.volume_throughput_exceeded_us) > 0,
            _ => ebs.instance_iops_exceeded_us.max(ebs.instance_throughput_exceeded_us) > 0,
        });
        let is_of_vm = by.scope != Scope::Disk;
        let needs = iops.map(|bound| {
            format!(
                " At 1 ms, which is an assumption, {:.0} IOPS need {} in flight.",
                bound.sustained,
                in_flight(bound.sustained)
            )
        });
        let binds = |bound: &iotax_catalog::Bound, figure: String| {
            let by = bound.sustained_by.as_ref();
            by.map(|by| format!("the {} limit of {} binds, {figure}", by.scope, by.of))
        };
        let by_iops = iops.and_then(|bound| binds(bound, format!("{:.0} IOPS", bound.sustained)));
        let by_bytes = effective.bw_bytes.as_ref();
        let by_bytes = by_bytes.and_then(|bound| binds(bound, mb_per_s(bound.sustained)));
        let says = [
            by_iops.map(|by| format!("Of IOPS {by}.")),
            by_bytes.map(|by| format!(" Of bytes {by}.")),
        ];
        let why = says.into_iter().flatten().chain(needs).collect::<String>();
        let certainty = if is_of_vm { Certainty::Likely } else { Certainty::ToBeTested };
        let mut finding =
            Finding::new(cause, about(one), certainty, why).limits(&seen.options(one), one.path);
        finding.seen.extend(observed(&documented.limits));
        (!is_counted).then_some(finding)
    };
    let mut findings: Vec<_> = seen.documented().filter_map(finding).collect();
    findings.extend(local(seen));
    findings
}

/// The VM's limit on its temporary disk, or on its local `NVMe` disks all together.
fn local(seen: &Snapshot<'_>) -> Option<Finding> {
    let vm = seen.vm_documented().filter(|vm| vm.cloud == Cloud::Azure)?;
    let (disk, path) = seen.bottom().find(|(disk, _)| seen.is_local(disk))?;
    let is_nvme = disk.transport.as_deref() == Some("nvme");
    let scope = if is_nvme { Scope::LocalNvme } else { Scope::VmTemporary };
    let limit = vm.limits.iter().find(|limit| limit.scope == scope)?;
    let why = format!("The {} holds {}: {}.", name(limit), disk.name, rates(limit));
    let mut finding = Finding::new(
        "azure-vm-limit",
        format!("{} of {path}", disk.name),
        Certainty::ToBeTested,
        why,
    );
    finding.seen.extend(observed(std::slice::from_ref(limit)));
    Some(finding.limits("", path))
}

/// Disks that together may do more than their bucket of the VM.
pub(super) fn shared_bucket(seen: &Snapshot<'_>) -> Vec<Finding> {
    let attached = seen.attached();
    let Some(expectation) = seen.expectation() else { return Vec::new() };
    let Some(cloud) = expectation.vm.as_ref().map(|vm| vm.cloud) else { return Vec::new() };
    let finding = |bucket: &iotax_catalog::Bucket| {
        let scope = bucket.scope.filter(|scope| *scope != Scope::Disk)?;
        let own = bucket.of_disks.first()?.iops.as_ref()?.sustained;
        let bound = bucket.effective.first()?.iops.as_ref()?;
        // One disk above the limit is told of that disk.
        let alone = bucket.disks.iter().filter_map(|at| {
            let limits = &expectation.disks[*at].limits;
            let own = limits.iter().find(|limit| limit.scope == Scope::Disk)?;
            Some(own.iops.as_ref()?.sustained)
        });
        let largest = alone.fold(0.0, f64::max);
        let members: Vec<_> = bucket.disks.iter().filter_map(|at| attached.get(*at)).collect();
        let names: Vec<_> = members.iter().map(|one| one.device.name.as_str()).collect();
        let paths: BTreeSet<_> = members.iter().map(|one| quoted(one.path)).collect();
        let why = format!(
            "{} may do {own:.0} IOPS, and the {scope} limit of the VM that they share is {:.0}.",
            iotax_words::list(&names),
            bound.sustained
        );
        let command = format!(
            "iotax limits {}",
            paths.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
        );
        let mut finding =
            Finding::new(cause(cloud, scope), names.join(", "), Certainty::Likely, why)
                .command(command);
        finding.seen.extend(observed(&bucket.limits));
        let is_shared = names.len() > 1 && own > bound.sustained && largest <= bound.sustained;
        is_shared.then_some(finding)
    };
    expectation.buckets.iter().filter_map(finding).collect()
}

/// Credits of disks and of the VM.
pub(super) fn bursts(seen: &Snapshot<'_>) -> Vec<Finding> {
    let of_disks = seen.documented().filter_map(|(one, documented)| {
        let mut limits = documented.limits.iter().filter(|limit| limit.scope == Scope::Disk);
        let cause = match documented.disk.cloud {
            Cloud::Azure => "azure-burst",
            Cloud::Aws => "ebs-volume-burst",
            Cloud::Gcp => return None,
        };
        let command = |limit| burst(cause, &about(one), limit, &seen.options(one), one.path);
        limits.find_map(command)
    });
    let of_vm = seen.vm_documented().and_then(|vm| {
        let (_, path) = seen.network_disks().next()?;
        let (cause, scope) = match vm.cloud {
            Cloud::Azure => ("azure-burst", Scope::VmUncached),
            Cloud::Aws => ("ebs-instance-burst", Scope::Instance),
            Cloud::Gcp => return None,
        };
        let mut limits = vm.limits.iter().filter(|limit| limit.scope == scope);
        limits
            .find(|limit| !stays_below(seen, limit))
            .and_then(|limit| burst(cause, &vm.name, limit, &seen.vm_options(), path))
    });
    of_disks.chain(of_vm).collect()
}

/// Whether all disks together may not do more than a limit allows for ever.
fn stays_below(seen: &Snapshot<'_>, limit: &Limit) -> bool {
    let peak = |one: &DiskExpectation| {
        let own = one.limits.iter().find(|limit| limit.scope == Scope::Disk)?;
        Some(own.iops.as_ref()?.peak())
    };
    let peaks: Option<f64> = seen.documented().map(|(_, one)| peak(one)).sum();
    let sustained = limit.iops.as_ref().map(|rate| rate.sustained);
    !seen.attached().is_empty() && peaks.zip(sustained).is_some_and(|(peaks, most)| peaks <= most)
}

fn burst(cause: &str, about: &str, limit: &Limit, options: &str, path: &str) -> Option<Finding> {
    let rates = [(&limit.iops, true), (&limit.bw_bytes, false)];
    let (sustained, burst, is_iops) = rates.into_iter().find_map(|(rate, is_iops)| {
        let rate = rate.as_ref()?;
        let burst = rate.burst.as_ref().filter(|burst| !burst.opt_in)?;
        Some((rate.sustained, burst, is_iops))
    })?;
    let figure = |rate: f64| if is_iops { format!("{rate:.0} IOPS") } else { mb_per_s(rate) };
    let lasts = burst.full_s(sustained).map_or(String::new(), |seconds| {
        format!(", for {:.0} min from full credits", seconds / 60.0)
    });
    let why = format!(
        "The {} bursts to {}{lasts}, and then has {}: what a short test shows does not last.",
        name(limit),
        figure(burst.per_s),
        figure(sustained)
    );
    let value = format!("{}, burst {}", figure(sustained), figure(burst.per_s));
    Some(
        Finding::new(cause, about, Certainty::ToBeTested, why)
            .observed(Observation::documented(name(limit), value))
            .limits(&format!(" --burst=40m{options}"), path),
    )
}

/// The two least limits of a path, if they are close.
pub(super) fn stacked(
    seen: &Snapshot<'_>,
    one: &Attached<'_>,
    documented: &DiskExpectation,
) -> Option<Finding> {
    let reads = |limit: &&Limit| limit.direction.counts(Direction::Read);
    let of_documents = documented.limits.iter().filter(reads).filter_map(|limit| {
        Some((limit.iops.as_ref()?.sustained, name(limit), "documented limits"))
    });
    let groups = seen.machine.groups.io.iter().filter(|limits| limits.path == one.path);
    let of_groups =
        groups.filter_map(|limits| Some((limits.read_iops?, limits.group.clone(), &*limits.file)));
    let mut all: Vec<_> = of_documents.chain(of_groups).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [least, next, ..] = all.as_slice() else { return None };
    let why = format!(
        "{} ({:.0} IOPS) and {} ({:.0} IOPS) are close: lifting the first changes little, and \
         what costs less than the gap does not show.",
        least.1, least.0, next.1, next.0
    );
    let finding = Finding::new("stacked-limits", about(one), Certainty::ToBeTested, why)
        .observed(Observation::field(least.2, least.1.clone(), format!("{:.0}", least.0)))
        .observed(Observation::field(next.2, next.1.clone(), format!("{:.0}", next.0)))
        .limits(&seen.options(one), one.path);
    (next.0 <= least.0 * (1.0 + CLOSE)).then_some(finding)
}

/// Queues that are shorter than the documented IOPS need, and depths that need attention.
pub(super) fn depths(
    _: &Snapshot<'_>,
    one: &Attached<'_>,
    documented: &DiskExpectation,
) -> Option<Finding> {
    let queue = &one.device.queue;
    let iops = documented.effective.first()?.iops.as_ref()?.sustained;
    let needed = depth(iops);
    let requests = queue
        .requests
        .map(|requests| requests.saturating_mul(queue.hardware_queues.unwrap_or(1).max(1)));
    let takes = requests.into_iter().chain(queue.depth).min();
    let is_short = takes.is_some_and(|takes| (takes as f64) < needed);
    // The latency is an assumption; a measurement tells which of them it is.
    let cause = if is_short { "queue-too-short" } else { "too-little-parallelism" };
    let instead = match takes {
        Some(takes) if is_short => format!(" Its queue takes {takes}."),
        _ => " A program with one thread and no asynchronous I/O has one.".to_owned(),
    };
    let why = format!(
        "{iops:.0} IOPS, the least documented limit, need {} in flight at 1 ms, which is an \
         assumption.{instead}",
        in_flight(iops)
    );
    let file = |name: &str, value: Option<u64>| {
        value.map(|value| Observation::block(one.device, name, value.to_string()))
    };
    let finding = Finding::new(cause, about(one), Certainty::ToBeTested, why)
        .observed(Observation::documented("IOPS", format!("{iops:.0}")))
        .observed_if(file("queue/nr_requests", queue.requests))
        .observed_if(file("device/queue_depth", queue.depth))
        .run("randread-4k", one.path, "")
        .run("randread-4k", one.path, &format!("--set depth={needed:.0}"));
    (is_short || needed >= DEEP).then_some(finding)
}
