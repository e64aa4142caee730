//! Confidential virtual machines: bounce buffers, limits of their sizes, their OS disk.

use iotax_catalog::{Limit, Scope, vm_variant};
use iotax_quantity::{bytes, list, mb_per_s, percent};
use iotax_record::machine::{Device, UsedAs};

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::{Snapshot, quoted};

/// The kernel's complaint about a pool without room.
const FULL: &str = "swiotlb buffer is full";
/// Share of the pool that is too near to all of it.
const NEARLY_FULL: f64 = 0.9;
const POOL: &str = "/sys/kernel/debug/swiotlb";

fn kind(seen: &Snapshot<'_>) -> Option<Observation> {
    let confidential = &seen.machine.confidential;
    let kind = confidential.kind.as_deref()?;
    let file = confidential.seen_in.as_deref().unwrap_or("instance metadata");
    Some(Observation::file(file, kind))
}

/// Copies of all data through shared memory.
pub(super) fn bounce_buffers(seen: &Snapshot<'_>) -> Option<Finding> {
    let kind = kind(seen)?;
    // Without the bit a virtio disk does not go through the pool.
    let copied = |(disk, _): &(&Device, &str)| disk.virtio_access_platform != Some(false);
    let disks: Vec<_> = seen.bottom().filter(copied).collect();
    let (_, path) = disks.first()?;
    let names: Vec<_> = disks.iter().map(|(disk, _)| disk.name.as_str()).collect();
    let most = most_used(seen);
    let is_used = most > 0;
    let used = if is_used {
        format!(" Up to {} of them were in use at a time.", bytes(most as f64))
    } else {
        String::new()
    };
    let certainty = if is_used { Certainty::Likely } else { Certainty::ToBeTested };
    let why = format!(
        "The host cannot read the memory of this {} machine, so data of {} are copied through \
         bounce buffers.{used}",
        kind.value,
        list(&names)
    );
    let virtio = disks.iter().any(|(disk, _)| disk.virtio_access_platform == Some(true));
    Some(
        Finding::new("bounce-buffers", names.join(", "), certainty, why)
            .observed(kind)
            .observed_if(is_used.then(|| {
                Observation::file(format!("{POOL}/io_tlb_used_hiwater"), bytes(most as f64))
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
pub(super) fn full_pool(seen: &Snapshot<'_>) -> Vec<Finding> {
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
    let used = if size > 0 {
        let share = percent(most as f64 / size as f64);
        let since = seen.since_boot();
        format!("At most {share} of the pool of {} were in use {since}", bytes(size as f64))
    } else {
        "The pool had no room".to_owned()
    };
    let why = format!("{used}: what finds no room waits or is tried again.");
    let values = |file: &str, value: u64| {
        (size > 0).then(|| Observation::file(format!("{POOL}/{file}"), bytes(value as f64)))
    };
    vec![
        Finding::new("bounce-buffers-full", "swiotlb", certainty, why)
            .observed_if(
                complaint.map(|line| Observation::field("kernel log", FULL, line.as_str())),
            )
            .observed_if(values("io_tlb_nslabs", size))
            .observed_if(values("io_tlb_used_hiwater", most))
            .run("seqread-1m", &path.path, "--set depth=64"),
    ]
}

/// A confidential size whose sibling has more.
pub(super) fn lower_limits(seen: &Snapshot<'_>) -> Option<Finding> {
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
        let bytes = limit.bw_bytes.as_ref().map_or(0.0, iotax_catalog::Rate::peak);
        (iops, bytes)
    };
    let (has, could) = (peak(&own), peak(&other));
    let figures = |(iops, bytes): (f64, f64)| format!("{iops:.0} IOPS and {}", mb_per_s(bytes));
    let why = format!(
        "{} documents at most {} for uncached disks, {} at most {}.",
        vm.name,
        figures(has),
        sibling.name,
        figures(could)
    );
    let command = format!("iotax limits --vm {} {}", quoted(&vm.name), quoted(&path.path));
    let finding = Finding::new("confidential-vm-limits", vm.name.as_str(), Certainty::Likely, why)
        .observed(Observation::documented(vm.name.as_str(), figures(has)))
        .observed(Observation::documented(sibling.name.as_str(), figures(could)))
        .command(command);
    (could.0 > has.0 || could.1 > has.1).then_some(finding)
}

/// The OS disk of a confidential VM, encrypted in the guest.
pub(super) fn os_disk(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let kind = kind(seen)?;
    let mapping = device.mapping.as_ref().filter(|mapping| mapping.is_crypt())?;
    let is_os = seen.disks(device).iter().any(|disk| disk.used_as == Some(UsedAs::Os));
    let why = format!(
        "{} encrypts the OS disk with this machine's CPUs, and what it writes is copied through \
         bounce buffers besides.",
        device.name
    );
    let about = format!("{} ({})", device.name, mapping.name);
    let finding = Finding::new("confidential-os-disk", about, Certainty::ToBeTested, why)
        .observed(kind)
        .observed(Observation::block(device, "dm/uuid", mapping.maker.clone().unwrap_or_default()))
        .run("randread-4k", path, "");
    is_os.then_some(finding)
}
