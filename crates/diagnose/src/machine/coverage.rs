//! Which layers there are rules for, and what the rules lacked: "nothing was found" says little of a
//! layer that nobody looked at.

use iotax_catalog::Cloud;
use iotax_experiment::CloudChoice;
use iotax_record::Machine;
use iotax_record::machine::{Device, DeviceKind, MountSeen, Node, SeenLayer};
use serde::{Deserialize, Serialize};

use super::snapshot::{Snapshot, own_address};

/// What was looked at of one layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerCoverage {
    /// `/mnt/data (ext4)`, `md0 (raid6)`.
    pub layer: String,
    /// What it is: `9p`, `raid6`, `nvme disk`.
    pub kind: String,
    /// Whether there are rules for its kind.
    pub has_rules: bool,
    /// Facts that rules need and that are not known here.
    pub missing: Vec<String>,
}

/// File systems that rules know.
const FILE_SYSTEMS: [&str; 25] = [
    "ext2",
    "ext3",
    "ext4",
    "xfs",
    "btrfs",
    "bcachefs",
    "jfs",
    "zfs",
    "overlay",
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "9p",
    "virtiofs",
    "vboxsf",
    "vmhgfs",
    "prl_fs",
    "fakeowner",
    "osxfs",
    "tmpfs",
    "ramfs",
    "ntfs3",
    "fuse",
    "fuseblk",
];
/// Targets of device mapper that rules know.
const TARGETS: [&str; 9] = [
    "crypt",
    "integrity",
    "linear",
    "thin",
    "thin-pool",
    "snapshot",
    "snapshot-origin",
    "snapshot-merge",
    "raid",
];
/// Levels of software RAID that rules know.
const LEVELS: [&str; 6] = ["raid0", "raid1", "raid4", "raid5", "raid6", "raid10"];
/// Block devices that are no disks, though nothing lies below them here.
const OTHER_DEVICES: [(&str, &str); 7] = [
    ("rbd", "rbd"),
    ("drbd", "drbd"),
    ("nbd", "nbd"),
    ("bcache", "bcache"),
    ("zd", "zvol"),
    ("pmem", "pmem"),
    ("dasd", "dasd"),
];

/// What was looked at under the paths, each layer once, the uppermost first. Partitions and network
/// interfaces are left out.
pub fn coverage(machine: &Machine, choice: &CloudChoice) -> Vec<LayerCoverage> {
    let seen = Snapshot::new(machine, choice);
    let under = |node: &&Node| {
        machine
            .paths
            .iter()
            .any(|path| machine.under(path).iter().any(|it| std::ptr::eq(*it, *node)))
    };
    machine.nodes.iter().filter(under).filter_map(|node| of(&seen, &node.layer)).collect()
}

fn of(seen: &Snapshot<'_>, layer: &SeenLayer) -> Option<LayerCoverage> {
    let (name, kind, has_rules, missing) = match layer {
        SeenLayer::Mount(mount) => {
            let kind = mount.file_system.clone();
            let has_rules = FILE_SYSTEMS.contains(&kind.as_str()) || kind.starts_with("fuse.");
            (mount.mount_point.clone(), kind, has_rules, of_mount(mount))
        }
        SeenLayer::Device(device) if device.kind != DeviceKind::Partition => {
            let (kind, has_rules) = device_kind(device);
            (device.name.clone(), kind, has_rules, of_device(seen, device))
        }
        SeenLayer::Device(_) | SeenLayer::Route(_) | SeenLayer::Interface(_) => return None,
    };
    let missing = if has_rules { missing } else { Vec::new() };
    Some(LayerCoverage { layer: format!("{name} ({kind})"), kind, has_rules, missing })
}

