//! Confidential virtual machines: bounce buffers, limits of their sizes, their OS disk.

use iotax_catalog::{Limit, Scope, vm_variant};
use iotax_record::machine::{Device, UsedAs};
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, ComponentKind, Finding};
use crate::machine::observation::{Observation, PeakLimit, Source, Value};
use crate::machine::snapshot::{Since, Snapshot, quoted};

pub(super) const RULES: &[Rule] = &[
    rule(&["bounce-buffers"], Finder::Once(bounce_buffers)),
    rule(&["bounce-buffers-full"], Finder::All(full_pool)),
    rule(&["confidential-vm-limits"], Finder::Once(lower_limits)),
    rule(&["confidential-os-disk"], Finder::Device(os_disk)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfidentialWhy {
    Bounce { kind: String, used_bytes: Option<u64> },
    // The most that was in use: its share, and the size of the pool.
    FullPool { most: Option<(f64, u64)>, since: Since },
    LowerLimits { has: PeakLimit, sibling: String, could: PeakLimit },
    OsDisk,
    // Packets, too, are copied.
    BouncedPackets { kind: String, driver: String },
}

/// The kernel's complaint about a pool without room.
const FULL: &str = "swiotlb buffer is full";
/// Share of the pool that is too near to all of it.
const NEARLY_FULL: f64 = 0.9;
const POOL: &str = "/sys/kernel/debug/swiotlb";

/// Which kind of confidential machine it is.
fn kind<'a>(seen: &Snapshot<'a>) -> Option<&'a str> {
    seen.machine.confidential.kind.as_deref()
}

/// Where that stands.
pub(super) fn kind_seen(seen: &Snapshot<'_>, kind: &str) -> Observation {
    let file = seen.machine.confidential.seen_in.as_deref();
    Observation::file(file.map_or(Source::Metadata, Source::from), kind)
}

/// Copies of all data through shared memory.
fn bounce_buffers(seen: &Snapshot<'_>) -> Option<Finding> {
    let kind = kind(seen)?;
    // Without the bit a virtio disk does not go through the pool.
    let copied = |(disk, _): &(&Device, &str)| disk.virtio_access_platform != Some(false);
    let disks: Vec<_> = seen.bottom().filter(copied).collect();
    let (_, path) = disks.first()?;
    let most = most_used(seen);
    let is_used = most > 0;
    let certainty = if is_used { Certainty::Likely } else { Certainty::ToBeTested };
    let why =
        ConfidentialWhy::Bounce { kind: kind.to_owned(), used_bytes: is_used.then_some(most) };
    let about: Vec<_> = disks.iter().map(|(disk, _)| Component::device(disk)).collect();
    let virtio = disks.iter().any(|(disk, _)| disk.virtio_access_platform == Some(true));
    Some(
        Finding::new("bounce-buffers", about, certainty, why)
            .observed(kind_seen(seen, kind))
            .observed_if(is_used.then(|| {
                Observation::file(format!("{POOL}/io_tlb_used_hiwater"), Value::Bytes(most))
            }))
            .observed_if(
                virtio.then(|| {
                    Observation::field("/sys/bus/virtio/devices/*/features", "bit 33", "set")
                }),
            )
            .run("randread-4k", path, "--set depth=32")
            .run("seqread-1m", path, "--set depth=32"),
    )
}

/// Most of the pool that was in use at a time.
fn most_used(seen: &Snapshot<'_>) -> u64 {
    let pool = seen.machine.confidential.swiotlb.as_ref();
    pool.map_or(0, |pool| pool.most_used_bytes.unwrap_or(0).max(pool.used_bytes))
}

