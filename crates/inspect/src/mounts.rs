//! Finds the file system that covers a path: `/proc/self/mountinfo`, described in proc(5).

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::block::DeviceNumber;
use crate::secrets::{without_login, without_secrets};

/// One line of mountinfo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Unique while mounted; `statx` calls it `stx_mnt_id`.
    pub id: u64,
    /// Device number of its files; major 0 if no block device is directly behind it.
    pub device: DeviceNumber,
    /// The directory of the file system that is mounted: not `/` for bind mounts and containers.
    pub root: PathBuf,
    pub mount_point: PathBuf,
    /// File system type, e.g. `ext4`, `fuse.sshfs`.
    pub file_system: String,
    /// The source of the mount: a device path, `host:/export`, or a word.
    pub source: String,
    /// Mounted read-only, by the mount or by its file system.
    pub read_only: bool,
    /// The mount's own options, comma-separated.
    pub options: String,
    /// The file system's options, comma-separated.
    pub super_options: String,
}

/// The mounts that this process sees. If a mount point is not UTF-8, the rest is still read: one
/// bad mount must not hide all others.
///
/// # Errors
/// If `/proc` is not mounted.
pub fn mounts() -> io::Result<Vec<Mount>> {
    let bytes = fs::read("/proc/self/mountinfo")?;
    Ok(parse_mountinfo(&String::from_utf8_lossy(&bytes)))
}

/// Parses `/proc/self/mountinfo`; skips lines that are not in the documented format.
pub fn parse_mountinfo(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
fn parse_line(line: &str) -> Option<Mount> {
    // The optional fields before the lone dash vary in number; a dash cannot be one of them.
    let (mount, file_system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ');
    let id = mount.next()?.parse().ok()?;
    let _parent = mount.next()?;
    let device = DeviceNumber::parse(mount.next()?)?;
    let root = PathBuf::from(unescape(mount.next()?));
    let mount_point = PathBuf::from(unescape(mount.next()?));
    let options = mount.next()?;
    let mut file_system = file_system.split(' ');
    let name = unescape(file_system.next()?);
    let source = without_login(&unescape(file_system.next()?));
    let super_options = without_secrets(&unescape(file_system.next().unwrap_or_default()));
    let read_only = has_option(options, "ro") || has_option(&super_options, "ro");
    Some(Mount {
        id,
        device,
        root,
        mount_point,
        file_system: name,
        source,
        read_only,
        options: options.to_owned(),
        super_options,
    })
}

/// Whether a comma-separated option list contains `name`.
pub(crate) fn has_option(options: &str, name: &str) -> bool {
    options.split(',').any(|option| option == name)
}

/// Undoes the kernel's `\040` for space, tab, newline and backslash.
pub(crate) fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let octal = match tail {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] if *first == b'\\' => {
                Some((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'))
            }
            _ => None,
        };
        bytes.push(octal.unwrap_or(*first));
        rest = if octal.is_some() { &tail[3..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The mount that covers `path` (absolute, without symbolic links): the one with the given ID if
/// the kernel reported it, otherwise the last one mounted among the deepest.
pub(crate) fn covering<'a>(mounts: &'a [Mount], id: Option<u64>, path: &Path) -> Option<&'a Mount> {
    id.and_then(|id| mounts.iter().find(|mount| mount.id == id)).or_else(|| {
        mounts
            .iter()
            .filter(|mount| path.starts_with(&mount.mount_point))
            .max_by_key(|mount| mount.mount_point.components().count())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIXTURE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
41 27 0:44 /@home /home rw,relatime shared:7 master:2 - btrfs /dev/nvme0n1p2 rw,ssd,subvol=/@home
52 27 8:17 / /mnt/two\\040words ro,nosuid shared:1 - xfs /dev/sdb1 rw
60 27 0:50 / /srv rw - nfs4 server:/export\\134x rw,vers=4.2
garbage
61 27 0:51 / /mnt/short rw -
";

    fn at(path: &str) -> Mount {
        covering(&parse_mountinfo(FIXTURE), None, Path::new(path)).unwrap().clone()
    }

    #[test]
    fn a_path_belongs_to_the_deepest_mount_above_it() {
        assert_eq!(at("/home/me/x").file_system, "btrfs");
        assert_eq!(at("/homely").file_system, "ext4");
        assert_eq!(at("/mnt/two words/x").device, DeviceNumber { major: 8, minor: 17 });
    }

    #[test]
    fn escaped_characters_and_read_only_mounts_are_understood() {
        assert!(at("/mnt/two words").read_only);
        assert!(!at("/").read_only);
        assert_eq!(at("/srv").source, "server:/export\\x");
    }

    #[test]
    fn the_kernels_mount_id_beats_the_path() {
        let mounts = parse_mountinfo(FIXTURE);
        let mount = covering(&mounts, Some(60), Path::new("/home")).unwrap();
        assert_eq!(mount.file_system, "nfs4");
    }

    #[test]
    fn lines_not_as_documented_are_skipped() {
        assert_eq!(parse_mountinfo(FIXTURE).len(), 5);
    }

    #[test]
    fn the_last_of_several_mounts_on_one_place_is_the_visible_one() {
        let text = "1 0 0:1 / /m rw - tmpfs a rw\n2 1 0:2 / /m rw - tmpfs b rw\n";
        assert_eq!(covering(&parse_mountinfo(text), None, Path::new("/m")).unwrap().source, "b");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".*", escaped in r"(\\[0-9]{0,3}|[a \-:/])*") {
            parse_mountinfo(&text);
            unescape(&escaped);
            parse_mountinfo(&format!("1 2 3:4 / {escaped} rw - {escaped}"));
        }
    }
}
