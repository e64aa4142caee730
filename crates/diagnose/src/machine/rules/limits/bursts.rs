//! Credits of disks and of the VM: what is had for a while, for how long, and what is left then.

use iotax_catalog::{Cloud, DiskExpectation, Limit, Rate, Scope};

use super::quantity::{Counted, about, observed, own_burst};
use super::{BurstRate, LimitsWhy};
use crate::machine::finding::{Certainty, Component, ComponentKind, Finding};
use crate::machine::snapshot::Snapshot;

/// Limits that burst, of disks and of the VM.
pub(in crate::machine::rules) fn bursts(seen: &Snapshot<'_>) -> Vec<Finding> {
    let of_disks = seen.documented().flat_map(|(one, documented)| {
        let cause = match documented.disk.cloud {
            Cloud::Azure => "azure-burst",
            Cloud::Aws => "ebs-volume-burst",
            Cloud::Gcp => return Vec::new(),
        };
        let limits = documented.limits.iter().filter(|limit| limit.scope == Scope::Disk);
        let finding = |limit| {
            let bursting = bursting(limit, |_, _| true);
            of(cause, about(one), limit, bursting, &seen.options(one), one.path)
        };
        limits.filter_map(finding).collect::<Vec<_>>()
    });
    of_disks.chain(of_vm(seen)).collect()
}

fn of_vm(seen: &Snapshot<'_>) -> Vec<Finding> {
    let Some(vm) = seen.vm_documented() else { return Vec::new() };
    let Some((_, path)) = seen.network_disks().next() else { return Vec::new() };
    let cause = match vm.cloud {
        Cloud::Azure => "azure-burst",
        Cloud::Aws => "ebs-instance-burst",
        Cloud::Gcp => return Vec::new(),
    };
    let finding = |limit: &Limit| {
        let bursting = bursting(limit, |counted, rate| !stays_below(seen, limit, counted, rate));
        let about = Component::new(ComponentKind::Vm, vm.name.as_str());
        of(cause, about, limit, bursting, &seen.vm_options(), path)
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

fn of(
    cause: &'static str,
    about: Component,
    limit: &Limit,
    bursting: Vec<BurstRate>,
    options: &str,
    path: &str,
) -> Option<Finding> {
    let has_some = !bursting.is_empty();
    let why = LimitsWhy::Bursts { limit: Box::new(limit.clone()), bursting };
    let mut finding = Finding::new(cause, about, Certainty::ToBeTested, why)
        .limits(&format!(" --burst=40m{options}"), path);
    finding.seen.extend(observed(std::slice::from_ref(limit)));
    has_some.then_some(finding)
}
