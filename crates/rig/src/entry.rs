//! What a journal holds: one thing that was about to be made, and how to undo it.

use std::fmt;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use rustix::path::Arg;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::held::Held;
use crate::layers::{cgroup_io, dmcrypt, loop_device, nfs};
use crate::signatures::{self, Mark, Spot};
use crate::{disk_file, mounts, programs, scratch};

/// One line of a journal. Lines are only ever added; a variant, once released, stays readable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "made", rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A private directory; its marker file bears the token.
    Directory {
        /// Its path; the last part is random.
        path: PathBuf,
        /// Name of the marker inside.
        token: String,
        /// Inode number of the directory it is in.
        parent_inode: u64,
    },
    /// A file at a path that the user named.
    File {
        /// Its path.
        path: PathBuf,
        /// Which file it is, whatever its name.
        identity: Identity,
        /// Inode number of the directory it is in.
        parent_inode: u64,
    },
    /// Whatever is mounted at a place in a private directory.
    Mount {
        /// The mount point.
        path: PathBuf,
    },
    /// A virtual disk that others use, mounted at a place of the user's.
    Disk {
        /// The mount point.
        path: PathBuf,
        /// What is mounted, as the mount table shows it; random.
        name: String,
        /// Its layers, for people.
        stack: String,
    },
    /// The loop devices on a file of this run.
    Loop {
        /// The file, or what else it is on.
        backing: PathBuf,
    },
    /// A loop device that was made, by its own identity.
    LoopDevice(loop_device::Attached),
    /// Headers on a device of the user's.
    Signatures {
        /// The device.
        spot: Spot,
        /// What their identities begin with.
        mark: Mark,
    },
    /// The device mapping of this name.
    Mapping {
        /// Its name, random.
        name: String,
    },
    /// A group of processes.
    Cgroup {
        /// Its directory; the last part is random.
        path: PathBuf,
        /// The group that those in it came from.
        home: PathBuf,
    },
    /// Something of ours on a file server, whose other entries can only be undone while it is
    /// mounted: undoing this one mounts it.
    Remote(nfs::Mounting),
    /// A daemon that bears this token in its environment.
    Daemon {
        /// The token, random.
        token: String,
        /// Its name, for people.
        program: String,
    },
}

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undone {
    /// It was there and is gone.
    Removed,
    /// It was never made, or is gone already.
    Absent,
}

/// Tells a file from any other that ever had the same name or the same inode number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Inode number.
    pub(crate) inode: u64,
    /// Birth in nanoseconds since 1970, where the file system keeps it: inode numbers are used
    /// again, birth times are not.
    pub(crate) born_ns: Option<i64>,
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

impl Entry {
    /// Removes what was made; does nothing if that has happened already. `journal` is named in
    /// errors.
    pub(crate) fn undo(&self, journal: &Path) -> Result<Undone, Error> {
        match self {
            Self::Directory { path, token, parent_inode } => {
                let parent = in_sight(path, *parent_inode, journal)?;
                scratch::remove(&parent, path, token, journal)
            }
            Self::File { path, identity, parent_inode } => {
                let parent = in_sight(path, *parent_inode, journal)?;
                disk_file::remove(&parent, path, *identity, journal)
            }
            Self::Mount { path } => mounts::undo(path, journal),
            Self::Disk { path, name, .. } => mounts::undo_named(path, name, journal),
            Self::Loop { backing } => loop_device::undo(backing, journal),
            Self::LoopDevice(attached) => attached.undo(journal),
            Self::Signatures { spot, mark } => signatures::undo(spot, mark, journal),
            Self::Mapping { name } => dmcrypt::undo(name, journal),
            Self::Cgroup { path, home } => cgroup_io::undo(path, home, journal),
            Self::Remote(mounting) => mounting.undo(),
            Self::Daemon { token, .. } if programs::end_daemon(token) => Ok(Undone::Removed),
            Self::Daemon { .. } => Ok(Undone::Absent),
        }
    }
}

/// What was made, for people.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { path, .. } | Self::File { path, .. } => {
                write!(f, "{}", path.display())
            }
            Self::Mount { path } => write!(f, "the mount at {}", path.display()),
            Self::Disk { path, .. } => write!(f, "the virtual disk at {}", path.display()),
            Self::Loop { backing } => write!(f, "the loop device on {}", backing.display()),
            Self::LoopDevice(attached) => write!(f, "the loop device {attached}"),
            Self::Signatures { spot, .. } => write!(f, "the signatures on {}", spot.path.display()),
            Self::Mapping { name } => write!(f, "the device mapping {name}"),
            Self::Cgroup { path, .. } => write!(f, "the cgroup {}", path.display()),
            Self::Remote(mounting) => write!(f, "what was not mounted of {mounting}"),
            Self::Daemon { program, .. } => write!(f, "the process {program}"),
        }
    }
}

/// Holds the directory something was made in, if that is the one to be seen now. Without this, a
/// file system that is not mounted again yet after a reboot would look like a job done.
fn in_sight(path: &Path, parent_inode: u64, journal: &Path) -> Result<Held, Error> {
    let parent = Held::directory(path.parent().unwrap_or(Path::new("/")));
    let is_it = |parent: &Held| parent.inode().is_ok_and(|inode| inode == parent_inode);
    parent
        .ok()
        .filter(is_it)
        .ok_or_else(|| Error::OutOfSight { path: path.to_owned(), journal: journal.to_owned() })
}

/// Inode number of the directory that `path` is in.
#[cfg(test)]
pub(crate) fn inode_of_parent(path: &Path) -> rustix::io::Result<u64> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    Ok(rustix::fs::stat(parent)?.st_ino)
}
