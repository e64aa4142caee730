//! Which layers there are rules for, and what the rules lacked: "nothing was found" says little of
//! a layer that nobody looked at.

use iotax_catalog::Cloud;
use iotax_experiment::CloudChoice;
use iotax_record::Machine;
use iotax_record::machine::{Device, DeviceKind, MountSeen, Node, SeenLayer};
use serde::Serialize;

use super::guest::answered_by;
use super::snapshot::{Snapshot, own_address};

/// What was looked at of one layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerCoverage {
    /// `/mnt/data`, `md0`.
    pub name: String,
    pub kind: LayerKind,
    /// Whether there are rules for its kind.
    pub has_rules: bool,
    /// Facts that rules need and that are not known here.
    pub missing: Vec<Lack>,
}

/// What a layer is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    // `9p`, `raid6`, `drbd`.
    Named(String),
    Raid,
    // Its targets in the device mapper; where there are rules for some, the others.
    Mapped(Vec<String>),
    Loop,
    Memory,
    Disk { transport: Option<String> },
}

/// A fact that rules need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    NfsStatistics,
    NfsInterface,
    ReadAhead,
    Listener,
    ZfsProperties,
    ZfsVdevs,
    ContentsOfDevice,
    MapperTable,
    RaidState,
    KindOfDisk { example: &'static str },
    VmLimits,
    WhatItIs,
    Rotation,
    Model,
}

/// File systems that rules know, beside shares of a host's directory.
const FILE_SYSTEMS: [&str; 19] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "bcachefs", "jfs", "zfs", "overlay", "nfs", "nfs4",
    "cifs", "smb3", "9p", "tmpfs", "ramfs", "ntfs3", "fuse", "fuseblk",
];
/// Targets of device mapper that rules know.
const TARGETS: [&str; 9] = [
    "crypt", "integrity", "linear", "thin", "thin-pool", "snapshot", "snapshot-origin",
    "snapshot-merge", "raid",
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
            let kind = mount.file_system.as_str();
            let has_rules = FILE_SYSTEMS.contains(&kind)
                || kind.starts_with("fuse.")
                || answered_by(kind).is_some();
            let kind = LayerKind::Named(kind.to_owned());
            (mount.mount_point.clone(), kind, has_rules, of_mount(mount))
        }
        SeenLayer::Device(device) if device.kind != DeviceKind::Partition => {
            let (kind, has_rules) = device_kind(device);
            (device.name.clone(), kind, has_rules, of_device(seen, device))
        }
        SeenLayer::Device(_) | SeenLayer::Route(_) | SeenLayer::Interface(_) => return None,
    };
    let missing = missing.into_iter().filter(|(is_unknown, _)| has_rules && *is_unknown);
    let missing = missing.map(|(_, lack)| lack).collect();
    Some(LayerCoverage { name, kind, has_rules, missing })
}

/// What a device is, and whether there are rules for it.
fn device_kind(device: &Device) -> (LayerKind, bool) {
    let is_numbered = |prefix: &str| {
        let rest = device.name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
    };
    if let Some((_, kind)) = OTHER_DEVICES.iter().find(|(prefix, _)| is_numbered(prefix)) {
        return (LayerKind::Named((*kind).to_owned()), false);
    }
    match device.kind {
        DeviceKind::Raid => match &device.raid_level {
            Some(level) => (LayerKind::Named(level.clone()), LEVELS.contains(&level.as_str())),
            None => (LayerKind::Raid, false),
        },
        DeviceKind::Mapped => {
            let targets =
                device.mapping.iter().flat_map(|mapping| mapping.targets.iter().flatten());
            let mut kinds: Vec<String> = targets.map(|target| target.kind.clone()).collect();
            kinds.dedup();
            let is_unknown = |kind: &&String| !TARGETS.contains(&kind.as_str());
            let unknown: Vec<String> = kinds.iter().filter(is_unknown).cloned().collect();
            let has_rules = unknown.is_empty();
            (LayerKind::Mapped(if has_rules { kinds } else { unknown }), has_rules)
        }
        DeviceKind::Loop => (LayerKind::Loop, true),
        DeviceKind::Memory => (LayerKind::Memory, true),
        DeviceKind::Disk | DeviceKind::Partition => {
            (LayerKind::Disk { transport: device.transport.clone() }, true)
        }
    }
}

