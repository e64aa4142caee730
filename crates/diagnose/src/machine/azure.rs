//! Azure's hosts: encryption, caches, ephemeral disks, disk controllers.

use iotax_catalog::{Caching, Cloud, Limit, Scope, Vm};
use iotax_quantity::whole;
use iotax_record::machine::{Device, UsedAs};
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::{
    Certainty, Component, ComponentKind, Detail, DeviceAt, DiskUse, Field, Finder, Finding,
    Observation, Rule, Snapshot, Value, quoted, rule,
};

pub(super) const RULES: &[Rule] = &[
    rule(&["double-encryption"], Finder::Disk(double_encryption)),
    rule(&["azure-guest-encryption"], Finder::Disk(guest_encryption)),
    rule(&["host-cache-outgrown"], Finder::NetworkDisk(host_cache)),
    rule(&["ephemeral-os-partial-cache"], Finder::Disk(ephemeral_os)),
    rule(&["scsi-controller"], Finder::Once(controller)),
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
fn double_encryption(disk: &DeviceAt<'_, '_>) -> Option<Finding> {
    let (seen, path) = (disk.seen, disk.path);
    let is_local = seen.is_local(disk);
    let vm = seen.vm().filter(|_| is_local || may_be_local(seen, disk))?;
    let encrypted = encrypted_since(vm)?;
    let at_host = AtHost::of(seen);
    let certainty = match (at_host, encrypted) {
        (AtHost::Off, _) => return None,
        _ if !is_local || at_host == AtHost::Unknown => ToBeTested,
        (AtHost::Seen, Encrypted::Always) => Certainty::Snapshot,
        _ => Likely,
    };
    let why = AzureWhy::DoubleEncryption { vm: vm.to_owned(), encrypted, at_host, is_local };
    let finding = disk
        .finding(certainty, why)
        .on(about(disk))
        .observed_all(at_host.observation())
        .observed(size(seen, vm))
        .observed_all(is_local.then(|| lies_on_the_host(disk)))
        .run("driver-searcher", path, "--scale 0.05");
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
        let by_user = seen.choice.encryption_at_host;
        let by_cloud = seen.machine.cloud.as_ref().and_then(|cloud| cloud.encryption_at_host);
        match (by_user, by_cloud) {
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
            Self::Told => Some(Observation::by_user("encryption-at-host", "yes")),
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
        Some(_) => Observation::by_user("vm", vm),
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
fn lies_on_the_host(disk: &DeviceAt<'_, '_>) -> Observation {
    match (disk.seen.cloud_disk(disk), disk.used_as) {
        (Some(of_cloud), _) if of_cloud.is_ephemeral == Some(true) => is_on_host(),
        (_, Some(UsedAs::Temporary)) => {
            let cloud = disk.seen.machine.cloud.as_ref();
            let size = cloud.and_then(|cloud| cloud.temporary_disk_bytes);
            let size = size.map_or(Value::TemporaryDisk, Value::Bytes);
            Observation::metadata("compute.storageProfile.resourceDisk.size", size)
        }
        _ => Observation::model(disk),
    }
}

fn is_on_host() -> Observation {
    Observation::metadata("compute.storageProfile.osDisk.diffDiskSettings.option", "Local")
}

fn about(disk: &DeviceAt<'_, '_>) -> Component {
    let role = match disk.used_as {
        Some(UsedAs::Os) if disk.seen.is_local(disk) => DiskUse::EphemeralOs,
        Some(UsedAs::Os) => DiskUse::Os,
        Some(UsedAs::Temporary) => DiskUse::Temporary,
        Some(UsedAs::Data { .. }) => DiskUse::Data,
        None => DiskUse::Unknown,
    };
    Component::device(disk).with(Detail::Role(role)).of(disk.path)
}

/// Azure Disk Encryption, in the guest.
fn guest_encryption(disk: &DeviceAt<'_, '_>) -> Option<Finding> {
    let of_cloud = disk.seen.cloud_disk(disk)?;
    let field = "compute.storageProfile.osDisk.encryptionSettings.enabled";
    disk.finding(ToBeTested, AzureWhy::GuestEncryption)
        .on(about(disk))
        .observed(Observation::metadata(field, "true"))
        .run("randread-4k", disk.path, "--set depth=32")
        .when(of_cloud.is_guest_encrypted == Some(true))
}

/// A cached disk that is larger than the cache.
fn host_cache(disk: &DeviceAt<'_, '_>) -> Option<Finding> {
    let cache_bytes = disk.seen.vm_documented()?.cache_bytes?;
    let caching = disk.seen.cloud_disk(disk)?.caching.clone().unwrap_or_default();
    let is_cached = disk.seen.caching(disk) != Caching::None;
    disk.finding(ToBeTested, AzureWhy::HostCache { cache_bytes, disk_bytes: disk.size_bytes })
        .on(about(disk))
        .observed(Observation::metadata("compute.storageProfile.*.caching", caching))
        .observed(Observation::documented(Field::HostCache, Value::Bytes(cache_bytes)))
        .limits("", disk.path)
        .when(is_cached && disk.size_bytes > cache_bytes)
}

/// Blocks of the image that a remote disk still has.
fn ephemeral_os(disk: &DeviceAt<'_, '_>) -> Option<Finding> {
    let of_cloud = disk.seen.cloud_disk(disk)?;
    disk.finding(ToBeTested, AzureWhy::EphemeralOs)
        .on(about(disk))
        .observed(is_on_host())
        .run("randread-4k", disk.path, "")
        .when(of_cloud.is_os && of_cloud.is_ephemeral == Some(true))
}

/// Remote disks by SCSI, of a size that has more by `NVMe`.
fn controller(seen: &Snapshot<'_>) -> Option<Finding> {
    let uncached = |variant: &str| {
        let is_it = |vm: &&Vm| vm.variant.as_deref() == Some(variant);
        let mut limits = seen.variants().iter().find(is_it)?.limits.iter();
        let is_any =
            |limit: &&Limit| limit.scope == Scope::VmUncached && limit.disk_kinds.is_empty();
        Some(limits.find(is_any)?.iops.as_ref()?.sustained)
    };
    let (scsi_iops, nvme_iops) = (uncached("scsi")?, uncached("nvme")?);
    let is_scsi = |(disk, _): &(&Device, &str)| disk.transport.as_deref() == Some("scsi");
    let (device, path) = seen.network_disks().find(is_scsi)?;
    let size = seen.vm().unwrap_or_default();
    let of = |variant, iops: f64| {
        let field = Field::VmVariant { vm: size.to_owned(), variant };
        Observation::documented(field, Value::Count(whole(iops)))
    };
    let (about, why) =
        (Component::new(ComponentKind::Vm, size), AzureWhy::Scsi { scsi_iops, nvme_iops });
    Finding::new("scsi-controller", about, Likely, why)
        .observed(Observation::block(device, "device/subsystem", "scsi"))
        .observed(of("scsi", scsi_iops))
        .observed(of("nvme", nvme_iops))
        .command(format!("iotax limits --vm {} --variant scsi {}", quoted(size), quoted(path)))
        .when(seen.provider() == Some(Cloud::Azure) && nvme_iops > scsi_iops)
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
