//! A block device: its type, its bus, and what its driver reports.

use std::fs;
use std::path::Path;

use iotax_record::machine::{Device, DeviceKind, LoopFile, Mapping, Queue, RaidSeen};

use super::kernel::per_cpu;
use crate::block::{file_name, model, names_in, number_in, size_bytes, text_in};
use crate::stack::device_name;

/// `VIRTIO_F_ACCESS_PLATFORM`: the device sees memory as other devices do, through their rules.
const ACCESS_PLATFORM_BIT: usize = 33;

/// The device with this directory in sysfs, without links. A partition has no queue; its disk is
/// the layer below it.
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
    // Levels without stripes report 0.
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

/// The bus of the disk itself. For an `NVMe` disk, it is its class: the disk is below a controller,
/// or below a subsystem of several controllers.
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

/// Bit 33 of the features, which are written as one character per bit, bit 0 first.
fn access_platform(features: &str) -> Option<bool> {
    features.as_bytes().get(ACCESS_PLATFORM_BIT).map(|bit| *bit == b'1')
}

/// The queue settings of a disk: `/sys/block/NAME/queue`, described in the kernel's
/// `Documentation/ABI/stable/sysfs-block`.
fn queue(disk: &Path) -> Queue {
    let queue = disk.join("queue");
    let number = |name: &str| number_in(&queue.join(name));
    let text = |name: &str| text_in(&queue.join(name));
    let kib = |name: &str| number(name)?.checked_mul(1024);
    let flag = |name: &str| number(name).map(|flag| flag != 0);
    let queues = names_in(&disk.join("mq"));
    Queue {
        rotational: flag("rotational"),
        zoned: text("zoned"),
        logical_block_bytes: number("logical_block_size"),
        physical_block_bytes: number("physical_block_size"),
        scheduler: text("scheduler").and_then(|text| chosen(&text)),
        requests: number("nr_requests"),
        depth: number_in(&disk.join("device/queue_depth")),
        hardware_queues: (!queues.is_empty()).then_some(queues.len() as u64),
        read_ahead_bytes: kib("read_ahead_kb"),
        max_io_bytes: kib("max_sectors_kb"),
        max_hardware_io_bytes: kib("max_hw_sectors_kb"),
        no_merges: number("nomerges"),
        completion_affinity: number("rq_affinity"),
        write_cache: text("write_cache"),
        forced_unit_access: flag("fua"),
        discard_max_bytes: number("discard_max_bytes"),
        timeout_ms: number("io_timeout"),
        writeback_throttling_us: number("wbt_lat_usec"),
    }
}

/// The word in brackets of `[none] mq-deadline kyber`; without brackets there is no choice.
fn chosen(text: &str) -> Option<String> {
    let in_brackets = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let word = in_brackets.map_or(text, |(word, _)| word).trim();
    (!word.is_empty()).then(|| word.to_owned())
}

/// The state of a software RAID: `/sys/block/mdN/md/`, described in the kernel's
/// `Documentation/admin-guide/md.rst`.
fn raid(node: &Path) -> Option<RaidSeen> {
    let md = node.join("md");
    if !md.is_dir() {
        return None;
    }
    let number = |name: &str| number_in(&md.join(name));
    let text = |name: &str| text_in(&md.join(name));
    Some(RaidSeen {
        members: number("raid_disks"),
        missing: number("degraded"),
        action: text("sync_action"),
        bitmap: text("bitmap/location"),
        policy: text("consistency_policy"),
        stripe_cache: number("stripe_cache_size"),
        threads: number("group_thread_cnt"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use DeviceKind::{Disk, Loop, Mapped, Memory, Partition, Raid};
    use proptest::prelude::*;
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

    #[test]
    fn an_array_tells_what_it_does_and_lacks() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(raid(root.path()), None);
        let files = [
            ("raid_disks", "4\n"),
            ("degraded", "1\n"),
            ("sync_action", "recover\n"),
            ("bitmap/location", "+8\n"),
            ("stripe_cache_size", "256\n"),
            ("consistency_policy", "bitmap\n"),
        ];
        for (name, text) in files {
            let path = root.path().join("md").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let expected = RaidSeen {
            members: Some(4),
            missing: Some(1),
            action: Some("recover".to_owned()),
            bitmap: Some("+8".to_owned()),
            policy: Some("bitmap".to_owned()),
            stripe_cache: Some(256),
            threads: None,
        };
        assert_eq!(raid(root.path()), Some(expected));
    }

    #[test]
    fn settings_are_in_bytes_and_what_is_absent_is_none() {
        let disk = tempfile::tempdir().unwrap();
        let files = [
            ("queue/rotational", "1\n"),
            ("queue/scheduler", "none [mq-deadline] kyber\n"),
            ("queue/nr_requests", "128\n"),
            ("queue/read_ahead_kb", "8\n"),
            ("queue/max_sectors_kb", "1280\n"),
            ("queue/write_cache", "write back\n"),
            ("queue/fua", "0\n"),
            ("queue/wbt_lat_usec", "-1\n"),
            ("device/queue_depth", "32\n"),
            ("mq/0/cpu_list", "0\n"),
            ("mq/1/cpu_list", "1\n"),
        ];
        for (name, text) in files {
            let path = disk.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let expected = Queue {
            rotational: Some(true),
            scheduler: Some("mq-deadline".to_owned()),
            requests: Some(128),
            depth: Some(32),
            hardware_queues: Some(2),
            read_ahead_bytes: Some(8 << 10),
            max_io_bytes: Some(1280 << 10),
            write_cache: Some("write back".to_owned()),
            forced_unit_access: Some(false),
            ..Queue::default()
        };
        assert_eq!(queue(disk.path()), expected);
        assert_eq!(queue(Path::new("/no/such/disk")), Queue::default());
    }

    #[test]
    fn the_scheduler_in_brackets_is_the_chosen_one() {
        assert_eq!(chosen("[none] mq-deadline").as_deref(), Some("none"));
        assert_eq!(chosen("none").as_deref(), Some("none"));
        assert_eq!(chosen("[]"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".*", brackets in r"[\[\] a]{0,9}") {
            chosen(&text);
            chosen(&brackets);
        }
    }
}
