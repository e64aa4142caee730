//! A block device as sysfs shows it: `/sys/dev/block/<major>:<minor>`.
//!
//! The attributes are described in the kernel's `Documentation/ABI/stable/sysfs-block`.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Major and minor number of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceNumber {
    /// Major number: the driver.
    pub major: u32,
    /// Minor number: the device of this driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// Parses `254:0`, the format of sysfs and mountinfo.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// A disk or a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDevice {
    /// The kernel's name, e.g. `nvme0n1p2`.
    pub name: String,
    pub number: DeviceNumber,
    /// The disk a partition belongs to.
    pub disk: Option<String>,
    /// The vendor's name of the disk, or its type, e.g. `virtio disk`.
    pub model: Option<String>,
    pub size_bytes: u64,
    /// Smallest I/O that the device supports.
    pub logical_block_bytes: Option<u32>,
    /// Whether the device reports rotating platters; many hypervisors report them for any disk.
    pub rotational: Option<bool>,
    /// Whether the device refuses writes.
    pub read_only: bool,
    /// Names of its partitions.
    pub partitions: Vec<String>,
    /// Device numbers of its partitions, in the same order.
    pub partition_numbers: Vec<DeviceNumber>,
    /// Devices stacked on it (device mapper, md, bcache) that hold it open.
    pub holders: Vec<String>,
    /// Mount points of its file system or of those on its partitions.
    pub mounted_at: Vec<PathBuf>,
}

impl BlockDevice {
    /// The device with this number, from a sysfs mounted at `sysfs`. `None` if there is none, as
    /// for the anonymous numbers of btrfs, overlay and network file systems. `mounted_at` is empty,
    /// because sysfs does not contain mounts.
    pub(crate) fn read(sysfs: &Path, number: DeviceNumber) -> Option<Self> {
        let node = fs::canonicalize(sysfs.join("dev/block").join(number.to_string())).ok()?;
        let name = file_name(&node)?;
        let is_partition = node.join("partition").exists();
        let disk = disk_of(&node);
        let (partitions, partition_numbers) = partitions(&node).into_iter().unzip();
        Some(Self {
            number,
            model: model(disk),
            size_bytes: size_bytes(&node),
            logical_block_bytes: number_in(&disk.join("queue/logical_block_size"))
                .and_then(|bytes| u32::try_from(bytes).ok()),
            rotational: number_in(&disk.join("queue/rotational")).map(|flag| flag != 0),
            read_only: number_in(&node.join("ro")).is_some_and(|flag| flag != 0),
            partitions,
            partition_numbers,
            holders: names_in(&node.join("holders")),
            mounted_at: Vec::new(),
            disk: if is_partition { file_name(disk) } else { None },
            name,
        })
    }
}

/// The directory of a device's disk; the directory of a partition has neither queue nor device.
pub(crate) fn disk_of(node: &Path) -> &Path {
    let disk = if node.join("partition").exists() { node.parent() } else { None };
    disk.unwrap_or(node)
}

/// The name that the disk reports, otherwise the kernel's name for its type.
pub(crate) fn model(disk: &Path) -> Option<String> {
    let name = file_name(disk)?;
    if let Some(mapped) = text_in(&disk.join("dm/name")) {
        // The part of the UUID before the first dash names the creator of the mapping.
        let kind = text_in(&disk.join("dm/uuid"));
        let kind = kind.as_deref().and_then(|uuid| uuid.split_once('-')).map(|(kind, _)| kind);
        return Some(format!("device mapper {} ({mapped})", kind.unwrap_or("target")));
    }
    if let Some(file) = text_in(&disk.join("loop/backing_file")) {
        return Some(format!("loop device on {file}"));
    }
    if let Some(level) = text_in(&disk.join("md/level")) {
        return Some(format!("md {level}"));
    }
    let model = text_in(&disk.join("device/model"));
    let vendor = text_in(&disk.join("device/vendor")).filter(|vendor| !vendor.starts_with("0x"));
    match (vendor, model) {
        (Some(vendor), Some(model)) => Some(format!("{vendor} {model}")),
        (None, Some(model)) => Some(model),
        _ => bus(disk).or_else(|| name.starts_with("zram").then(|| "compressed memory".to_owned())),
    }
}

/// For disks without a model: their bus.
fn bus(disk: &Path) -> Option<String> {
    let bus = file_name(&fs::canonicalize(disk.join("device/subsystem")).ok()?)?;
    Some(format!("{bus} disk"))
}

fn partitions(disk: &Path) -> Vec<(String, DeviceNumber)> {
    let mut found: Vec<_> = names_in(disk)
        .into_iter()
        .filter(|name| disk.join(name).join("partition").exists())
        .filter_map(|name| {
            let number = DeviceNumber::parse(&text_in(&disk.join(&name).join("dev"))?)?;
            Some((name, number))
        })
        .collect();
    found.sort_by_key(|(_, number)| *number);
    found
}

pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub(crate) fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

