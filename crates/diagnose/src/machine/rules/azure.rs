//! Azure's hosts: encryption, caches, ephemeral disks, disk controllers.

use iotax_catalog::{Caching, Cloud, Limit, Scope, Vm};
use iotax_quantity::bytes;
use iotax_record::machine::{Device, UsedAs};

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::{Snapshot, quoted};

/// From this generation of VM sizes on, hardware encrypts temporary and ephemeral OS disks.
const ENCRYPTED_SINCE: u32 = 5;

/// Encryption at Host where the local disks are encrypted by hardware.
pub(super) fn double_encryption(
    seen: &Snapshot<'_>,
    device: &Device,
    path: &str,
) -> Option<Finding> {
    if !seen.is_local(device) && !may_be_local(seen, device) {
        return None;
    }
    let at_host = AtHost::of(seen);
    let vm = seen.vm()?;
    let encrypted = encrypted_since(vm)?;
    if at_host == AtHost::Off {
        return None;
    }
    let is_local = seen.is_local(device);
    let certainty = match (at_host, encrypted) {
        _ if !is_local => Certainty::ToBeTested,
        (AtHost::Unknown | AtHost::Off, _) => Certainty::ToBeTested,
        (AtHost::Seen, Encrypted::Always) => Certainty::Snapshot,
        (AtHost::Seen | AtHost::Told, _) => Certainty::Likely,
    };
    let by_hardware = match encrypted {
        Encrypted::Always => format!("Hardware encrypts the local disks of {vm} already"),
        Encrypted::SinceAllocated => format!(
            "Local disks of {vm} are encrypted by hardware if it was allocated in 2023 or later"
        ),
    };
    let name = &device.name;
    let again = match at_host {
        AtHost::Seen | AtHost::Told => "and Encryption at Host encrypts them again",
        AtHost::Unknown | AtHost::Off => "and Encryption at Host would encrypt them again",
    };
    let then = match (is_local, at_host) {
        (true, AtHost::Seen | AtHost::Told) => {
            format!(": every I/O of {name} is encrypted twice.")
        }
        (true, _) => ". Nothing here tells whether it is on: say --fact \
                      encryption-at-host=yes, or no."
            .to_owned(),
        (false, _) => format!(
            ". Nothing here tells whether {name} is one of them{}.",
            if at_host == AtHost::Unknown { ", nor whether it is on" } else { "" }
        ),
    };
    let why = format!("{by_hardware}, {again}{then}");
    let finding = Finding::new("double-encryption", about(seen, device, path), certainty, why)
        .observed_if(at_host.observation())
        .observed(size(seen, vm))
        .observed_if(is_local.then(|| lies_on_the_host(seen, device)));
    let finding = finding.run("driver-searcher", path, "--scale 0.05");
    Some(match seen.network_disks().find(|(disk, _)| seen.caching(disk) == Caching::None) {
        Some((_, other)) if is_local => finding.command(format!(
            "iotax compare -w randread-4k uncached={} local={}",
            quoted(other),
            quoted(path)
        )),
        _ => finding.run("randread-4k", path, ""),
    })
}

/// Whether Encryption at Host is on, and who says so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtHost {
    /// The cloud's metadata: on.
    Seen,
    /// The user: on.
    Told,
    Off,
    /// Nobody says.
    Unknown,
}

impl AtHost {
    /// The user's word counts, as it does of the VM size.
    fn of(seen: &Snapshot<'_>) -> Self {
        let told = seen.choice.encryption_at_host;
        let found = seen.machine.cloud.as_ref().and_then(|cloud| cloud.encryption_at_host);
        match (told, found) {
            (Some(false), _) | (None, Some(false)) => Self::Off,
            (_, Some(true)) => Self::Seen,
            (Some(true), _) => Self::Told,
            (None, None) => Self::Unknown,
        }
    }

