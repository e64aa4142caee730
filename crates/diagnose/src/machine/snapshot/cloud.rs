//! The cloud around the machine: its VM, which of its disks a device is, what is documented of
//! them.

use std::cell::OnceCell;

use iotax_catalog::{
    Caching, Cloud, DiskExpectation, Expectation, Setup, Vm, attached_disk, disk, disk_names,
    expect, vm,
};
use iotax_record::CloudDisk;
use iotax_record::machine::{Device, DeviceKind, UsedAs};

use super::{Snapshot, quoted};

/// Azure's model names of `NVMe` disks of the host.
const AZURE_LOCAL: &str = "NVMe Direct Disk";
/// AWS's model name of disks of the host.
const AWS_LOCAL: &str = "Instance Storage";
/// Google Cloud's model name of disks of the host, by SCSI.
const GOOGLE_LOCAL: &str = "EphemeralDisk";
const GIB: u64 = 1 << 30;

/// A disk of the cloud whose kind is known, by its name in the catalogue.
#[derive(Debug, Clone)]
pub(crate) struct Attached<'a> {
    pub device: &'a Device,
    pub path: &'a str,
    /// `P30`, `gp3:size=500G`.
    pub name: String,
    pub caching: Caching,
}

/// Answers of the catalogue, which reads its tables anew for each question.
#[derive(Debug, Default)]
pub(super) struct Documents<'a> {
    vms: OnceCell<Vec<Vm>>,
    attached: OnceCell<Vec<Attached<'a>>>,
    expectation: OnceCell<Option<Expectation>>,
}

impl<'a> Snapshot<'a> {
    /// Whose VM this is.
    pub(crate) fn provider(&self) -> Option<Cloud> {
        let told = self.machine.cloud.as_ref().and_then(|told| match told.cloud.as_str() {
            "Azure" => Some(Cloud::Azure),
            "AWS" => Some(Cloud::Aws),
            "Google Cloud" => Some(Cloud::Gcp),
            _ => None,
        });
        told.or_else(|| self.variants().first().map(|vm| vm.cloud))
    }

    /// Disks at the bottom of the stacks, each with a path on it.
    pub(crate) fn bottom(&self) -> impl Iterator<Item = (&'a Device, &'a str)> {
        self.devices().filter(|(device, _)| device.kind == DeviceKind::Disk)
    }

