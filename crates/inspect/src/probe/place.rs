//! The path of a target: its type, its name in a shell, and where files can be created on the same
//! file system.

use std::fs::{self, File, FileType};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt as _, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf, absolute};
use std::time::{Duration, Instant};

use iotax_record::machine::{MountSeen, PathKind, PathSeen};
use rustix::fs::{Access, access, statvfs};

use super::ext4::features;
use crate::block::{DeviceNumber, number_in};
use crate::deadline::within;
use crate::mounts::{Mount, covering};
use crate::stack::Stack;

/// Everything known about the path. This can block if its server is gone.
pub(super) fn place(path: &Path) -> PathSeen {
    let named = named(path);
    let Ok(metadata) = fs::metadata(path) else { return named };
    let kind = kind(metadata.file_type());
    let directory = match kind {
        PathKind::Directory => is_for_files(path).then(|| path.to_owned()),
        PathKind::Device | PathKind::Peer | PathKind::Interface => None,
        PathKind::File | PathKind::Other => beside(path, metadata.dev()),
    };
    PathSeen {
        kind: Some(kind),
        size_bytes: (kind == PathKind::File).then_some(metadata.len()),
        directory: directory.and_then(|path| path.to_str().map(str::to_owned)),
        ..named
    }
}

/// The path as it is displayed, if nothing else is known.
pub(super) fn named(path: &Path) -> PathSeen {
    PathSeen { path: path.display().to_string(), shell: escaped(path), ..PathSeen::default() }
}

fn kind(found: FileType) -> PathKind {
    if found.is_dir() {
        PathKind::Directory
    } else if found.is_file() {
        PathKind::File
    } else if found.is_block_device() {
        PathKind::Device
    } else {
        PathKind::Other
    }
}

/// The directory of a file, if files can be created in it and are on the same file system.
fn beside(path: &Path, device: u64) -> Option<PathBuf> {
    let directory = path.canonicalize().ok()?.parent()?.to_owned();
    let is_same = fs::metadata(&directory).is_ok_and(|found| found.dev() == device);
    (is_same && is_for_files(&directory)).then_some(directory)
}

/// Whether this user can create files there. Kernel file systems have no blocks.
fn is_for_files(directory: &Path) -> bool {
    access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
        && statvfs(directory).is_ok_and(|found| found.f_blocks > 0)
}

/// `$'a\377'`, if a path has bytes that are not text, or characters that move the cursor.
fn escaped(path: &Path) -> Option<String> {
    let bytes = path.as_os_str().as_bytes();
    let is_plain = path.to_str().is_some_and(|text| !text.chars().any(char::is_control));
    if is_plain {
        return None;
    }
    let mut text = String::from("$'");
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\'' | '\\' => text.extend(['\\', character]),
                _ if character.is_control() => {
                    let mut buffer = [0; 4];
                    for byte in character.encode_utf8(&mut buffer).bytes() {
                        text.push_str(&octal(byte));
                    }
                }
                _ => text.push(character),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&octal(*byte));
        }
    }
    text.push('\'');
    Some(text)
}

/// `\377`
fn octal(byte: u8) -> String {
    format!("\\{byte:03o}")
}

// Inspection of the requested paths within a time limit: servers of some may be gone.

/// After this time, no further path is inspected. A path whose server is gone takes a second; this
/// leaves time for later paths.
const PATHS_LIMIT: Duration = Duration::from_millis(1500);
/// Time limit for more facts about a path that responded.
const PATH_LIMIT: Duration = Duration::from_millis(200);

/// Each path, with its index in the stack if it responds.
pub(super) fn looked_at(stack: &mut Stack<'_>, mounts: &[Mount], paths: &[&Path]) -> Vec<PathSeen> {
    let started = Instant::now();
    let mut silent: Vec<u64> = Vec::new();
    let each = paths.iter().map(|path| {
        let problem = |problem: String| PathSeen { problem: Some(problem), ..named(path) };
        let remote = remote(mounts, path);
        if let Some(mount) = remote.filter(|mount| silent.contains(&mount.id)) {
            let at = mount.mount_point.display();
            return problem(format!(
                "not inspected: the server behind {at} did not respond earlier"
            ));
        }
        if started.elapsed() >= PATHS_LIMIT {
            return problem("not inspected: previous paths took too long to respond".to_owned());
        }
        match stack.path(path) {
            Ok(Some(top)) => {
                let asked = path.to_path_buf();
                // It responded a moment ago, but can be gone by now.
                let told = within(PATH_LIMIT, move || place(&asked));
                PathSeen { top: Some(top), ..told.unwrap_or_else(|| named(path)) }
            }
            Ok(None) => problem("no mount or device was found for this path".to_owned()),
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                silent.extend(remote.map(|mount| mount.id));
                problem("no response within a second: the server may be down".to_owned())
            }
            Err(error) => problem(error.to_string()),
        }
    });
    each.collect()
}

