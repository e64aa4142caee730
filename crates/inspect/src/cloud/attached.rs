//! How a cloud uses a device, according to the links that its agents make below `/dev/disk` and to
//! the models of its disks.
//!
//! Sources: the udev rules of `WALinuxAgent` (`66-azure-storage.rules`), of `azure-vm-utils`
//! (`80-azure-disk.rules`) and of Google's guest configs (`65-gce-disk-naming.rules`); for the
//! namespaces of Azure's remote disks `azure-nvme-id` of `azure-vm-utils`.

use std::collections::BTreeMap;
use std::path::Path;

use iotax_record::CloudInstance;
use iotax_record::machine::UsedAs;

use crate::block::{file_name, names_in};
use crate::stack::{is_on_system_disk, storage};

/// Where links to disks are.
pub const DISK_LINKS: &str = "/dev/disk";
/// Directories in which agents of clouds put theirs.
const DIRECTORIES: [&str; 5] =
    ["azure", "azure/scsi1", "azure/data/by-lun", "azure/local/by-index", "by-id"];

/// The links to each device, by the device's name: `azure/data/by-lun/0`, `by-id/google-data`.
#[derive(Debug, Default)]
pub(crate) struct Links(BTreeMap<String, Vec<String>>);

impl Links {
    /// The links below `/dev/disk`.
    pub(crate) fn read(disk: &Path) -> Self {
        let mut links = Self::default();
        for directory in DIRECTORIES {
            for name in names_in(&disk.join(directory)) {
                let Ok(device) = disk.join(directory).join(&name).canonicalize() else { continue };
                // Directories among the links are not used.
                if let Some(device) = file_name(&device) {
                    links.0.entry(device).or_default().push(format!("{directory}/{name}"));
                }
            }
        }
        links
    }

    fn to(&self, device: &str) -> impl Iterator<Item = &str> {
        self.0.get(device).into_iter().flatten().map(String::as_str)
    }
}

/// How the cloud uses the disk under `path` (a file, directory or device), according to the links
/// below `disk` ([`DISK_LINKS`]), its model, or `/` being on it. `None` if nothing shows it, or if
/// several disks are under the path.
pub fn cloud_disk(path: &Path, disk: &Path, cloud: Option<&CloudInstance>) -> Option<UsedAs> {
    let devices = storage([path], []).devices;
    let named = devices.iter().map(|device| (device.name.as_str(), device.model.as_deref()));
    let told = only(named, &Links::read(disk), cloud);
    told.or_else(|| is_on_system_disk(path).then_some(UsedAs::Os))
}