    /// What the cloud tells of a device.
    pub(crate) fn cloud_disk(&self, device: &Device) -> Option<&'a CloudDisk> {
        let told = &self.machine.cloud.as_ref()?.disks;
        match device.used_as? {
            UsedAs::Os => told.iter().find(|disk| disk.is_os),
            UsedAs::Temporary => None,
            UsedAs::Data { lun } => {
                let lun = lun?;
                told.iter().find(|disk| !disk.is_os && disk.lun == Some(lun))
            }
        }
    }

    /// Whether a device is a disk of the host that it runs on.
    pub(crate) fn is_local(&self, device: &Device) -> bool {
        let model = device.model.as_deref().unwrap_or_default();
        let is_ephemeral =
            self.cloud_disk(device).is_some_and(|disk| disk.is_ephemeral == Some(true));
        // Google Cloud's own disks are nvme_card-pd.
        let is_googles = model.contains(GOOGLE_LOCAL)
            || model.starts_with("nvme_card") && !model.starts_with("nvme_card-pd");
        device.used_as == Some(UsedAs::Temporary)
            || is_googles
            || is_ephemeral
            || model.contains(AZURE_LOCAL)
            || model.contains(AWS_LOCAL)
    }

    /// Disks that the cloud attaches by its network.
    pub(crate) fn network_disks(&self) -> impl Iterator<Item = (&'a Device, &'a str)> {
        let has_cloud = self.provider().is_some();
        self.bottom().filter(move |(device, _)| has_cloud && !self.is_local(device))
    }

    /// The VM size in the catalogue: one, or its variants by disk controller.
    pub(crate) fn variants(&self) -> &[Vm] {
        let look = || self.vm().and_then(|name| vm(name).ok()).unwrap_or_default();
        self.documents.vms.get_or_init(look)
    }

    /// The variant that this is, where the controller changes the limits.
    fn variant(&self) -> Option<String> {
        if let Some(said) = &self.choice.variant {
            return Some(said.clone());
        }
        let known = self.variants();
        let is_known = |word: &&str| known.iter().any(|vm| vm.variant.as_deref() == Some(word));
        let mut transports = self.network_disks().filter_map(|(disk, _)| disk.transport.as_deref());
        transports.find(is_known).map(str::to_owned)
    }

    pub(crate) fn vm_documented(&self) -> Option<&Vm> {
        let variant = self.variant();
        let is_it = |vm: &&Vm| variant.is_none() || vm.variant == variant;
        let mut fitting = self.variants().iter().filter(is_it);
        fitting.next().filter(|_| fitting.next().is_none())
    }

    /// The disks whose kind is known: because the user says it, or the cloud.
    pub(crate) fn attached(&self) -> &[Attached<'a>] {
        let known = |(device, path): (&'a Device, &'a str)| {
            let (name, caching) = self
                .disk_by_user(path)
                .or_else(|| Some((self.disk_by_cloud(device)?, self.caching(device))))?;
            Some(Attached { device, path, name, caching })
        };
        self.documents.attached.get_or_init(|| self.network_disks().filter_map(known).collect())
    }

    /// What the documents promise of them: beside the VM if they can be, else alone.
    pub(crate) fn expectation(&self) -> Option<&Expectation> {
        let look = || {
            let disks = self.attached().iter().map(|one| attached_disk(&one.name, one.caching));
            let disks = disks.collect::<Result<Vec<_>, _>>().ok()?;
            let vm = self.vm().map(str::to_owned);
            let setup = Setup { vm, variant: self.variant(), disks };
            let alone = Setup { vm: None, variant: None, ..setup.clone() };
            expect(&setup).or_else(|_| expect(&alone)).ok()
        };
        self.documents.expectation.get_or_init(look).as_ref()
    }

    /// The disks whose kind is known, with what is documented of each.
    pub(crate) fn documented(&self) -> impl Iterator<Item = (&Attached<'a>, &DiskExpectation)> {
        let documented = self.expectation().map_or(&[][..], |all| &all.disks);
        self.attached().iter().zip(documented)
    }

    /// The options of commands that set a measurement beside the documents.
    pub(crate) fn options(&self, one: &Attached<'_>) -> String {
        let has_vm = self.expectation().is_some_and(|expectation| expectation.vm.is_some());
        let vm = if has_vm { self.vm_options() } else { String::new() };
        let caching = match one.caching {
            Caching::None => "",
            Caching::ReadOnly => " --caching readonly",
            Caching::ReadWrite => " --caching readwrite",
        };
        vm + &format!(" --disk {}{caching}", quoted(&one.name))
    }

    /// Those that name the VM.
    pub(crate) fn vm_options(&self) -> String {
        let Some(vm) = self.vm_documented() else { return String::new() };
        let variant = vm.variant.as_ref().map(|word| format!(" --variant {word}"));
        format!(" --vm {}{}", quoted(&vm.name), variant.unwrap_or_default())
    }

    /// What the user says that the disk of a path is.
    fn disk_by_user(&self, path: &str) -> Option<(String, Caching)> {
        let at = self.machine.paths.iter().position(|seen| seen.path == path)?;
        let caching = self.choice.caching.as_deref().and_then(Caching::parse).unwrap_or_default();
        let (_, caching) = attached_disk(self.choice.disk(at)?, caching).ok()?;
        Some((self.choice.disk(at)?.to_owned(), caching))
    }

    /// What the cloud says that a device is.
    fn disk_by_cloud(&self, device: &Device) -> Option<String> {
        match self.provider()? {
            Cloud::Azure => {
                let told = self.cloud_disk(device)?;
                let tier = told.tier.clone().filter(|tier| disk(tier).is_ok());
                tier.or_else(|| tier_of(told.kind.as_deref()?, told.size_bytes?))
            }
            Cloud::Gcp => {
                let kind = match self.kind_told(device)? {
                    "PERSISTENT-SSD" => "pd-ssd",
                    "PERSISTENT-BALANCED" => "pd-balanced",
                    _ => return None,
                };
                Some(format!("{kind}:size={}G", device.size_bytes / GIB))
            }
            Cloud::Aws => None,
        }
    }

    /// What Google Cloud says that a disk is. Which data disk is which is not told: it is known
    /// only where all are of a kind.
    pub(crate) fn kind_told(&self, device: &Device) -> Option<&'a str> {
        let is_os = device.used_as == Some(UsedAs::Os);
        let disks = self.machine.cloud.iter().flat_map(|cloud| &cloud.disks);
        let disks: Vec<_> =
            disks.filter(|disk| disk.is_os == is_os && disk.is_ephemeral != Some(true)).collect();
        let kind = disks.first()?.kind.as_deref()?;
        disks.iter().all(|disk| disk.kind.as_deref() == Some(kind)).then_some(kind)
    }

    /// What the host caches of a device.
    pub(crate) fn caching(&self, device: &Device) -> Caching {
        let told = self.cloud_disk(device).and_then(|disk| disk.caching.as_deref());
        told.and_then(Caching::parse).unwrap_or_default()
    }
}

/// The smallest of Azure's tiers of this kind that holds a disk of this size: what it is billed as.
fn tier_of(kind: &str, size_bytes: u64) -> Option<String> {
    let letter = match kind.split('_').next()? {
        "Premium" => 'P',
        "StandardSSD" => 'E',
        "Standard" => 'S',
        _ => return None,
    };
    let is_tier = |name: &String| {
        let number = name.strip_prefix(letter);
        number.is_some_and(|number| !number.is_empty() && number.parse::<u32>().is_ok())
    };
    let tiers = disk_names(Cloud::Azure).into_iter().filter(is_tier);
    tiers
        .filter_map(|name| Some((disk(&name).ok()?.size_bytes?, name)))
        .filter(|(largest, _)| *largest >= size_bytes)
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_has_the_tier_that_it_is_billed_as() {
        let tier = |kind, gib: u64| tier_of(kind, gib * GIB);
        assert_eq!(tier("Premium_LRS", 1024).as_deref(), Some("P30"));
        assert_eq!(tier("Premium_ZRS", 1025).as_deref(), Some("P40"));
        assert_eq!(tier("StandardSSD_LRS", 512).as_deref(), Some("E20"));
        assert_eq!(tier("UltraSSD_LRS", 512), None);
        assert_eq!(tier("Premium_LRS", u64::MAX / GIB), None);
    }
}