/// A file of one line; `None` if absent or empty.
pub(crate) fn line_of(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// A sysfs attribute without surrounding blanks; `None` if absent or empty.
pub(crate) fn text_in(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// Size of the device with this directory. Sizes in sysfs count 512-byte sectors, whatever the
/// sector size of the device.
pub(crate) fn size_bytes(node: &Path) -> u64 {
    number_in(&node.join("size")).unwrap_or(0).saturating_mul(512)
}

pub(crate) fn number_in(path: &Path) -> Option<u64> {
    text_in(path)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::symlink;

    /// A sysfs with one device directory and the given attributes, below `devices/`.
    fn sysfs(number: &str, node: &str, attributes: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("devices").join(node);
        fs::create_dir_all(&directory).unwrap();
        fs::create_dir_all(root.path().join("dev/block")).unwrap();
        for (path, text) in attributes {
            let path = root.path().join("devices").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        symlink(&directory, root.path().join("dev/block").join(number)).unwrap();
        root
    }

    #[test]
    fn a_partition_gets_model_and_queue_from_its_disk() {
        let root = sysfs(
            "259:2",
            "nvme0n1/nvme0n1p2",
            &[
                ("nvme0n1/device/model", "Amazon Elastic Block Store              \n"),
                ("nvme0n1/queue/logical_block_size", "512\n"),
                ("nvme0n1/queue/rotational", "0\n"),
                ("nvme0n1/nvme0n1p2/partition", "2\n"),
                ("nvme0n1/nvme0n1p2/size", "2048\n"),
                ("nvme0n1/nvme0n1p2/ro", "0\n"),
                ("nvme0n1/nvme0n1p2/holders/dm-0/dev", "253:0\n"),
            ],
        );
        let device = BlockDevice::read(root.path(), DeviceNumber { major: 259, minor: 2 }).unwrap();
        assert_eq!(device.name, "nvme0n1p2");
        assert_eq!(device.disk.as_deref(), Some("nvme0n1"));
        assert_eq!(device.model.as_deref(), Some("Amazon Elastic Block Store"));
        assert_eq!((device.size_bytes, device.logical_block_bytes), (1 << 20, Some(512)));
        assert_eq!((device.rotational, device.read_only), (Some(false), false));
        assert_eq!(device.holders, ["dm-0"]);
    }

    #[test]
    fn a_disk_knows_its_partitions() {
        let root = sysfs(
            "8:0",
            "sda",
            &[
                ("sda/device/vendor", "ATA     \n"),
                ("sda/device/model", "Samsung SSD 870 \n"),
                ("sda/ro", "1\n"),
                ("sda/sda1/partition", "1\n"),
                ("sda/sda1/dev", "8:1\n"),
                ("sda/sda10/partition", "10\n"),
                ("sda/sda10/dev", "8:10\n"),
                ("sda/queue/rotational", "1\n"),
            ],
        );
        let device = BlockDevice::read(root.path(), DeviceNumber { major: 8, minor: 0 }).unwrap();
        assert_eq!(device.partitions, ["sda1", "sda10"]);
        assert_eq!(device.model.as_deref(), Some("ATA Samsung SSD 870"));
        assert!(device.read_only);
        assert_eq!(device.disk, None);
    }

    #[test]
    fn stacked_devices_say_what_they_are() {
        let crypt = [("dm-0/dm/name", "root_crypt\n"), ("dm-0/dm/uuid", "CRYPT-LUKS2-ab-cd\n")];
        let cases = [
            ("dm-0", &crypt[..], "device mapper CRYPT (root_crypt)"),
            ("loop3", &[("loop3/loop/backing_file", "/img\n")], "loop device on /img"),
            ("md0", &[("md0/md/level", "raid1\n")], "md raid1"),
        ];
        for (name, attributes, expected) in cases {
            let root = sysfs("9:9", name, attributes);
            let device =
                BlockDevice::read(root.path(), DeviceNumber { major: 9, minor: 9 }).unwrap();
            assert_eq!(device.model.as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_virtio_disk_without_a_model_is_named_by_its_bus() {
        let root = sysfs("254:0", "vda", &[("virtio1/x", ""), ("bus/virtio/x", "")]);
        let devices = root.path().join("devices");
        symlink(devices.join("virtio1"), devices.join("vda/device")).unwrap();
        symlink(devices.join("bus/virtio"), devices.join("virtio1/subsystem")).unwrap();
        let device = BlockDevice::read(root.path(), DeviceNumber { major: 254, minor: 0 }).unwrap();
        assert_eq!(device.model.as_deref(), Some("virtio disk"));
    }

    #[test]
    fn a_number_without_a_device_is_none() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(BlockDevice::read(root.path(), DeviceNumber { major: 0, minor: 44 }), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_number_parser_panic(text in ".*", a in ".*", b in ".*") {
            DeviceNumber::parse(&text);
            DeviceNumber::parse(&format!("{a}:{b}"));
        }
    }
}
