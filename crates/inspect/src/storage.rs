//! The devices under a path, all the way down, and the NFS mounts on the way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::block::{disk_of, model};
use crate::mounts::mounts;
use crate::stack::{LayerKind, Stack, device_name};

/// What lies under a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Storage {
    /// Block devices, each above those it lies on.
    pub devices: Vec<UnderlyingDevice>,
    /// Where NFS is mounted on the way down.
    pub nfs: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnderlyingDevice {
    /// The name it has in `/proc/diskstats`.
    pub name: String,
    /// What it is, if the kernel says.
    pub model: Option<String>,
}

/// The devices and NFS mounts under all of `paths` (files, directories, device nodes) and under the
/// devices called `devices`. What cannot be looked at is left out.
pub fn storage<'a>(
    paths: impl IntoIterator<Item = &'a Path>,
    devices: impl IntoIterator<Item = &'a str>,
) -> Storage {
    let mut stack = Stack::new(Path::new("/sys"), mounts().unwrap_or_default());
    for path in paths {
        // What is not there has nothing below.
        let _ = stack.path(path);
    }
    for device in devices {
        stack.device(&Path::new("/sys/class/block").join(device.replace('/', "!")));
    }
    let mut found = Storage::default();
    for layer in stack.layers {
        match layer.kind {
            LayerKind::Device(node) => {
                let disk = disk_of(&node);
                found
                    .devices
                    .push(UnderlyingDevice { name: device_name(&node), model: model(disk) });
            }
            LayerKind::Mount(mount) => {
                let is_nfs = matches!(mount.file_system.as_str(), "nfs" | "nfs4");
                if is_nfs && !found.nfs.contains(&mount.mount_point) {
                    found.nfs.push(mount.mount_point);
                }
            }
        }
    }
    found
}

/// Whether `path` lies on disks that `/` lies on, and on nothing else.
pub(crate) fn is_on_system_disk(path: &Path) -> bool {
    let (disks, of_system) = (disks(path), disks(Path::new("/")));
    disks.zip(of_system).is_some_and(|(disks, of_system)| disks.is_subset(&of_system))
}

/// The disks at the bottom, by their directories in sysfs; `None` if anything else is there.
fn disks(path: &Path) -> Option<BTreeSet<PathBuf>> {
    let mut stack = Stack::new(Path::new("/sys"), mounts().ok()?);
    stack.path(path).ok()??;
    let bottom = stack.layers.into_iter().filter(|layer| layer.below.is_empty());
    bottom
        .map(|layer| match layer.kind {
            LayerKind::Device(node) => Some(node),
            LayerKind::Mount(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_on_its_own_disks_and_memory_is_not() {
        assert_eq!(is_on_system_disk(Path::new("/")), disks(Path::new("/")).is_some());
        assert!(!is_on_system_disk(Path::new("/proc")));
    }

    #[test]
    fn nothing_is_under_a_path_that_is_not_there() {
        assert_eq!(storage([Path::new("/no/such/place")], ["no-such-device"]), Storage::default());
    }
}