/// Facts, and whether each is not known.
type Lacks = Vec<(bool, Lack)>;

fn of_mount(mount: &MountSeen) -> Lacks {
    match mount.file_system.as_str() {
        "nfs" | "nfs4" => {
            let nfs = mount.nfs.as_ref();
            let way = nfs.and_then(|nfs| nfs.network.as_ref());
            let is_own = own_address(mount).is_some();
            vec![
                (nfs.is_none_or(|nfs| nfs.options.is_empty()), Lack::NfsStatistics),
                (nfs.is_none_or(|nfs| nfs.network.is_none()), Lack::NfsInterface),
                (mount.read_ahead_bytes.is_none(), Lack::ReadAhead),
                (is_own && way.is_some_and(|way| way.listener.is_none()), Lack::Listener),
            ]
        }
        "zfs" => vec![
            (mount.zfs.is_none(), Lack::ZfsProperties),
            (mount.zfs.as_ref().is_none_or(|zfs| zfs.vdevs.is_empty()), Lack::ZfsVdevs),
        ],
        "fuseblk" => vec![(mount.contents.is_none(), Lack::ContentsOfDevice)],
        _ => Vec::new(),
    }
}

fn of_device(seen: &Snapshot<'_>, device: &Device) -> Lacks {
    match device.kind {
        DeviceKind::Mapped => {
            let mapping = device.mapping.as_ref();
            vec![(mapping.is_none_or(|one| one.targets.is_none()), Lack::MapperTable)]
        }
        DeviceKind::Raid => {
            let has_state = device.raid_level.as_deref() != Some("raid0");
            vec![(device.raid.is_none() && has_state, Lack::RaidState)]
        }
        DeviceKind::Disk => of_disk(seen, device),
        _ => Vec::new(),
    }
}

fn of_disk(seen: &Snapshot<'_>, disk: &Device) -> Lacks {
    if seen.network_disks().any(|(other, _)| std::ptr::eq(other, disk)) {
        let is_known = seen.attached().iter().any(|one| std::ptr::eq(one.device, disk));
        let example = match seen.provider() {
            Some(Cloud::Azure) => "P30",
            Some(Cloud::Gcp) => "pd-ssd:size=500G",
            _ => "gp3:size=500G",
        };
        let is_without_limits = seen.vm_documented().is_none() && seen.vm().is_some();
        vec![(!is_known, Lack::KindOfDisk { example }), (is_without_limits, Lack::VmLimits)]
    } else if seen.machine.environment.hypervisor.is_some() {
        // What it says of itself is what its hypervisor says.
        vec![(seen.provider().is_none(), Lack::WhatItIs)]
    } else {
        let rotates = disk.queue.rotational;
        vec![
            (rotates.is_none(), Lack::Rotation),
            (rotates != Some(false) && disk.model.is_none(), Lack::Model),
        ]
    }
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
            let kind = LayerKind::Named(unknown.to_owned());
            assert_eq!((found.has_rules, found.kind, &*found.name), (false, kind, "/x"));
        }
        assert!(of(mapped("crypt")).has_rules);
        let cache = of(mapped("cache"));
        let kind = LayerKind::Mapped(vec!["cache".to_owned()]);
        assert_eq!((cache.has_rules, cache.kind), (false, kind));
        let named = |name: &str| Device { name: name.to_owned(), ..Device::default() };
        assert_eq!(of(SeenLayer::Device(named("rbd0"))).kind, LayerKind::Named("rbd".to_owned()));
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
        assert_eq!(missing(SeenLayer::Mount(mount("ext4"))), []);
        let nfs = Some(NfsSeen { options: "rw".to_owned(), ..NfsSeen::default() });
        assert_eq!(missing(SeenLayer::Mount(MountSeen { nfs, ..mount("nfs") })).len(), 2);
        let disk = Device { name: "sda".to_owned(), ..Device::default() };
        assert_eq!(missing(SeenLayer::Device(disk)).len(), 2);
    }
}
