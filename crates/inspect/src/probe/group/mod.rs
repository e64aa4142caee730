//! The control groups of this process: what they limit, and what that has cost.

mod cpu;
mod memory;

use std::fs;
use std::path::Path;

use iotax_record::machine::{ControlGroups, PathSeen};

use super::pressure::averages;
use crate::cgroup::{CgroupVersion, Level, hierarchy, levels};
use crate::cgroup_io::{disks_under, limits_on};
use crate::mounts::Mount;
use crate::stack::Layer;

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
pub(super) fn groups(paths: &[PathSeen], layers: &[Layer], mounts: &[Mount]) -> ControlGroups {
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
    let limits = |seen: &PathSeen| {
        limits_on(&mounts, &membership, &disks_under(seen.top, layers), &seen.path)
    };
    ControlGroups {
        version,
        io: paths.iter().flat_map(limits).collect(),
        cpu: cpu::throttling(&own, read),
        memory: memory::memory(&own, read),
        io_pressure: own
            .of("blkio")
            .iter()
            .find_map(|level| averages(&read(&level.directory.join("io.pressure"))?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts::parse_mountinfo;

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
}