    fn observation(self) -> Option<Observation> {
        match self {
            Self::Seen => {
                let field = "compute.securityProfile.encryptionAtHost";
                Some(Observation::metadata(field, "true"))
            }
            Self::Told => Some(Observation::told("encryption-at-host", "yes")),
            Self::Off | Self::Unknown => None,
        }
    }
}

/// Which local disks of a size hardware encrypts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encrypted {
    Always,
    /// Lsv3: those that were allocated since 2023, in most regions.
    SinceAllocated,
}

fn encrypted_since(vm: &str) -> Option<Encrypted> {
    match generation(vm)? {
        ENCRYPTED_SINCE.. => Some(Encrypted::Always),
        3 if short(vm).starts_with('l') => Some(Encrypted::SinceAllocated),
        _ => None,
    }
}

/// Whether nothing tells where a disk is, on a size that has local ones: the cloud was not asked.
fn may_be_local(seen: &Snapshot<'_>, device: &Device) -> bool {
    let is_local = |limit: &Limit| matches!(limit.scope, Scope::VmTemporary | Scope::LocalNvme);
    let has_local = |vm: &Vm| vm.cloud == Cloud::Azure && vm.limits.iter().any(is_local);
    seen.machine.cloud.is_none()
        && device.used_as.is_none()
        && seen.variants().iter().any(has_local)
}

/// Who says which size it is.
fn size(seen: &Snapshot<'_>, vm: &str) -> Observation {
    match seen.choice.vm {
        Some(_) => Observation::told("vm", vm),
        None => Observation::metadata("compute.vmSize", vm),
    }
}

/// The name of a size as people write it: without what all of them begin with.
fn short(vm: &str) -> String {
    let lower = vm.to_ascii_lowercase();
    lower.strip_prefix("standard_").map_or(lower.clone(), str::to_owned)
}

/// The number behind the last `_v` of a size.
fn generation(vm: &str) -> Option<u32> {
    short(vm).rsplit_once("_v")?.1.parse().ok()
}

/// What tells that a disk is one of the host's.
fn lies_on_the_host(seen: &Snapshot<'_>, device: &Device) -> Observation {
    match (seen.cloud_disk(device), device.used_as) {
        (Some(disk), _) if disk.is_ephemeral == Some(true) => {
            Observation::metadata("compute.storageProfile.osDisk.diffDiskSettings.option", "Local")
        }
        (_, Some(UsedAs::Temporary)) => {
            let size = seen.machine.cloud.as_ref().and_then(|cloud| cloud.temporary_disk_bytes);
            let size = size.map_or("a temporary disk".to_owned(), |size| bytes(size as f64));
            Observation::metadata("compute.storageProfile.resourceDisk.size", size)
        }
        _ => Observation::block(device, "device/model", device.model.clone().unwrap_or_default()),
    }
}

fn about(seen: &Snapshot<'_>, device: &Device, path: &str) -> String {
    let what = match device.used_as {
        Some(UsedAs::Os) if seen.is_local(device) => "ephemeral OS disk",
        Some(UsedAs::Os) => "OS disk",
        Some(UsedAs::Temporary) => "temporary disk",
        Some(UsedAs::Data { .. }) => "data disk",
        None => "disk",
    };
    format!("{}, {what} of {path}", device.name)
}

/// Azure Disk Encryption, in the guest.
pub(super) fn guest_encryption(
    seen: &Snapshot<'_>,
    device: &Device,
    path: &str,
) -> Option<Finding> {
    let disk = seen.cloud_disk(device)?;
    let field = "compute.storageProfile.osDisk.encryptionSettings.enabled";
    let why = format!(
        "Azure encrypts {} at rest anyway; Azure Disk Encryption does it once more, with this \
         VM's CPUs.",
        device.name
    );
    let about = about(seen, device, path);
    let finding = Finding::new("azure-guest-encryption", about, Certainty::ToBeTested, why)
        .observed(Observation::metadata(field, "true"))
        .run("randread-4k", path, "--set depth=32");
    (disk.is_guest_encrypted == Some(true)).then_some(finding)
}

