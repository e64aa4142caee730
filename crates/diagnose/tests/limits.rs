//! Every size of VM of the catalogue: whatever binds, of I/Os or of bytes, is named, with its
//! figure and with what a burst reaches.
#![allow(clippy::unwrap_used)]

use std::collections::HashSet;

use iotax_catalog::{
    Caching, Cloud, Direction, Limit, Scope, Setup, Vm, attached_disk, expect, vms_like,
};
use iotax_diagnose::why::Why;
use iotax_diagnose::why::limits::{BoundOf, LimitsWhy};
use iotax_diagnose::{Counted, Finding, findings};
use iotax_experiment::CloudChoice;
use iotax_record::machine::{Device, Node, PathSeen, SeenLayer, UsedAs};
use iotax_record::{CloudInstance, Machine};

const DISK_BYTES: u64 = 1 << 40;

/// A machine of this size with one disk in the network.
fn machine(vm: &Vm) -> Machine {
    let cloud = match vm.cloud {
        Cloud::Azure => "Azure",
        Cloud::Aws => "AWS",
        Cloud::Gcp => "Google Cloud",
    };
    let device = Device {
        name: "sdx".to_owned(),
        size_bytes: DISK_BYTES,
        transport: vm.variant.clone(),
        used_as: Some(UsedAs::Data { lun: None }),
        ..Device::default()
    };
    let layer = SeenLayer::Device(device);
    let path = PathSeen { path: "/dev/sdx".to_owned(), top: Some(0), ..PathSeen::default() };
    Machine {
        nodes: vec![Node { layer, below: Vec::new() }],
        paths: vec![path],
        cloud: Some(CloudInstance {
            cloud: cloud.to_owned(),
            vm: vm.name.clone(),
            ..CloudInstance::default()
        }),
        ..Machine::default()
    }
}

/// The limits that hold a disk of this kind: of the VM those for the kind alone, if there are any.
fn holding(vm: &Vm, kind: &str, own: &[Limit], caching: Caching) -> Vec<Limit> {
    let scope = match (vm.cloud, caching) {
        (Cloud::Azure, Caching::None) => Scope::VmUncached,
        (Cloud::Azure, _) => Scope::VmCached,
        _ => Scope::Instance,
    };
    let of_vm = vm.limits.iter().filter(|limit| limit.scope == scope && limit.holds_for(kind));
    let (special, general): (Vec<&Limit>, Vec<&Limit>) =
        of_vm.partition(|limit| !limit.disk_kinds.is_empty());
    let of_vm = if special.is_empty() { general } else { special };
    own.iter().chain(of_vm).cloned().collect()
}

fn cause(cloud: Cloud, scope: Scope) -> &'static str {
    match (cloud, scope == Scope::Disk) {
        (Cloud::Azure, true) => "azure-disk-limit",
        (Cloud::Azure, false) => "azure-vm-limit",
        (Cloud::Aws, true) => "ebs-volume-limit",
        (Cloud::Aws, false) => "ebs-instance-limit",
        (Cloud::Gcp, true) => "gcp-disk-limit",
        (Cloud::Gcp, false) => "gcp-vm-limit",
    }
}

/// The bounds that a finding has of a stage, if it is one of those that bind.
fn bounds(finding: &Finding) -> &[BoundOf] {
    match &finding.why {
        Why::Limits(LimitsWhy::Binds { bounds, .. }) => bounds,
        _ => &[],
    }
}

/// The least sustained rate and the least peak are both named, by the stage whose they are.
fn assert_named(
    vm: &Vm,
    disk: &str,
    caching: Caching,
    limits: &[Limit],
    found: &[Finding],
) -> usize {
    let mut named = 0;
    for direction in [Direction::Read, Direction::Write] {
        for counted in Counted::ALL {
            let counting = limits.iter().filter(|limit| limit.direction.counts(direction));
            let rates: Vec<_> =
                counting.filter_map(|limit| Some((limit, counted.rate(limit)?))).collect();
            let least = rates.iter().min_by(|a, b| a.1.sustained.total_cmp(&b.1.sustained));
            let Some((limit, rate)) = least else { continue };
            let peak = rates.iter().map(|(_, rate)| rate.peak()).fold(f64::INFINITY, f64::min);
            let cause = cause(vm.cloud, limit.scope);
            let is_it = |one: &BoundOf| {
                let burst = one.bound.burst.as_ref().map(|burst| burst.per_s);
                one.counted == counted
                    && one.direction.counts(direction)
                    && one.bound.sustained.total_cmp(&rate.sustained).is_eq()
                    && (peak <= rate.sustained || burst == Some(peak))
            };
            let mut of_cause = found.iter().filter(|finding| finding.cause == cause);
            let of = format!("{} with {disk}, {caching:?}: {cause}, {rate:?}, {peak}", vm.name);
            assert!(of_cause.any(|one| bounds(one).iter().any(is_it)), "{of}: {found:#?}");
            named += 1;
        }
    }
    named
}

