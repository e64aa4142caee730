//! A block device: what it is, how it is attached, and what its driver says.

use std::fs;
use std::path::Path;

use iotax_record::machine::{Device, DeviceKind, LoopFile, Mapping};

use super::interrupts::per_cpu;
use super::queue::queue;
use super::raid::raid;
use crate::block::{file_name, model, number_in, size_bytes, text_in};
use crate::stack::device_name;

/// `VIRTIO_F_ACCESS_PLATFORM`: the device sees memory as other devices do, through their rules.
const ACCESS_PLATFORM_BIT: usize = 33;

/// The device with this directory in sysfs, without links. A partition has no queue of its own:
/// its disk stands below it.
pub(super) fn device(node: &Path, interrupts: &str) -> Device {
    let name = device_name(node);
    let kind = kind(node, &name);
    let mut device = Device {
        number: text_in(&node.join("dev")).unwrap_or_default(),
        size_bytes: size_bytes(node),
        kind,
        name,
        ..Device::default()
    };
    if kind == DeviceKind::Partition {
        return device;
    }
    device.model = model(node);
    device.queue = queue(node);
    device.transport = transport(node);
    device.mapping = mapping(node);
    device.loop_file = loop_file(node);
    device.raid_level = text_in(&node.join("md/level"));
    device.raid = raid(node);
    // Levels without stripes say 0.
    device.stripe_bytes = number_in(&node.join("md/chunk_size")).filter(|bytes| *bytes > 0);
    device.virtio_access_platform = node
        .ancestors()
        .find(|above| is_numbered(above, "virtio"))
        .and_then(|virtio| access_platform(&text_in(&virtio.join("features"))?));
    let owner = node
        .ancestors()
        .skip(1)
        .find(|path| is_numbered(path, "nvme") || is_numbered(path, "virtio"));
    if let Some(owner) = owner.and_then(file_name) {
        device.interrupts_per_cpu = per_cpu(interrupts, &owner);
    }
    device
}

fn kind(node: &Path, name: &str) -> DeviceKind {
    let numbered = |prefix| is_numbered(Path::new(name), prefix);
    if node.join("partition").exists() {
        DeviceKind::Partition
    } else if node.join("dm").exists() {
        DeviceKind::Mapped
    } else if node.join("md").exists() {
        DeviceKind::Raid
    } else if numbered("loop") {
        DeviceKind::Loop
    } else if numbered("zram") || numbered("ram") {
        DeviceKind::Memory
    } else {
        DeviceKind::Disk
    }
}