/// A pool that ran full, or nearly.
fn full_pool(seen: &Snapshot<'_>) -> Vec<Finding> {
    let confidential = &seen.machine.confidential;
    let complaint = confidential.log.iter().find(|line| line.contains(FULL));
    let pool = confidential.swiotlb.as_ref().filter(|pool| pool.size_bytes > 0);
    let most = most_used(seen);
    let size = pool.map_or(0, |pool| pool.size_bytes);
    let is_near = size > 0 && most as f64 >= NEARLY_FULL * size as f64;
    let Some(path) = seen.first_place() else { return Vec::new() };
    if complaint.is_none() && !is_near {
        return Vec::new();
    }
    // The most that there ever was may be long ago.
    let is_full = pool.is_some_and(|pool| pool.used_bytes as f64 >= NEARLY_FULL * size as f64);
    let certainty = match complaint {
        Some(_) => Certainty::Snapshot,
        None if is_full => Certainty::Likely,
        None => Certainty::ToBeTested,
    };
    let why = ConfidentialWhy::FullPool {
        most: (size > 0).then(|| (most as f64 / size as f64, size)),
        since: seen.since_boot(None),
    };
    let values = |file: &str, value: u64| {
        (size > 0).then(|| Observation::file(format!("{POOL}/{file}"), Value::Bytes(value)))
    };
    vec![
        Finding::new("bounce-buffers-full", ComponentKind::BouncePool, certainty, why)
            .observed_if(
                complaint.map(|line| Observation::field(Source::KernelLog, FULL, line.as_str())),
            )
            .observed_if(values("io_tlb_nslabs", size))
            .observed_if(values("io_tlb_used_hiwater", most))
            .run("seqread-1m", &path.path, "--set depth=64"),
    ]
}

/// A confidential size whose sibling has more.
fn lower_limits(seen: &Snapshot<'_>) -> Option<Finding> {
    let vm = seen.vm_documented()?;
    // Standard_DC8as_v5, Standard_EC8as_v5
    let rest = vm.name.strip_prefix("Standard_")?;
    let family = ["DC", "EC"].into_iter().find(|family| rest.starts_with(family))?;
    let sibling = format!("Standard_{}{}", &family[..1], rest.strip_prefix(family)?);
    let sibling = vm_variant(&sibling, None).ok()?;
    let uncached =
        |limits: &[Limit]| limits.iter().find(|limit| limit.scope == Scope::VmUncached).cloned();
    let (own, other) = (uncached(&vm.limits)?, uncached(&sibling.limits)?);
    let (path, _) = (seen.first_place()?, kind(seen)?);
    let peak = |limit: &Limit| {
        let iops = limit.iops.as_ref().map_or(0.0, iotax_catalog::Rate::peak);
        let bytes_per_s = limit.bw_bytes.as_ref().map_or(0.0, iotax_catalog::Rate::peak);
        PeakLimit { iops, bytes_per_s }
    };
    let (has, could) = (peak(&own), peak(&other));
    let why = ConfidentialWhy::LowerLimits { has, sibling: sibling.name.clone(), could };
    let command = format!("iotax limits --vm {} {}", quoted(&vm.name), quoted(&path.path));
    let about = Component::new(ComponentKind::Vm, vm.name.as_str());
    let finding = Finding::new("confidential-vm-limits", about, Certainty::Likely, why)
        .observed(Observation::documented(vm.name.as_str(), Value::Peak(has)))
        .observed(Observation::documented(sibling.name.as_str(), Value::Peak(could)))
        .command(command);
    (could.iops > has.iops || could.bytes_per_s > has.bytes_per_s).then_some(finding)
}

/// The OS disk of a confidential VM, encrypted in the guest.
fn os_disk(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let kind = kind(seen)?;
    let mapping = device.mapping.as_ref().filter(|mapping| mapping.is_crypt())?;
    let is_os = seen.disks(device).iter().any(|disk| disk.used_as == Some(UsedAs::Os));
    let why = ConfidentialWhy::OsDisk;
    let about = Component::mapped(device);
    let finding = Finding::new("confidential-os-disk", about, Certainty::ToBeTested, why)
        .observed(kind_seen(seen, kind))
        .observed(Observation::block(device, "dm/uuid", mapping.maker.clone().unwrap_or_default()))
        .run("randread-4k", path, "");
    is_os.then_some(finding)
}
