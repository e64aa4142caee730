//! The identity of a file, independent of its name.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, fstat, fstatvfs, major, statx};
use rustix::path::Arg;
use serde::{Deserialize, Serialize};

/// Distinguishes a file from any other that ever had the same name or the same inode number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Inode number.
    pub(crate) inode: u64,
    /// Birth time in nanoseconds since 1970, if the file system has it. Inode numbers are reused,
    /// birth times are not.
    pub(crate) born_ns: Option<i64>,
}

/// Distinguishes a file system from others, until it is formatted again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileSystem {
    /// 0 without a block device.
    device: u64,
    /// Derived from the UUID on most file systems.
    id: u64,
}

impl FileSystem {
    /// The file system of an open file; `None` if it could not be recognised later.
    ///
    /// File systems without a block device (NFS, FUSE, tmpfs, btrfs) get a new device number with
    /// each mount. Those that have no id either cannot be distinguished.
    pub(crate) fn of(file: impl AsFd) -> Option<Self> {
        let device = fstat(&file).ok()?.st_dev;
        let device = if major(device) == 0 { 0 } else { device };
        let id = fstatvfs(&file).ok()?.f_fsid;
        (device != 0 || id != 0).then_some(Self { device, id })
    }
}

impl Identity {
    /// Of the file at `path`, without following symbolic links.
    pub(crate) fn of(path: &Path) -> rustix::io::Result<Self> {
        Self::within(CWD, path)
    }

    /// Of the file `name` in a directory, without following symbolic links.
    pub(crate) fn within(directory: impl AsFd, name: impl Arg) -> rustix::io::Result<Self> {
        let flags = StatxFlags::INO | StatxFlags::BTIME;
        let stat = statx(directory, name, AtFlags::SYMLINK_NOFOLLOW, flags)?;
        let born = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
        let birth = stat.stx_btime;
        let born_ns = birth.tv_sec.checked_mul(1_000_000_000);
        let born_ns = born_ns.and_then(|seconds_ns| seconds_ns.checked_add(birth.tv_nsec.into()));
        Ok(Self { inode: stat.stx_ino, born_ns: born_ns.filter(|_| born) })
    }
}
