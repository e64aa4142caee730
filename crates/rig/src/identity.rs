//! Which file a file is, whatever its name.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, fstat, fstatvfs, major, statx};
use rustix::path::Arg;
use serde::{Deserialize, Serialize};

/// Tells a file from any other that ever had the same name or the same inode number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Inode number.
    pub(crate) inode: u64,
    /// Birth in nanoseconds since 1970, where the file system keeps it: inode numbers are used
    /// again, birth times are not.
    pub(crate) born_ns: Option<i64>,
}

/// Tells a file system from others, as long as it is not made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileSystem {
    /// 0 without a block device.
    device: u64,
    /// Of most file systems this follows from their UUID.
    id: u64,
}

impl FileSystem {
    /// That of what is open; `None` if it could not be told again later.
    ///
    /// File systems without a block device (NFS, FUSE, tmpfs, btrfs) get another device number each time
    /// that they are mounted. Those that have no id either cannot be told apart.
    pub(crate) fn of(file: impl AsFd) -> Option<Self> {
        let device = fstat(&file).ok()?.st_dev;
        let device = if major(device) == 0 { 0 } else { device };
        let id = fstatvfs(&file).ok()?.f_fsid;
        (device != 0 || id != 0).then_some(Self { device, id })
    }
}

impl Identity {
    /// Of what stands at `path`, symbolic links not followed.
    pub(crate) fn of(path: &Path) -> rustix::io::Result<Self> {
        Self::within(CWD, path)
    }

    /// Of what is called `name` in a directory, symbolic links not followed.
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
