//! Confidential virtual machines: bounce buffers, limits of their sizes, their OS disk.

use iotax_catalog::{Limit, Rate, Scope, vm_variant};
use iotax_record::machine::{Device, UsedAs};
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::{
    At, Certainty, Component, ComponentKind, Finder, Finding, Observation, PeakLimit, Rule, Since,
    Snapshot, Source, Value, quoted, rule,
};

pub(super) const RULES: &[Rule] = &[
    rule(&["bounce-buffers"], Finder::Once(bounce_buffers)),
    rule(&["bounce-buffers-full"], Finder::Once(full_pool)),
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
    let (disks, paths): (Vec<_>, Vec<_>) = seen.bottom().filter(copied).unzip();
    let path = paths.first()?;
    let used_bytes = Some(most_used(seen)).filter(|most| *most > 0);
    let certainty = if used_bytes.is_some() { Likely } else { ToBeTested };
    let about: Vec<_> = disks.iter().map(|disk| Component::device(disk)).collect();
    let virtio = disks.iter().any(|disk| disk.virtio_access_platform == Some(true));
    let bit = || Observation::field("/sys/bus/virtio/devices/*/features", "bit 33", "set");
    let why = ConfidentialWhy::Bounce { kind: kind.to_owned(), used_bytes };
    Finding::new("bounce-buffers", about, certainty, why)
        .observed(kind_seen(seen, kind))
        .observed_all(used_bytes.map(|most| pool_file("io_tlb_used_hiwater", most)))
        .observed_all(virtio.then(bit))
        .run("randread-4k", path, "--set depth=32")
        .run("seqread-1m", path, "--set depth=32")
        .into()
}

fn pool_file(file: &str, bytes: u64) -> Observation {
    Observation::file(format!("{POOL}/{file}"), Value::Bytes(bytes))
}

/// Most of the pool that was in use at a time.
fn most_used(seen: &Snapshot<'_>) -> u64 {
    let pool = seen.machine.confidential.swiotlb.as_ref();
    pool.map_or(0, |pool| pool.most_used_bytes.unwrap_or(0).max(pool.used_bytes))
}

/// A pool that ran full, or nearly.
fn full_pool(seen: &Snapshot<'_>) -> Option<Finding> {
    let confidential = &seen.machine.confidential;
    let complaint = confidential.log.iter().find(|line| line.contains(FULL));
    let pool = confidential.swiotlb.as_ref().filter(|pool| pool.size_bytes > 0);
    let most = most_used(seen);
    let is_near =
        |bytes: u64| pool.is_some_and(|pool| bytes as f64 >= NEARLY_FULL * pool.size_bytes as f64);
    // The most that there ever was may be long ago.
    let certainty = match (complaint, pool) {
        (Some(_), _) => Certainty::Snapshot,
        (None, Some(pool)) if is_near(pool.used_bytes) => Likely,
        (None, _) => ToBeTested,
    };
    let share = pool.map(|pool| (most as f64 / pool.size_bytes as f64, pool.size_bytes));
    let why = ConfidentialWhy::FullPool { most: share, since: seen.since_boot(None) };
    let logged = complaint.map(|line| Observation::field(Source::KernelLog, FULL, line.as_str()));
    let sizes = pool.map(|pool| {
        [pool_file("io_tlb_nslabs", pool.size_bytes), pool_file("io_tlb_used_hiwater", most)]
    });
    Finding::new("bounce-buffers-full", ComponentKind::BouncePool, certainty, why)
        .observed_all(logged)
        .observed_all(sizes.into_iter().flatten())
        .run("seqread-1m", &seen.first_place()?.path, "--set depth=64")
        .when(complaint.is_some() || is_near(most))
}

/// A confidential size whose sibling has more.
fn lower_limits(seen: &Snapshot<'_>) -> Option<Finding> {
    let vm = seen.vm_documented()?;
    // Standard_DC8as_v5, Standard_EC8as_v5
    let rest = vm.name.strip_prefix("Standard_")?;
    let family = ["DC", "EC"].into_iter().find(|family| rest.starts_with(family))?;
    let sibling = format!("Standard_{}{}", &family[..1], rest.strip_prefix(family)?);
    let sibling = vm_variant(&sibling, None).ok()?;
    let (path, _) = (seen.first_place()?, kind(seen)?);
    let peak = |limits: &[Limit]| {
        let limit = limits.iter().find(|limit| limit.scope == Scope::VmUncached)?;
        let [iops, bytes_per_s] =
            [&limit.iops, &limit.bw_bytes].map(|rate| rate.as_ref().map_or(0.0, Rate::peak));
        Some(PeakLimit { iops, bytes_per_s })
    };
    let (has, could) = (peak(&vm.limits)?, peak(&sibling.limits)?);
    let why = ConfidentialWhy::LowerLimits { has, sibling: sibling.name.clone(), could };
    let about = Component::new(ComponentKind::Vm, vm.name.as_str());
    Finding::new("confidential-vm-limits", about, Likely, why)
        .observed(Observation::documented(vm.name.as_str(), Value::Peak(has)))
        .observed(Observation::documented(sibling.name.as_str(), Value::Peak(could)))
        .limits(&format!(" --vm {}", quoted(&vm.name)), &path.path)
        .when(could.iops > has.iops || could.bytes_per_s > has.bytes_per_s)
}

/// The OS disk of a confidential VM, encrypted in the guest.
fn os_disk(device: &At<'_, '_, Device>) -> Option<Finding> {
    let kind = kind(device.seen)?;
    let mapping = device.mapping.as_ref().filter(|mapping| mapping.is_crypt())?;
    let disks = device.seen.disks(device);
    let maker = mapping.maker.clone().unwrap_or_default();
    device
        .finding(ToBeTested, ConfidentialWhy::OsDisk)
        .on(Component::mapped(device))
        .observed(kind_seen(device.seen, kind))
        .observed(Observation::block(device, "dm/uuid", maker))
        .run("randread-4k", device.path, "")
        .when(disks.iter().any(|disk| disk.used_as == Some(UsedAs::Os)))
}
