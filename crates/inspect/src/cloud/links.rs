//! Which of a VM's disks lies under a path, by the links that Azure's rules for udev make.
//!
//! | link | to |
//! |---|---|
//! | `scsi1/lunN`, `data/by-lun/N` | the data disk with that logical unit number |
//! | `root`, `os` | the disk of the operating system |
//!
//! Sources: `66-azure-storage.rules` of the Azure Linux agent, `80-azure-disk.rules` of
//! azure-vm-utils. Links to partitions have `-partN` at the end.

use std::fs;
use std::path::Path;

use crate::storage::storage;

/// Where the links are.
pub const AZURE_DISKS: &str = "/dev/disk/azure";

/// One of a VM's disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AzureDisk {
    /// That of the operating system.
    Os,
    /// A data disk.
    Data {
        /// Its logical unit number.
        lun: u32,
    },
}

/// The disk under `path`, a file, directory or device, by the links in `links` ([`AZURE_DISKS`]);
/// `None` if they tell none, or several.
pub fn azure_disk(path: &Path, links: &Path) -> Option<AzureDisk> {
    let devices = storage([path], []).devices;
    let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    among(&names, links)
}

fn among(devices: &[&str], links: &Path) -> Option<AzureDisk> {
    let leads_there = |link: &Path| {
        let node = link.canonicalize().ok();
        let name = node.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
        name.is_some_and(|name| devices.contains(&name))
    };
    let os = ["root", "os"].map(|name| (links.join(name), AzureDisk::Os));
    let data = data_links(&links.join("scsi1"), "lun");
    let data = data.into_iter().chain(data_links(&links.join("data/by-lun"), ""));
    let mut found = os.into_iter().chain(data).filter(|(link, _)| leads_there(link));
    let (_, disk) = found.next()?;
    found.all(|(_, other)| other == disk).then_some(disk)
}

/// The links of a directory that are called so and a number.
fn data_links(directory: &Path, prefix: &str) -> Vec<(std::path::PathBuf, AzureDisk)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let disk = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let lun = name.to_str()?.strip_prefix(prefix)?.parse().ok()?;
        Some((entry.path(), AzureDisk::Data { lun }))
    };
    entries.filter_map(disk).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_tell_the_disk_if_it_is_one() {
        let root = tempfile::tempdir().unwrap();
        let link = |device: &str, link: &str| {
            let (node, link) = (root.path().join(device), root.path().join(link));
            fs::write(&node, "").unwrap();
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(node, link).unwrap();
        };
        link("sda", "root");
        link("sda1", "root-part1");
        link("sdb", "resource");
        link("sdc", "scsi1/lun0");
        link("sdc1", "scsi1/lun0-part1");
        link("sdd", "scsi1/lun12");
        link("nvme0n1", "os");
        link("nvme0n2", "data/by-lun/3");
        let data = |lun| Some(AzureDisk::Data { lun });
        let found = |devices: &[&str]| among(devices, root.path());
        assert_eq!(found(&["sda1", "sda"]), Some(AzureDisk::Os));
        assert_eq!(found(&["dm-0", "sdc1", "sdc"]), data(0));
        assert_eq!(found(&["sdd"]), data(12));
        assert_eq!(found(&["nvme0n1p1", "nvme0n1"]), Some(AzureDisk::Os));
        assert_eq!(found(&["nvme0n2"]), data(3));
        // A stripe over two; a disk that is not of the VM's own; nothing at all.
        for unknown in [&["dm-0", "sdc", "sdd"][..], &["sdb"], &["sdc1"], &[]] {
            assert_eq!(found(unknown), None, "{unknown:?}");
        }
        assert_eq!(among(&["sda"], &root.path().join("none")), None);
    }
}
