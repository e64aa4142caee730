//! What tells this machine, and a device, from others: hashed, never as it is.

use std::path::Path;

use iotax_record::stable_id;

use crate::block::{disk_of, line_of};

/// The same on every day; `None` if the system has no identity.
pub fn host_id() -> Option<String> {
    let known = ["/etc/machine-id", "/var/lib/dbus/machine-id"].map(Path::new);
    let id = known.into_iter().find_map(line_of)?;
    // Before the first boot an image may say so instead.
    (id != "uninitialized").then(|| stable_id("host", &[&id]))
}

/// Of the disk that a block device is, or is a part of, by its serial number or WWN.
pub fn disk_id(name: &str) -> Option<String> {
    disk_id_in(Path::new("/sys/class/block"), name)
}

fn disk_id_in(block: &Path, name: &str) -> Option<String> {
    let device = block.join(name).canonicalize().ok()?;
    let disk = disk_of(&device);
    let files = ["wwid", "device/wwid", "serial", "device/serial", "dm/uuid", "md/uuid"];
    let (file, id) = files.iter().find_map(|file| Some((file, line_of(disk.join(file))?)))?;
    Some(stable_id("disk", &[file, &id]))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_partition_is_known_by_its_disk() {
        let root = tempfile::tempdir().unwrap();
        let disk = root.path().join("devices/sda");
        fs::create_dir_all(disk.join("sda1")).unwrap();
        fs::write(disk.join("sda1/partition"), "1\n").unwrap();
        fs::write(disk.join("serial"), "  S3Z9NX0K \n").unwrap();
        let block = root.path().join("class");
        fs::create_dir(&block).unwrap();
        for (name, at) in [("sda", "devices/sda"), ("sda1", "devices/sda/sda1")] {
            std::os::unix::fs::symlink(root.path().join(at), block.join(name)).unwrap();
        }
        let id = disk_id_in(&block, "sda").unwrap();
        assert_eq!(disk_id_in(&block, "sda1").as_ref(), Some(&id));
        assert!(!id.contains("S3Z9NX0K"));
        assert_eq!(disk_id_in(&block, "sdb"), None);
        fs::write(disk.join("wwid"), "\n").unwrap();
        assert_eq!(disk_id_in(&block, "sda"), Some(id), "an empty file tells nothing");
    }
}
