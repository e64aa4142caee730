//! Azure's hosts: encryption, caches, ephemeral disks, disk controllers.

use iotax_catalog::{Caching, Cloud, Limit, Scope, Vm};
use iotax_quantity::whole;
use iotax_record::machine::{Device, UsedAs};
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, ComponentKind, Detail, DiskUse, Finding};
use crate::machine::observation::{Field, Observation, Value};
use crate::machine::snapshot::{Snapshot, quoted};

pub(super) const RULES: &[Rule] = &[
    rule(&["double-encryption"], Finder::Disk(double_encryption)),
    rule(&["azure-guest-encryption"], Finder::Disk(guest_encryption)),
    rule(&["host-cache-outgrown"], Finder::NetworkDisk(host_cache)),
    rule(&["ephemeral-os-partial-cache"], Finder::Disk(ephemeral_os)),
    rule(&["scsi-controller"], Finder::All(controller)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AzureWhy {
    DoubleEncryption { vm: String, encrypted: Encrypted, at_host: AtHost, is_local: bool },
    GuestEncryption,
    HostCache { cache_bytes: u64, disk_bytes: u64 },
    EphemeralOs,
    Scsi { scsi_iops: f64, nvme_iops: f64 },
}

/// From this generation of VM sizes on, hardware encrypts temporary and ephemeral OS disks.
const ENCRYPTED_SINCE: u32 = 5;

/// Encryption at Host where the local disks are encrypted by hardware.
fn double_encryption(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
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
    let why = AzureWhy::DoubleEncryption { vm: vm.to_owned(), encrypted, at_host, is_local };
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AtHost {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Encrypted {
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
            let size = size.map_or(Value::TemporaryDisk, Value::Bytes);
            Observation::metadata("compute.storageProfile.resourceDisk.size", size)
        }
        _ => Observation::block(device, "device/model", device.model.clone().unwrap_or_default()),
    }
}

fn about(seen: &Snapshot<'_>, device: &Device, path: &str) -> Component {
    let role = match device.used_as {
        Some(UsedAs::Os) if seen.is_local(device) => DiskUse::EphemeralOs,
        Some(UsedAs::Os) => DiskUse::Os,
        Some(UsedAs::Temporary) => DiskUse::Temporary,
        Some(UsedAs::Data { .. }) => DiskUse::Data,
        None => DiskUse::Unknown,
    };
    Component::device(device).with(Detail::Role(role)).of(path)
}

/// Azure Disk Encryption, in the guest.
fn guest_encryption(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let disk = seen.cloud_disk(device)?;
    let field = "compute.storageProfile.osDisk.encryptionSettings.enabled";
    let why = AzureWhy::GuestEncryption;
    let about = about(seen, device, path);
    let finding = Finding::new("azure-guest-encryption", about, Certainty::ToBeTested, why)
        .observed(Observation::metadata(field, "true"))
        .run("randread-4k", path, "--set depth=32");
    (disk.is_guest_encrypted == Some(true)).then_some(finding)
}

/// A cached disk that is larger than the cache.
fn host_cache(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let cache = seen.vm_documented()?.cache_bytes?;
    let disk = seen.cloud_disk(device)?;
    let is_cached = seen.caching(device) != Caching::None;
    let why = AzureWhy::HostCache { cache_bytes: cache, disk_bytes: device.size_bytes };
    let about = about(seen, device, path);
    let finding = Finding::new("host-cache-outgrown", about, Certainty::ToBeTested, why)
        .observed(Observation::metadata(
            "compute.storageProfile.*.caching",
            disk.caching.clone().unwrap_or_default(),
        ))
        .observed(Observation::documented(Field::HostCache, Value::Bytes(cache)))
        .limits("", path);
    (is_cached && device.size_bytes > cache).then_some(finding)
}

/// Blocks of the image that a remote disk still has.
fn ephemeral_os(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let disk = seen.cloud_disk(device)?;
    let field = "compute.storageProfile.osDisk.diffDiskSettings.option";
    let why = AzureWhy::EphemeralOs;
    let about = about(seen, device, path);
    let finding = Finding::new("ephemeral-os-partial-cache", about, Certainty::ToBeTested, why)
        .observed(Observation::metadata(field, "Local"))
        .run("randread-4k", path, "");
    (disk.is_os && disk.is_ephemeral == Some(true)).then_some(finding)
}

/// Remote disks by SCSI, of a size that has more by `NVMe`.
fn controller(seen: &Snapshot<'_>) -> Vec<Finding> {
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
    let why = AzureWhy::Scsi { scsi_iops: scsi, nvme_iops: nvme };
    let about = Component::new(ComponentKind::Vm, size);
    let of = |variant, iops: f64| {
        let field = Field::VmVariant { vm: size.to_owned(), variant };
        Observation::documented(field, Value::Count(whole(iops)))
    };
    let finding = Finding::new("scsi-controller", about, Certainty::Likely, why)
        .observed(Observation::block(device, "device/subsystem", "scsi"))
        .observed(of("scsi", scsi))
        .observed(of("nvme", nvme))
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
