//! All facts about the place that a path leads to.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use iotax_record::stable_id;
use rustix::fs::{AtFlags, CWD, OFlags, Statx, StatxFlags, statvfs, statx};

use crate::block::{BlockDevice, DeviceNumber, disk_of, line_of};
use crate::error::Error;
use crate::mounts::{Mount, covering, mounts};

/// The type of file at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteKind {
    Directory,
    File,
    BlockDevice,
    /// A character device, pipe or socket.
    Other,
}

/// Facts about one path, symbolic links followed.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not the states of one thing")]
pub struct Facts {
    /// The path without symbolic links, absolute.
    pub path: PathBuf,
    /// Its type.
    pub kind: SiteKind,
    /// Length of the file or capacity of the device; 0 for anything else.
    pub size_bytes: u64,
    /// Number of the file system's device (for a block device: of the device itself).
    pub device_number: DeviceNumber,
    /// Inode number.
    pub inode: u64,
    /// File system type, e.g. `ext4`; `None` for block devices.
    pub file_system: Option<String>,
    /// Where that file system is mounted.
    pub mount_point: Option<PathBuf>,
    /// The source of the mount: a device path, `host:/export`, or a word.
    pub mount_source: Option<String>,
    /// Whether the mount, the file system or the device refuses writes.
    pub read_only: bool,
    /// Bytes that an unprivileged process can still write; `None` for block devices, and if the
    /// file system does not report them.
    pub free_bytes: Option<u64>,
    /// The block device below, if there is exactly one.
    pub block: Option<BlockDevice>,
    /// Whether direct I/O can bypass the page cache (`O_DIRECT`). `None` if only an attempt would
    /// show it: directories, and files that this user may not open.
    pub direct: Option<bool>,
    /// Offsets and lengths of direct I/O must be multiples of these, if the kernel reports them.
    pub direct_align_bytes: Option<u32>,
    /// It is in memory (tmpfs, ramfs): no device is measured.
    pub in_memory: bool,
    /// It is on an overlay: another file system does the work.
    pub overlay: bool,
    /// Whether reads that miss the page cache are counted in `read_bytes` of `/proc/self/io`.
    pub reads_counted: bool,
}

/// Inspects `path`.
///
/// # Errors
/// [`Error::Path`] if nothing exists there, or the way to it is barred.
pub fn site(path: &Path) -> Result<Facts, Error> {
    look(path).map_err(|source| Error::Path { path: path.to_owned(), source })
}

fn look(asked: &Path) -> io::Result<Facts> {
    let path = fs::canonicalize(asked)?;
    let metadata = fs::metadata(&path)?;
    let kind = match metadata.file_type() {
        kind if kind.is_dir() => SiteKind::Directory,
        kind if kind.is_file() => SiteKind::File,
        kind if kind.is_block_device() => SiteKind::BlockDevice,
        _ => SiteKind::Other,
    };
    let flags = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID | StatxFlags::DIOALIGN;
    let stat = statx(CWD, &path, AtFlags::empty(), flags)?;
    let mounts = mounts().unwrap_or_default();
    let mount_id = has_field(&stat, StatxFlags::MNT_ID).then_some(stat.stx_mnt_id);
    let mount = covering(&mounts, mount_id, &path).filter(|_| kind != SiteKind::BlockDevice);
    let device_number = if kind == SiteKind::BlockDevice {
        DeviceNumber { major: stat.stx_rdev_major, minor: stat.stx_rdev_minor }
    } else {
        DeviceNumber { major: stat.stx_dev_major, minor: stat.stx_dev_minor }
    };
    let block = block_below(device_number, mount, &mounts);
    // File systems without a size (ramfs, some FUSE ones) report 0 blocks; they are not full.
    let volume = statvfs(&path).ok();
    let volume = volume.filter(|volume| kind != SiteKind::BlockDevice && volume.f_blocks > 0);
    let file_system = mount.map(|mount| mount.file_system.clone());
    let name = file_system.as_deref().unwrap_or_default();
    let aligned = has_field(&stat, StatxFlags::DIOALIGN) && stat.stx_dio_offset_align > 0;
    Ok(Facts {
        size_bytes: match kind {
            SiteKind::File => metadata.size(),
            SiteKind::BlockDevice => block.as_ref().map_or(0, |device| device.size_bytes),
            SiteKind::Directory | SiteKind::Other => 0,
        },
        read_only: mount.is_some_and(|mount| mount.read_only)
            || kind == SiteKind::BlockDevice
                && block.as_ref().is_some_and(|device| device.read_only),
        direct: direct(&path, kind),
        direct_align_bytes: aligned.then_some(stat.stx_dio_offset_align),
        mount_point: mount.map(|mount| mount.mount_point.clone()),
        mount_source: mount.map(|mount| mount.source.clone()),
        free_bytes: volume.map(|volume| volume.f_bavail.saturating_mul(volume.f_frsize)),
        in_memory: matches!(name, "tmpfs" | "ramfs" | "hugetlbfs"),
        overlay: name == "overlay",
        reads_counted: block.is_some() || COUNTED_WITHOUT_A_DEVICE.contains(&name),
        inode: metadata.ino(),
        path,
        kind,
        device_number,
        file_system,
        block,
    })
}

