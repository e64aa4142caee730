//! Entries of the journal: each is one thing that was about to be made, and how to undo it. Each
//! kind has its own file, which does not depend on journals or layers.

pub(crate) mod cgroup;
pub(crate) mod directory;
pub(crate) mod file;
pub(crate) mod host_command;
pub(crate) mod loop_device;
pub(crate) mod mapping;
pub(crate) mod remote;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::held::Held;
use crate::identity::{FileSystem, Identity};
use crate::read_ahead::ReadAhead;
use crate::signatures::{self, Mark, Spot};
use crate::undone::Undone;
use crate::{marked, mounts};

/// One line of a journal. Lines are only added. A released variant must stay readable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "made", rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A private directory; the token is in the name of its marker file.
    Directory {
        /// Its path; the last part is random.
        path: PathBuf,
        /// Name of the marker inside.
        token: String,
        /// Inode number of the directory it is in.
        parent_inode: u64,
        /// The file system of that directory. Earlier versions did not write it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file_system: Option<FileSystem>,
    },
    /// A file at a path that the user named.
    File {
        path: PathBuf,
        /// Which file it is, whatever its name.
        identity: Identity,
        /// Inode number of the directory it is in.
        parent_inode: u64,
        /// The file system of that directory. Earlier versions did not write it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file_system: Option<FileSystem>,
    },
    /// Whatever is mounted at a path in a private directory.
    Mount { path: PathBuf },
    /// A virtual disk for other programs, mounted where the user wants it; its random name in the
    /// mount table; and its layers, for people.
    Disk { path: PathBuf, name: String, stack: String },
    /// The loop devices on a file or device that this run made.
    Loop { backing: PathBuf },
    /// A loop device that was made, by its identity.
    LoopDevice(loop_device::Attached),
    /// Headers on a device of the user, and the mark that their identities begin with.
    Signatures { spot: Spot, mark: Mark },
    /// The device mapping of this random name.
    Mapping { name: String },
    /// A cgroup, with a random last part of its path, and the cgroup that its processes came from.
    Cgroup { path: PathBuf, home: PathBuf },
    /// A mount of a file server. Other entries on it can only be undone while it is mounted, so
    /// undoing this one mounts it.
    Remote(remote::Mounting),
    /// A socket that a daemon makes where other programs look for it, and may leave behind. The
    /// last part of its path is random.
    Socket { path: PathBuf },
    /// The read-ahead of a mount.
    ReadAhead(ReadAhead),
    /// A host setting that a command of the user undoes.
    HostSetting(host_command::Setting),
    /// A daemon with this random token in its environment; its name is for people.
    Daemon { token: String, program: String },
}

impl Entry {
    /// Removes what was made; does nothing if that has happened already. `journal` is named in
    /// errors.
    pub(crate) fn undo(&self, journal: &Path) -> Result<Undone, Error> {
        match self {
            Self::Directory { path, token, parent_inode, file_system } => {
                in_sight(path, *parent_inode, *file_system, journal)?
                    .map_or(Ok(Undone::Lost), |it| directory::remove(&it, path, token, journal))
            }
            Self::File { path, identity, parent_inode, file_system } => {
                in_sight(path, *parent_inode, *file_system, journal)?
                    .map_or(Ok(Undone::Lost), |it| file::remove(&it, path, *identity, journal))
            }
            Self::Mount { path } => mounts::undo(path, journal),
            Self::Disk { path, name, .. } => mounts::undo_named(path, name, journal),
            Self::Loop { backing } => loop_device::undo(backing, journal),
            Self::LoopDevice(attached) => attached.undo(journal),
            Self::Signatures { spot, mark } => signatures::undo(spot, mark, journal),
            Self::Mapping { name } => mapping::undo(name, journal),
            Self::Cgroup { path, home } => cgroup::undo(path, home, journal),
            Self::Remote(mounting) => mounting.undo(),
            Self::Socket { path } => file::remove_socket(path, journal),
            Self::ReadAhead(read_ahead) => read_ahead.undo(),
            Self::HostSetting(setting) => setting.undo(journal),
            Self::Daemon { token, .. } if marked::end_daemon(token) => Ok(Undone::Removed),
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
            Self::Remote(mounting) => write!(f, "the NFS directory {mounting}"),
            Self::Socket { path } => write!(f, "the socket {}", path.display()),
            Self::ReadAhead(read_ahead) => read_ahead.fmt(f),
            Self::HostSetting(setting) => setting.fmt(f),
            Self::Daemon { program, .. } => write!(f, "the process {program}"),
        }
    }
}

/// Opens the directory in which something was made, even if its owner renamed it. `None` means that
/// the directory and its content are gone. It is only returned while its file system is mounted: a
/// file system that is not mounted yet after a reboot must not look like finished work.
fn in_sight(
    path: &Path,
    parent_inode: u64,
    file_system: Option<FileSystem>,
    journal: &Path,
) -> Result<Option<Held>, Error> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    let is_it = |found: &Held| {
        found.inode().is_ok_and(|inode| inode == parent_inode)
            && file_system.is_none_or(|wanted| FileSystem::of(found) == Some(wanted))
    };
    if let Some(found) = Held::directory(parent).ok().filter(is_it) {
        return Ok(Some(found));
    }
    let around = parent.ancestors().skip(1).find_map(|above| Held::directory(above).ok());
    let is_seen = |held: &Held| file_system.is_some() && FileSystem::of(held) == file_system;
    match around.filter(is_seen) {
        Some(around) => Ok(around.directory_with(is_it)),
        None => Err(Error::OutOfSight { path: path.to_owned(), journal: journal.to_owned() }),
    }
}

/// Inode number of the directory that `path` is in.
#[cfg(test)]
pub(crate) fn inode_of_parent(path: &Path) -> rustix::io::Result<u64> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    Ok(rustix::fs::stat(parent)?.st_ino)
}