/// The mount of a path, if it has a server that can be gone. Links may lead elsewhere, most of all
/// from the root, so the root is always inspected.
fn remote<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let mount = covering(mounts, None, &absolute(path).ok()?)?;
    (mount.device.major == 0 && mount.mount_point != Path::new("/")).then_some(mount)
}

// A mounted file system, and its own read-ahead setting.

/// udev's data about devices.
const UDEV: &str = "/run/udev/data";

/// The mount as in mountinfo. `sysfs` has the backing devices of file systems without a block
/// device of their own; `device` is the name of the one directly below.
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

/// Major 0 is for numbers without a block device, such as NFS and FUSE.
fn read_ahead(mount: &Mount, sysfs: &Path) -> Option<u64> {
    if mount.device.major != 0 {
        return None;
    }
    let backing = sysfs.join("class/bdi").join(mount.device.to_string());
    number_in(&backing.join("read_ahead_kb"))?.checked_mul(1024)
}

// The file system that a FUSE process serves from a device; the type `fuseblk` does not name it.

/// A failing device would take long.
const LIMIT: Duration = Duration::from_millis(200);
/// Position and length of the names of NTFS and exFAT in the first sector.
const NAME_AT: u64 = 3;
const NAME_BYTES: usize = 8;

/// The type according to udev, otherwise (as root) according to the first sector.
fn contents(number: DeviceNumber, source: &str, udev: &Path) -> Option<String> {
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
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;
    use crate::mounts::parse_mountinfo;

    #[test]
    fn what_a_path_is_and_where_files_can_be_made() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "12345").unwrap();
        let socket = root.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        let here = root.path().canonicalize().unwrap().to_str().map(str::to_owned);
        let found = place(&file);
        assert_eq!((found.kind, found.size_bytes), (Some(PathKind::File), Some(5)));
        assert_eq!(found.directory, here);
        let found = place(&socket);
        assert_eq!((found.kind, found.directory), (Some(PathKind::Other), here));
        let found = place(root.path());
        assert_eq!(found.kind, Some(PathKind::Directory));
        assert_eq!(found.directory.as_deref(), root.path().to_str());
        let found = place(Path::new("/proc"));
        assert_eq!((found.kind, found.directory), (Some(PathKind::Directory), None));
        let found = place(Path::new("/no/such/place"));
        assert_eq!((found.kind, found.path.as_str()), (None, "/no/such/place"));
    }

    #[test]
    fn only_paths_that_cannot_be_written_as_they_are_are_escaped() {
        let told = |bytes: &[u8]| escaped(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(told(b"/a b/'\xc3\xa4"), None);
        assert_eq!(told(b"a\xff\xc3\xa4'\\").as_deref(), Some("$'a\\377\u{e4}\\'\\\\'"));
        assert_eq!(told(b"a\nb").as_deref(), Some(r"$'a\012b'"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

        #[test]
        fn a_shell_reads_it_as_it_was(bytes in proptest::collection::vec(1..=255_u8, 1..40)) {
            let Some(text) = escaped(Path::new(OsStr::from_bytes(&bytes))) else { return Ok(()) };
            let script = format!("printf %s {text}");
            // Where there is no bash, the cases above have to do.
            if let Ok(said) = Command::new("bash").env("LC_ALL", "C").args(["-c", &script]).output() {
                prop_assert_eq!(said.stdout, bytes, "{}", text);
            }
        }
    }

    #[test]
    fn only_what_somebody_serves_can_be_silent() {
        let mounts = parse_mountinfo(
            "1 0 0:30 / / rw - overlay o rw\n2 1 8:1 / /data rw - ext4 /dev/sda1 rw\n\
             3 1 0:44 / /mnt/nfs rw - nfs4 s:/x rw\n",
        );
        let at = |path: &str| remote(&mounts, Path::new(path)).map(|mount| mount.id);
        assert_eq!(at("/mnt/nfs/a/b"), Some(3));
        assert_eq!([at("/data/x"), at("/mnt"), at("")], [None; 3]);
    }

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
