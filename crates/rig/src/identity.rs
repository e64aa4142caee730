//! Which file a file is, whatever its name.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, fstat, fstatvfs, statx};
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
    device: u64,
    /// Of most file systems this follows from their UUID.
    id: u64,
}

impl FileSystem {
    /// That of what is open.
    pub(crate) fn of(file: impl AsFd) -> rustix::io::Result<Self> {
        Ok(Self { device: fstat(&file)?.st_dev, id: fstatvfs(&file)?.f_fsid })
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