/// What a device is, and whether there are rules for it.
fn device_kind(device: &Device) -> (String, bool) {
    let is_numbered = |prefix: &str| {
        let rest = device.name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
    };
    if let Some((_, kind)) = OTHER_DEVICES.iter().find(|(prefix, _)| is_numbered(prefix)) {
        return ((*kind).to_owned(), false);
    }
    match device.kind {
        DeviceKind::Raid => {
            let level = device.raid_level.clone().unwrap_or_else(|| "RAID".to_owned());
            let has_rules = LEVELS.contains(&level.as_str());
            (level, has_rules)
        }
        DeviceKind::Mapped => {
            let targets =
                device.mapping.iter().flat_map(|mapping| mapping.targets.iter().flatten());
            let mut kinds: Vec<&str> = targets.map(|target| target.kind.as_str()).collect();
            kinds.dedup();
            let unknown: Vec<&str> =
                kinds.iter().copied().filter(|kind| !TARGETS.contains(kind)).collect();
            let has_rules = unknown.is_empty();
            let told = if has_rules { &kinds } else { &unknown };
            (format!("device mapper {}", told.join(" + ")).trim_end().to_owned(), has_rules)
        }
        DeviceKind::Loop => ("loop device".to_owned(), true),
        DeviceKind::Memory => ("memory".to_owned(), true),
        DeviceKind::Disk | DeviceKind::Partition => {
            let by = device.transport.as_deref();
            (by.map_or("disk".to_owned(), |by| format!("{by} disk")), true)
        }
    }
}

fn of_mount(mount: &MountSeen) -> Vec<String> {
    let mut missing = Vec::new();
    let mut lacks = |is_unknown: bool, what: &str| {
        if is_unknown {
            missing.push(what.to_owned());
        }
    };
    match mount.file_system.as_str() {
        "nfs" | "nfs4" => {
            let nfs = mount.nfs.as_ref();
            lacks(
                nfs.is_none_or(|nfs| nfs.options.is_empty()),
                "statistics of the mount (/proc/self/mountstats)",
            );
            lacks(
                nfs.is_none_or(|nfs| nfs.network.is_none()),
                "the network interface to its server (ip route get)",
            );
            lacks(mount.read_ahead_bytes.is_none(), "its read-ahead (/sys/class/bdi)");
            let way = nfs.and_then(|nfs| nfs.network.as_ref());
            let is_own = own_address(mount).is_some();
            lacks(
                is_own && way.is_some_and(|way| way.listener.is_none()),
                "which process listens at its port (as root)",
            );
        }
        "zfs" => {
            lacks(mount.zfs.is_none(), "properties of the dataset (zfs get)");
            lacks(
                mount.zfs.as_ref().is_none_or(|zfs| zfs.vdevs.is_empty()),
                "the vdevs of its pool (zpool status)",
            );
        }
        "fuseblk" => lacks(mount.contents.is_none(), "which file system is on its device (blkid)"),
        _ => {}
    }
    missing
}

fn of_device(seen: &Snapshot<'_>, device: &Device) -> Vec<String> {
    match device.kind {
        DeviceKind::Mapped
            if device.mapping.as_ref().is_none_or(|mapping| mapping.targets.is_none()) =>
        {
            vec!["its table (as root: dmsetup table)".to_owned()]
        }
        DeviceKind::Raid
            if device.raid.is_none() && device.raid_level.as_deref() != Some("raid0") =>
        {
            vec![
                "its bitmap, its stripe cache and whether it rebuilds (/sys/block/mdN/md)"
                    .to_owned(),
            ]
        }
        DeviceKind::Disk => of_disk(seen, device),
        _ => Vec::new(),
    }
}

fn of_disk(seen: &Snapshot<'_>, disk: &Device) -> Vec<String> {
    let is_network = seen.network_disks().any(|(other, _)| std::ptr::eq(other, disk));
    if is_network {
        let is_known = seen.attached().iter().any(|one| std::ptr::eq(one.device, disk));
        let example = match seen.provider() {
            Some(Cloud::Azure) => "P30",
            Some(Cloud::Gcp) => "pd-ssd:size=500G",
            _ => "gp3:size=500G",
        };
        let kind = (!is_known).then(|| format!("which kind of disk it is (--fact disk={example})"));
        let has_limits = seen.vm_documented().is_some() || seen.vm().is_none();
        let vm = (!has_limits).then(|| "documented limits of this VM size".to_owned());
        return kind.into_iter().chain(vm).collect();
    }
    if seen.machine.environment.hypervisor.is_some() {
        // What it says of itself is what its hypervisor says.
        return match seen.provider() {
            Some(_) => Vec::new(),
            None => vec!["what it is on its hypervisor".to_owned()],
        };
    }
    let mut missing = Vec::new();
    if disk.queue.rotational.is_none() {
        missing.push("whether it rotates (queue/rotational)".to_owned());
    }
    if disk.queue.rotational != Some(false) && disk.model.is_none() {
        missing.push("its model, by which shingled drives are known".to_owned());
    }
    missing
}