/// Whether the last part of a path is this word and a number.
fn is_numbered(path: &Path, word: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix(word)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The bus that the disk itself is on. An `NVMe` disk's is its class: it stands below a controller,
/// or below the subsystem of several.
fn transport(node: &Path) -> Option<String> {
    let bus = file_name(&fs::canonicalize(node.join("device/subsystem")).ok()?)?;
    Some(if bus.starts_with("nvme") { "nvme".to_owned() } else { bus })
}

fn mapping(node: &Path) -> Option<Mapping> {
    let name = text_in(&node.join("dm/name"))?;
    let uuid = text_in(&node.join("dm/uuid"));
    let maker = uuid.as_deref().and_then(|uuid| uuid.split('-').next()).map(str::to_owned);
    Some(Mapping { name, maker, targets: None })
}

fn loop_file(node: &Path) -> Option<LoopFile> {
    let path = fs::read_to_string(node.join("loop/backing_file")).ok()?;
    let is_direct = number_in(&node.join("loop/dio")).map(|flag| flag != 0);
    Some(LoopFile { path: path.trim_end_matches('\n').to_owned(), is_direct })
}

/// Bit 33 of the features, which are written from bit 0 on, a character each.
fn access_platform(features: &str) -> Option<bool> {
    features.as_bytes().get(ACCESS_PLATFORM_BIT).map(|bit| *bit == b'1')
}

#[cfg(test)]
mod tests {
    use super::*;
    use DeviceKind::{Disk, Loop, Mapped, Memory, Partition, Raid};
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    fn made_up(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn at(root: &tempfile::TempDir, node: &str) -> PathBuf {
        root.path().join(node)
    }

    #[test]
    fn a_virtio_disk_tells_its_features_and_interrupts() {
        let features = format!("{}1{}\n", "0".repeat(33), "0".repeat(30));
        let root = made_up(&[
            ("pci/virtio1/block/vda/dev", "254:0\n"),
            ("pci/virtio1/block/vda/size", "2048\n"),
            ("pci/virtio1/features", &features),
            ("bus/virtio/x", ""),
        ]);
        let node = at(&root, "pci/virtio1/block/vda");
        symlink(at(&root, "pci/virtio1"), node.join("device")).unwrap();
        symlink(at(&root, "bus/virtio"), at(&root, "pci/virtio1/subsystem")).unwrap();
        let found = device(&node, "    CPU0 CPU1\n 9: 5 6 edge virtio1-req.0\n");
        assert_eq!((found.name.as_str(), found.number.as_str()), ("vda", "254:0"));
        assert_eq!((found.kind, found.size_bytes), (Disk, 1 << 20));
        assert_eq!(found.transport.as_deref(), Some("virtio"));
        assert_eq!(found.virtio_access_platform, Some(true));
        assert_eq!(found.interrupts_per_cpu, [5, 6]);
    }

    #[test]
    fn an_nvme_disk_has_its_controllers_interrupts() {
        let root = made_up(&[
            ("pci/nvme/nvme0/model", "Amazon Elastic Block Store\n"),
            ("pci/nvme/nvme0/nvme0n1/dev", "259:0\n"),
            ("class/nvme/x", ""),
        ]);
        let node = at(&root, "pci/nvme/nvme0/nvme0n1");
        symlink(at(&root, "pci/nvme/nvme0"), node.join("device")).unwrap();
        symlink(at(&root, "class/nvme"), at(&root, "pci/nvme/nvme0/subsystem")).unwrap();
        let found = device(&node, "CPU0\n9: 5 edge nvme0q1\n");
        assert_eq!(found.transport.as_deref(), Some("nvme"));
        assert_eq!(found.model.as_deref(), Some("Amazon Elastic Block Store"));
        assert_eq!((found.interrupts_per_cpu, found.virtio_access_platform), (vec![5], None));
    }

    #[test]
    fn stacked_devices_say_what_they_are_made_of() {
        let root = made_up(&[
            ("dm-0/dm/name", "luks-1\n"),
            ("dm-0/dm/uuid", "CRYPT-LUKS2-ab-luks-1\n"),
            ("md0/md/level", "raid0\n"),
            ("md0/md/chunk_size", "65536\n"),
            ("md1/md/level", "raid1\n"),
            ("md1/md/chunk_size", "0\n"),
            ("loop3/loop/backing_file", "/a b\n"),
            ("loop3/loop/dio", "1\n"),
            ("zram0/size", "0\n"),
            ("sda/sda1/partition", "1\n"),
            ("sda/queue/rotational", "1\n"),
        ]);
        let read = |name: &str| device(&at(&root, name), "");
        let mapping = read("dm-0").mapping.unwrap();
        assert_eq!((mapping.name.as_str(), mapping.maker.as_deref()), ("luks-1", Some("CRYPT")));
        let raid = read("md0");
        assert_eq!((raid.raid_level.as_deref(), raid.stripe_bytes), (Some("raid0"), Some(65536)));
        assert_eq!(read("md1").stripe_bytes, None);
        let file = LoopFile { path: "/a b".to_owned(), is_direct: Some(true) };
        assert_eq!(read("loop3").loop_file, Some(file));
        let kinds =
            ["dm-0", "md0", "loop3", "zram0", "sda", "sda/sda1"].map(|name| read(name).kind);
        assert_eq!(kinds, [Mapped, Raid, Loop, Memory, Disk, Partition]);
        assert_eq!(read("sda/sda1").queue.rotational, None, "its disk says so");
    }

    #[test]
    fn bit_33_counts_from_the_first_character() {
        assert_eq!(access_platform("0010"), None);
        assert_eq!(access_platform(&"0".repeat(64)), Some(false));
    }
}