/// What binds nothing is not said to bind, and the catalogue's own sum agrees.
fn assert_no_other(vm: &Vm, limits: &[Limit], found: &[Finding]) {
    let binds = |scope_is_disk: bool| {
        [Direction::Read, Direction::Write].into_iter().any(|direction| {
            Counted::ALL.into_iter().any(|counted| {
                let counting = limits.iter().filter(|limit| limit.direction.counts(direction));
                let rates =
                    counting.filter_map(|limit| Some((limit, counted.rate(limit)?.sustained)));
                let least = rates.min_by(|a, b| a.1.total_cmp(&b.1));
                least.is_some_and(|(limit, _)| (limit.scope == Scope::Disk) == scope_is_disk)
            })
        })
    };
    for is_disk in [true, false] {
        let scope = if is_disk { Scope::Disk } else { Scope::Instance };
        let cause = cause(vm.cloud, scope);
        let is_said = found.iter().any(|one| one.cause == cause && !bounds(one).is_empty());
        assert_eq!(is_said, binds(is_disk), "{}: {cause} of {found:#?}", vm.name);
    }
}

/// The limits of a size, whatever it is called.
fn figures(vm: &Vm) -> String {
    let each = vm.limits.iter().map(|limit| {
        let Limit { scope, disk_kinds, iops, bw_bytes, direction, .. } = limit;
        format!("{scope} {disk_kinds:?} {iops:?} {bw_bytes:?} {direction:?}")
    });
    each.collect::<Vec<_>>().join("; ")
}

/// How many bounds were checked.
fn check(cloud: Cloud, disks: &[(&str, Caching)]) -> usize {
    let mut named = 0;
    let mut seen = HashSet::new();
    // Sizes with the same limits are one case; which disk is tried differs from case to case.
    let distinct = vms_like(cloud, "").into_iter().filter(|vm| seen.insert(figures(vm)));
    for (at, vm) in distinct.enumerate() {
        for (text, caching) in disks.iter().skip(at % disks.len()).take(1) {
            let (disk, caching) = attached_disk(text, *caching).unwrap();
            let setup = Setup {
                vm: Some(vm.name.clone()),
                variant: vm.variant.clone(),
                disks: vec![(disk.clone(), caching)],
            };
            let Ok(expected) = expect(&setup) else { continue };
            // Network limits of Google's N1 are beside the VM's own.
            if expected.disks[0].limits.iter().any(|limit| limit.scope == Scope::Network) {
                continue;
            }
            let choice = CloudChoice {
                disks: vec![(*text).to_owned()],
                caching: Some(
                    match caching {
                        Caching::None => "none",
                        Caching::ReadOnly => "readonly",
                        Caching::ReadWrite => "readwrite",
                    }
                    .to_owned(),
                ),
                ..CloudChoice::default()
            };
            let found = findings(&machine(&vm), &choice);
            let limits = holding(&vm, &disk.kind, &disk.limits, caching);
            named += assert_named(&vm, text, caching, &limits, &found);
            assert_no_other(&vm, &limits, &found);
        }
    }
    named
}

#[test]
fn every_azure_size_names_what_binds() {
    let disks = [
        ("P30", Caching::None),
        ("P10", Caching::ReadOnly),
        ("P80", Caching::None),
        ("premium-v2:size=1T,iops=80000,bw=1200M", Caching::None),
    ];
    assert!(check(Cloud::Azure, &disks) > 2_000);
}

#[test]
fn every_aws_size_names_what_binds() {
    let disks = [
        ("gp3:size=10G,iops=4000,bw=750M", Caching::None),
        ("gp2:size=100G", Caching::None),
        ("st1:size=2T", Caching::None),
        ("io2:size=1T,iops=16000", Caching::None),
    ];
    assert!(check(Cloud::Aws, &disks) > 500);
}

#[test]
fn every_google_size_names_what_binds() {
    let disks = [
        ("pd-ssd:size=500G", Caching::None),
        ("pd-ssd:size=10T", Caching::None),
        ("pd-standard:size=100G", Caching::None),
        ("pd-balanced:size=1T", Caching::None),
    ];
    assert!(check(Cloud::Gcp, &disks) > 100);
}
