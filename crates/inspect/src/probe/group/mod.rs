//! The control groups of this process: what they limit, and what that has cost.

mod cpu;
mod memory;

use std::fs;
use std::path::Path;

use iotax_record::machine::{ControlGroups, DeviceKind, GroupIoLimits, Node, PathSeen};

use super::pressure::averages;
use crate::block::DeviceNumber;
use crate::cgroup::{CgroupVersion, Level, hierarchy, levels};
use crate::cgroup_io::limits_on;
use crate::mounts::Mount;

/// Where this process stands in its hierarchies.
struct Own<'a> {
    mounts: &'a [Mount],
    membership: &'a str,
}

impl Own<'_> {
    /// Its groups in the hierarchies that may have a controller, named as in version 1.
    fn of(&self, controller: &str) -> Vec<Level> {
        let levels =
            self.mounts.iter().flat_map(|mount| levels(mount, self.membership, controller));
        levels.collect()
    }
}

/// The groups of this process; I/O limits for the disks under each of `paths`.
pub(super) fn groups(paths: &[PathSeen], nodes: &[Node], mounts: &[Mount]) -> ControlGroups {
    let read = |path: &Path| fs::read_to_string(path).ok();
    let is_of_groups = |mount: &&Mount| mount.file_system.starts_with("cgroup");
    let mounts: Vec<Mount> = mounts.iter().filter(is_of_groups).cloned().collect();
    let membership = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let io = hierarchy("blkio", "io");
    let version = io.as_ref().map(|hierarchy| match hierarchy.version {
        CgroupVersion::V1 => "v1".to_owned(),
        CgroupVersion::V2 => "v2".to_owned(),
    });
    let own = Own { mounts: &mounts, membership: &membership };
    ControlGroups {
        version,
        io: paths.iter().flat_map(|path| limits(&own, path, nodes)).collect(),
        cpu: cpu::throttling(&own, read),
        memory: memory::memory(&own, read),
        io_pressure: own
            .of("blkio")
            .iter()
            .find_map(|level| averages(&read(&level.directory.join("io.pressure"))?)),
    }
}

fn limits(own: &Own<'_>, path: &PathSeen, nodes: &[Node]) -> Vec<GroupIoLimits> {
    limits_on(own.mounts, own.membership, &disks_under(path.top, nodes), &path.path)
}

/// The disks under a path as long as each lies on just one device: what spreads over several has no
/// single limit below it. Limits cannot be set on partitions.
fn disks_under(top: Option<usize>, nodes: &[Node]) -> Vec<DeviceNumber> {
    let mut disks = Vec::new();
    let mut next = top.and_then(|top| nodes.get(top));
    while let Some(node) = next {
        if let Some(device) = node.layer.device() {
            let number = DeviceNumber::parse(&device.number);
            disks.extend(number.filter(|_| device.kind != DeviceKind::Partition));
        }
        next = match node.below.as_slice() {
            // Devices below, and not the mount of a loop device's file.
            [one] => nodes.get(*one).filter(|below| below.layer.device().is_some()),
            _ => None,
        };
    }
    disks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts::parse_mountinfo;
    use iotax_record::machine::{Device, MountSeen, SeenLayer};

    /// Reads from a made-up list of files.
    pub(super) fn files<'a>(
        files: &'a [(&'a str, &'a str)],
    ) -> impl Fn(&Path) -> Option<String> + Copy + 'a {
        move |path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path)?;
            Some(found.1.to_owned())
        }
    }

    pub(super) fn v2() -> Vec<Mount> {
        parse_mountinfo("1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    }

    #[test]
    fn limits_of_a_path_that_is_not_there_are_none() {
        assert_eq!(groups(&[PathSeen::default()], &[], &v2()).io, []);
    }

    #[test]
    fn limits_are_those_of_disks_that_lie_on_one_another() {
        let device = |kind, number: &str, below: &[usize]| {
            let device = Device { kind, number: number.to_owned(), ..Device::default() };
            Node { layer: SeenLayer::Device(device), below: below.to_vec() }
        };
        let mount = |below: &[usize]| Node {
            layer: SeenLayer::Mount(MountSeen::default()),
            below: below.to_vec(),
        };
        let nodes = [
            mount(&[1]),
            device(DeviceKind::Mapped, "253:0", &[2]),
            device(DeviceKind::Partition, "8:1", &[3]),
            device(DeviceKind::Disk, "8:0", &[]),
            device(DeviceKind::Loop, "7:0", &[0]),
            device(DeviceKind::Raid, "9:0", &[2, 3]),
        ];
        let under = |top| {
            let disks = disks_under(Some(top), &nodes).into_iter();
            disks.map(|number| number.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(under(0), ["253:0", "8:0"]);
        assert_eq!(under(4), ["7:0"], "its file has limits of its own");
        assert_eq!(under(5), ["9:0"]);
        assert_eq!(under(9), [""; 0]);
    }
}
