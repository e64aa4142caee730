//! Which file system a process finds on the device that it serves: `fuseblk` says only that one does.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::block::DeviceNumber;
use crate::deadline::within;

/// A device that fails would take long.
const LIMIT: Duration = Duration::from_millis(200);
/// Where NTFS and exFAT have their name in the first sector, and how long it is.
const NAME_AT: u64 = 3;
const NAME_BYTES: usize = 8;

/// What udev knows of the device, else what its first sector says to root.
pub(super) fn contents(number: DeviceNumber, source: &str, udev: &Path) -> Option<String> {
    let known = fs::read_to_string(udev.join(format!("b{number}"))).ok();
    known.and_then(|text| of_udev(&text)).or_else(|| {
        let source = PathBuf::from(source);
        let is_device = source.starts_with("/dev");
        is_device.then(|| within(LIMIT, move || of_sector(&source)).flatten()).flatten()
    })
}

/// The line `E:ID_FS_TYPE=ntfs`.
fn of_udev(text: &str) -> Option<String> {
    let kind = text.lines().find_map(|line| line.strip_prefix("E:ID_FS_TYPE="))?.trim();
    (!kind.is_empty()).then(|| kind.to_owned())
}

fn of_sector(device: &Path) -> Option<String> {
    let mut name = [0; NAME_BYTES];
    File::open(device).ok()?.read_exact_at(&mut name, NAME_AT).ok()?;
    match &name {
        b"NTFS    " => Some("ntfs".to_owned()),
        b"EXFAT   " => Some("exfat".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: DeviceNumber = DeviceNumber { major: 8, minor: 17 };

    #[test]
    fn udev_knows_what_is_on_a_device() {
        let udev = tempfile::tempdir().unwrap();
        fs::write(udev.path().join("b8:17"), "S:disk/by-label/x\nE:ID_FS_TYPE=ntfs\nG:systemd\n")
            .unwrap();
        assert_eq!(contents(NUMBER, "/no/device", udev.path()).as_deref(), Some("ntfs"));
        assert_eq!(contents(DeviceNumber { major: 8, minor: 1 }, "/no/device", udev.path()), None);
        assert_eq!(of_udev("E:ID_FS_TYPE=\n"), None);
    }

    #[test]
    fn a_first_sector_names_its_file_system() {
        let device = tempfile::NamedTempFile::new().unwrap();
        let of = |name: &[u8]| {
            fs::write(device.path(), [b"\xebR\x90", name, &[0; 500]].concat()).unwrap();
            of_sector(device.path())
        };
        assert_eq!(of(b"NTFS    ").as_deref(), Some("ntfs"));
        assert_eq!(of(b"EXFAT   ").as_deref(), Some("exfat"));
        assert_eq!(of(b"mkfs.fat"), None);
        fs::write(device.path(), "x").unwrap();
        assert_eq!(of_sector(device.path()), None);
    }
}