fn only<'a>(
    devices: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    links: &Links,
    cloud: Option<&CloudInstance>,
) -> Option<UsedAs> {
    let mut found = devices.filter_map(|(name, model)| used_as(name, model, links, cloud));
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

/// The use of the disk `name`, if anything shows it.
pub(crate) fn used_as(
    name: &str,
    model: Option<&str>,
    links: &Links,
    cloud: Option<&CloudInstance>,
) -> Option<UsedAs> {
    // For a path of a multipath disk, the disk itself.
    let head = head_of(name);
    let name = head.as_deref().unwrap_or(name);
    links.to(name).find_map(|link| by_link(link, cloud)).or_else(|| by_model(name, model?))
}

fn by_link(link: &str, cloud: Option<&CloudInstance>) -> Option<UsedAs> {
    if let Some(name) = link.strip_prefix("by-id/google-") {
        return by_google_name(name, cloud?);
    }
    let azure = link.strip_prefix("azure/")?;
    let lun = azure.strip_prefix("scsi1/lun").or_else(|| azure.strip_prefix("data/by-lun/"));
    match azure {
        "root" | "os" => Some(UsedAs::Os),
        "resource" => Some(UsedAs::Temporary),
        _ if azure.starts_with("local/") => Some(UsedAs::Temporary),
        _ => Some(UsedAs::Data { lun: Some(lun?.parse().ok()?) }),
    }
}

/// Google's links have the names from its metadata, except for local disks.
fn by_google_name(name: &str, cloud: &CloudInstance) -> Option<UsedAs> {
    if name.starts_with("local-ssd-") || name.starts_with("local-nvme-ssd-") {
        return Some(UsedAs::Temporary);
    }
    let disk = cloud.disks.iter().find(|disk| disk.name.as_deref() == Some(name))?;
    Some(match (disk.is_os, disk.is_ephemeral) {
        (true, _) => UsedAs::Os,
        (false, Some(true)) => UsedAs::Temporary,
        (false, _) => UsedAs::Data { lun: None },
    })
}

fn by_model(name: &str, model: &str) -> Option<UsedAs> {
    if model.starts_with("Microsoft NVMe Direct Disk")
        || model.starts_with("Amazon EC2 NVMe Instance Storage")
    {
        return Some(UsedAs::Temporary);
    }
    // Azure's remote disks are namespaces of one controller. The first is the operating system
    // disk; data disks follow in the order of their logical unit numbers, from 2 on.
    if model.starts_with("MSFT NVMe Accelerator") {
        let namespace: u32 = name.rsplit_once('n')?.1.parse().ok()?;
        return match namespace {
            1 => Some(UsedAs::Os),
            other => Some(UsedAs::Data { lun: Some(other.checked_sub(2)?) }),
        };
    }
    None
}

/// `nvme0n1` of its path `nvme0c1n1`.
fn head_of(name: &str) -> Option<String> {
    let (subsystem, rest) = name.strip_prefix("nvme")?.split_once('c')?;
    let (_controller, namespace) = rest.split_once('n')?;
    Some(format!("nvme{subsystem}n{namespace}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_record::CloudDisk;
    use proptest::prelude::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn links(of: &[(&str, &str)]) -> Links {
        let root = tempfile::tempdir().unwrap();
        let disk = root.path().join("disk");
        for (link, device) in of {
            let node = root.path().join(device);
            fs::write(&node, "").unwrap();
            let link = disk.join(link);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(node, link).unwrap();
        }
        Links::read(&disk)
    }

    #[test]
    fn azures_links_tell_what_a_disk_is_for() {
        let links = links(&[
            ("azure/root", "sda"),
            ("azure/root-part1", "sda1"),
            ("azure/resource", "sdb"),
            ("azure/scsi1/lun3", "sdc"),
            ("azure/data/by-lun/10", "nvme0n12"),
            ("azure/os", "nvme0n1"),
            ("azure/local/by-index/1", "nvme1n1"),
        ]);
        let used_as = |name| used_as(name, None, &links, None);
        assert_eq!(used_as("sda"), Some(UsedAs::Os));
        assert_eq!(used_as("sdb"), Some(UsedAs::Temporary));
        assert_eq!(used_as("sdc"), Some(UsedAs::Data { lun: Some(3) }));
        assert_eq!(used_as("nvme0n12"), Some(UsedAs::Data { lun: Some(10) }));
        assert_eq!(used_as("nvme0c0n12"), Some(UsedAs::Data { lun: Some(10) }));
        assert_eq!(used_as("nvme0n1"), Some(UsedAs::Os));
        assert_eq!(used_as("nvme1n1"), Some(UsedAs::Temporary));
        assert_eq!([used_as("sda1"), used_as("sdz")], [None, None]);
    }

    #[test]
    fn a_path_on_several_disks_is_on_none_of_them() {
        let links = links(&[
            ("azure/os", "nvme0n1"),
            ("azure/scsi1/lun0", "sdc"),
            ("azure/scsi1/lun12", "sdd"),
        ]);
        let only = |names: &[&str]| only(names.iter().map(|name| (*name, None)), &links, None);
        let data = |lun| Some(UsedAs::Data { lun: Some(lun) });
        assert_eq!(only(&["dm-0", "sdc1", "sdc"]), data(0));
        assert_eq!(only(&["sdd"]), data(12));
        assert_eq!(only(&["nvme0n1p1", "nvme0n1"]), Some(UsedAs::Os));
        for unknown in [&["dm-0", "sdc", "sdd"][..], &["sdb"], &["sdc1"], &[]] {
            assert_eq!(only(unknown), None, "{unknown:?}");
        }
    }

    #[test]
    fn googles_links_have_the_names_of_its_metadata() {
        let links = links(&[
            ("by-id/google-boot", "sda"),
            ("by-id/google-data", "sdb"),
            ("by-id/google-other", "sdc"),
            ("by-id/google-local-nvme-ssd-0", "nvme0n1"),
            ("by-id/wwn-0x1", "sdb"),
        ]);
        let disk = |name: &str, is_os| CloudDisk {
            name: Some(name.to_owned()),
            is_os,
            ..CloudDisk::default()
        };
        let disks = vec![disk("boot", true), disk("data", false)];
        let cloud = CloudInstance { disks, ..CloudInstance::default() };
        let used_as = |name| used_as(name, None, &links, Some(&cloud));
        assert_eq!(used_as("sda"), Some(UsedAs::Os));
        assert_eq!(used_as("sdb"), Some(UsedAs::Data { lun: None }));
        assert_eq!(used_as("sdc"), None);
        assert_eq!(used_as("nvme0n1"), Some(UsedAs::Temporary));
    }

    #[test]
    fn without_links_models_tell() {
        let none = Links::read(Path::new("/no/such/place"));
        let used_as = |name, model| used_as(name, Some(model), &none, None);
        let accelerator = "MSFT NVMe Accelerator v1.0";
        assert_eq!(used_as("nvme0n1", "Microsoft NVMe Direct Disk v2"), Some(UsedAs::Temporary));
        assert_eq!(used_as("nvme0n1", accelerator), Some(UsedAs::Os));
        assert_eq!(used_as("nvme0n2", accelerator), Some(UsedAs::Data { lun: Some(0) }));
        assert_eq!(used_as("nvme0n0", accelerator), None);
        let instance = "Amazon EC2 NVMe Instance Storage";
        assert_eq!(used_as("nvme1n1", instance), Some(UsedAs::Temporary));
        assert_eq!(used_as("nvme1n1", "Amazon Elastic Block Store"), None);
    }

    proptest! {
        #[test]
        fn no_name_makes_it_panic(name in "[a-z0-9/-]{0,20}", text in ".*") {
            used_as(&name, Some(&text), &Links::default(), None);
            used_as(&format!("nvme{name}"), Some("MSFT NVMe Accelerator"), &Links::default(), None);
            by_link(&text, None);
            by_link(&format!("azure/{name}"), None);
        }
    }
}