/// A cached disk that is larger than the cache.
pub(super) fn host_cache(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let cache = seen.vm_documented()?.cache_bytes?;
    let disk = seen.cloud_disk(device)?;
    let is_cached = seen.caching(device) != Caching::None;
    let why = format!(
        "The host caches {} for all cached disks, and {} holds {}: reads of more than the cache \
         holds count against the VM's cached and uncached limits and the disk's.",
        bytes(cache as f64),
        device.name,
        bytes(device.size_bytes as f64)
    );
    let about = about(seen, device, path);
    let finding = Finding::new("host-cache-outgrown", about, Certainty::ToBeTested, why)
        .observed(Observation::metadata(
            "compute.storageProfile.*.caching",
            disk.caching.clone().unwrap_or_default(),
        ))
        .observed(Observation::documented("host cache", bytes(cache as f64)))
        .limits("", path);
    (is_cached && device.size_bytes > cache).then_some(finding)
}

/// Blocks of the image that a remote disk still has.
pub(super) fn ephemeral_os(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let disk = seen.cloud_disk(device)?;
    let field = "compute.storageProfile.osDisk.diffDiskSettings.option";
    let why = "Unless full caching is on, blocks of the image that nothing has written since boot \
               are read from a remote disk, which may be a Standard HDD. Metadata does not tell.";
    let about = about(seen, device, path);
    let finding = Finding::new("ephemeral-os-partial-cache", about, Certainty::ToBeTested, why)
        .observed(Observation::metadata(field, "Local"))
        .run("randread-4k", path, "");
    (disk.is_os && disk.is_ephemeral == Some(true)).then_some(finding)
}

/// Remote disks by SCSI, of a size that has more by `NVMe`.
pub(super) fn controller(seen: &Snapshot<'_>) -> Vec<Finding> {
    let known = seen.variants();
    let uncached = |variant: &str| {
        let vm = known.iter().find(|vm| vm.variant.as_deref() == Some(variant))?;
        let limit = vm
            .limits
            .iter()
            .find(|limit| limit.scope == Scope::VmUncached && limit.disk_kinds.is_empty())?;
        Some(limit.iops.as_ref()?.sustained)
    };
    let (Some(scsi), Some(nvme)) = (uncached("scsi"), uncached("nvme")) else {
        return Vec::new();
    };
    let is_scsi = |(disk, _): &(&Device, &str)| disk.transport.as_deref() == Some("scsi");
    let Some((device, path)) = seen.network_disks().find(is_scsi) else { return Vec::new() };
    if seen.provider() != Some(Cloud::Azure) || nvme <= scsi {
        return Vec::new();
    }
    let size = seen.vm().unwrap_or_default();
    let why = format!(
        "{size} documents {scsi:.0} IOPS for its uncached disks by SCSI and {nvme:.0} by NVMe: {:.1} \
         times as many.",
        nvme / scsi
    );
    let finding = Finding::new("scsi-controller", size, Certainty::Likely, why)
        .observed(Observation::block(device, "device/subsystem", "scsi"))
        .observed(Observation::documented(format!("{size} (scsi), IOPS"), format!("{scsi:.0}")))
        .observed(Observation::documented(format!("{size} (nvme), IOPS"), format!("{nvme:.0}")))
        .command(format!("iotax limits --vm {} --variant scsi {}", quoted(size), quoted(path)));
    vec![finding]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generation_stands_at_the_end_of_a_size() {
        let sizes =
            ["Standard_E16d_v5", "Standard_D2ads_v6", "Standard_NV36adms_A10_v5", "Standard_DS1"];
        assert_eq!(sizes.map(generation), [Some(5), Some(6), Some(5), None]);
        assert_eq!(["r6i.4xlarge", "", "Standard_v"].map(generation), [None, None, None]);
        assert_eq!(["e16d_v5", "L8s_v3"].map(generation), [Some(5), Some(3)]);
    }
}