/// File systems without a single block device below that still account their device or server reads
/// to the process: they call `task_io_account_read` themselves, or submit bios in its name.
const COUNTED_WITHOUT_A_DEVICE: [&str; 4] = ["nfs", "nfs4", "cifs", "btrfs"];

/// Whether the kernel filled in the field for `flag`; older kernels leave some out.
fn has_field(stat: &Statx, flag: StatxFlags) -> bool {
    StatxFlags::from_bits_retain(stat.stx_mask).contains(flag)
}

/// The device with the file system's number or, for file systems that use anonymous numbers
/// (btrfs), the device that was mounted.
fn block_below(
    number: DeviceNumber,
    mount: Option<&Mount>,
    mounts: &[Mount],
) -> Option<BlockDevice> {
    let sysfs = Path::new("/sys");
    let mut device = BlockDevice::read(sysfs, number).or_else(|| {
        let source = fs::metadata(&mount?.source).ok()?;
        let number = source.file_type().is_block_device().then(|| number_of(source.rdev()))?;
        BlockDevice::read(sysfs, number)
    })?;
    let mut places: Vec<_> = mounts
        .iter()
        .filter(|mount| {
            mount.device == device.number || device.partition_numbers.contains(&mount.device)
        })
        .map(|mount| mount.mount_point.clone())
        .collect();
    places.sort();
    places.dedup();
    device.mounted_at = places;
    Some(device)
}

/// The kernel's ID of the mount that contains `path`, which has no symbolic links.
pub(crate) fn mount_id(path: &Path) -> Option<u64> {
    let stat = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    has_field(&stat, StatxFlags::MNT_ID).then_some(stat.stx_mnt_id)
}

pub(crate) fn number_of(device: u64) -> DeviceNumber {
    DeviceNumber { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
}

/// Opening with `O_DIRECT` fails if it is not supported (open(2)). Nothing is read.
fn direct(path: &Path, kind: SiteKind) -> Option<bool> {
    if !matches!(kind, SiteKind::File | SiteKind::BlockDevice) {
        return None;
    }
    let flags = i32::try_from(OFlags::DIRECT.bits()).expect("open flags fit in an int");
    match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(_) => Some(true),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Some(false),
        Err(_) => None,
    }
}

// Hashed identities of this machine and its devices, which do not reveal the originals.

/// The same every day; `None` if the system has no identity.
pub fn host_id() -> Option<String> {
    let known = ["/etc/machine-id", "/var/lib/dbus/machine-id"].map(Path::new);
    let id = known.into_iter().find_map(line_of)?;
    // Before the first boot, an image may contain this word instead.
    (id != "uninitialized").then(|| stable_id("host", &[&id]))
}

/// The identity of the disk of a block device or partition, by its serial number or WWN.
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
    fn a_directory_has_a_file_system_and_free_space() {
        let directory = tempfile::tempdir().unwrap();
        let facts = site(directory.path()).unwrap();
        assert_eq!(facts.kind, SiteKind::Directory);
        assert!(facts.file_system.is_some());
        assert!(facts.free_bytes.is_some());
        assert!(facts.path.starts_with(facts.mount_point.unwrap()));
    }

    #[test]
    fn symbolic_links_are_followed_and_sizes_told() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        let link = directory.path().join("link");
        fs::write(&file, [1; 5000]).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let facts = site(&link).unwrap();
        assert_eq!((facts.kind, facts.size_bytes), (SiteKind::File, 5000));
        assert_eq!(facts.path, fs::canonicalize(&file).unwrap());
    }

    #[test]
    fn proc_is_neither_in_memory_nor_on_a_device() {
        let facts = site(Path::new("/proc/self/status")).unwrap();
        assert_eq!(facts.file_system.as_deref(), Some("proc"));
        assert_eq!((facts.block, facts.reads_counted, facts.in_memory), (None, false, false));
        assert_eq!(facts.direct, Some(false));
    }

    #[test]
    fn character_devices_are_something_else() {
        assert_eq!(site(Path::new("/dev/null")).unwrap().kind, SiteKind::Other);
    }

    #[test]
    fn a_missing_path_is_named() {
        let error = site(Path::new("/no/such/place")).unwrap_err();
        assert!(error.is_not_found());
        insta::assert_snapshot!(error, @"/no/such/place: No such file or directory (os error 2)");
    }

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