#[cfg(test)]
mod tests {
    use iotax_record::machine::{MappedTarget, Mapping, NfsSeen, PathSeen, ZfsSeen};

    use super::*;

    fn under(layers: Vec<SeenLayer>) -> Vec<LayerCoverage> {
        let last = layers.len() - 1;
        let node = |(at, layer)| {
            let below = if at < last { vec![at + 1] } else { Vec::new() };
            Node { layer, below }
        };
        let nodes = layers.into_iter().enumerate().map(node).collect();
        let paths = vec![PathSeen { path: "/x".to_owned(), top: Some(0), ..PathSeen::default() }];
        coverage(&Machine { nodes, paths, ..Machine::default() }, &CloudChoice::default())
    }

    fn mount(file_system: &str) -> MountSeen {
        let (mount_point, file_system) = ("/x".to_owned(), file_system.to_owned());
        MountSeen { mount_point, file_system, ..MountSeen::default() }
    }

    fn mapped(kind: &str) -> SeenLayer {
        let target = MappedTarget { kind: kind.to_owned(), ..MappedTarget::default() };
        let mapping = Mapping { targets: Some(vec![target]), ..Mapping::default() };
        let (name, kind) = ("dm-0".to_owned(), DeviceKind::Mapped);
        SeenLayer::Device(Device { name, kind, mapping: Some(mapping), ..Device::default() })
    }

    #[test]
    fn layers_without_rules_are_told_apart() {
        let of = |layer| under(vec![layer]).remove(0);
        for known in ["ext4", "9p", "fuse.sshfs", "zfs", "nfs4"] {
            assert!(of(SeenLayer::Mount(mount(known))).has_rules, "{known}");
        }
        for unknown in ["gfs2", "ceph", "lustre", "f2fs"] {
            let found = of(SeenLayer::Mount(mount(unknown)));
            assert_eq!((found.has_rules, found.kind.as_str()), (false, unknown));
            assert_eq!(found.layer, format!("/x ({unknown})"));
        }
        assert!(of(mapped("crypt")).has_rules);
        let cache = of(mapped("cache"));
        assert_eq!((cache.has_rules, cache.kind.as_str()), (false, "device mapper cache"));
        let named = |name: &str| Device { name: name.to_owned(), ..Device::default() };
        assert_eq!(of(SeenLayer::Device(named("rbd0"))).kind, "rbd");
        assert!(!of(SeenLayer::Device(named("zd16"))).has_rules);
        assert!(of(SeenLayer::Device(named("sda"))).has_rules);
        let raid = |level: &str| {
            let (kind, raid_level) = (DeviceKind::Raid, Some(level.to_owned()));
            of(SeenLayer::Device(Device { kind, raid_level, ..named("md0") }))
        };
        assert!(raid("raid6").has_rules && !raid("linear").has_rules);
    }

    #[test]
    fn what_rules_lack_is_named() {
        let missing = |layer| under(vec![layer]).remove(0).missing;
        assert_eq!(missing(SeenLayer::Mount(mount("nfs4"))).len(), 3);
        assert_eq!(missing(SeenLayer::Mount(mount("zfs"))).len(), 2);
        let zfs = Some(ZfsSeen::default());
        assert_eq!(missing(SeenLayer::Mount(MountSeen { zfs, ..mount("zfs") })).len(), 1);
        assert_eq!(missing(SeenLayer::Mount(mount("ext4"))), [""; 0]);
        let nfs = Some(NfsSeen { options: "rw".to_owned(), ..NfsSeen::default() });
        assert_eq!(missing(SeenLayer::Mount(MountSeen { nfs, ..mount("nfs") })).len(), 2);
        let disk = Device { name: "sda".to_owned(), ..Device::default() };
        assert_eq!(missing(SeenLayer::Device(disk)).len(), 2);
    }
}
