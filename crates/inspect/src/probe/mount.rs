//! A mounted file system, and the read-ahead that it sets itself.

use std::path::Path;

use iotax_record::machine::MountSeen;

use super::contents::contents;
use super::ext4::features;
use crate::block::number_in;
use crate::mounts::Mount;

/// What udev knows of devices.
const UDEV: &str = "/run/udev/data";

/// The mount as mountinfo has it. `sysfs` knows the backing devices of file systems that are on no
/// block device of their own; `device` is the name of the one directly below.
pub(super) fn mount(mount: &Mount, sysfs: &Path, device: Option<&str>) -> MountSeen {
    let is_ext4 = mount.file_system == "ext4";
    let is_served = mount.file_system == "fuseblk";
    let node = device.filter(|_| is_ext4).map(|name| Path::new("/dev").join(name));
    MountSeen {
        mount_point: mount.mount_point.display().to_string(),
        file_system: mount.file_system.clone(),
        source: mount.source.clone(),
        options: mount.options.clone(),
        super_options: mount.super_options.clone(),
        features: node.map(|node| features(&node)).unwrap_or_default(),
        read_ahead_bytes: read_ahead(mount, sysfs),
        number: Some(mount.device.to_string()),
        nfs: None,
        zfs: None,
        contents: is_served
            .then(|| contents(mount.device, &mount.source, Path::new(UDEV)))
            .flatten(),
    }
}

/// Major 0 is for numbers without a block device: those of NFS, FUSE and others.
fn read_ahead(mount: &Mount, sysfs: &Path) -> Option<u64> {
    if mount.device.major != 0 {
        return None;
    }
    let backing = sysfs.join("class/bdi").join(mount.device.to_string());
    number_in(&backing.join("read_ahead_kb"))?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts::parse_mountinfo;
    use std::fs;

    #[test]
    fn a_mount_without_a_device_has_its_own_read_ahead() {
        let sysfs = tempfile::tempdir().unwrap();
        for number in ["0:44", "8:1"] {
            let backing = sysfs.path().join("class/bdi").join(number);
            fs::create_dir_all(&backing).unwrap();
            fs::write(backing.join("read_ahead_kb"), "15360\n").unwrap();
        }
        let mounts = parse_mountinfo(
            "1 0 0:44 / /a rw,noatime - nfs4 s:/x rw,vers=4.2\n2 0 8:1 / /b ro - ext4 /dev/sda1 rw\n",
        );
        let seen = mounts.iter().map(|line| mount(line, sysfs.path(), None)).collect::<Vec<_>>();
        assert_eq!(seen[0].read_ahead_bytes, Some(15360 << 10));
        assert_eq!((seen[0].option("vers"), seen[0].option("noatime")), (Some("4.2"), Some("")));
        assert_eq!(seen[0].number.as_deref(), Some("0:44"));
        assert_eq!(seen[1].read_ahead_bytes, None, "the device has one");
    }
}
