//! Private directories: where test files are laid out.
//!
//! A private directory is called `.iotax-<random>`, is only accessible to its owner, and holds a
//! marker file `.owner-<token>` whose random token is in the journal. So there are exactly three
//! states in which a killed run can leave it: absent, empty, or marked. Anything else is not ours.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Statx, StatxFlags, openat, statx, unlinkat,
};
use rustix::io::Errno;

use crate::entry::{Entry, Undone, inode_of_parent};
use crate::error::Error;
use crate::journal::{Journal, token};

/// Makes a private directory in `parent` (absolute, without symbolic links).
pub(crate) fn make(parent: &Path, journal: &mut Journal) -> Result<PathBuf, Error> {
    let failed = |source: io::Error| Error::Make {
        path: parent.to_owned(),
        action: "make a private directory in it",
        source,
    };
    let path = parent.join(format!(".iotax-{}", token().map_err(failed)?));
    let token = token().map_err(failed)?;
    journal.announce(Entry::Directory {
        path: path.clone(),
        token: token.clone(),
        parent_inode: inode_of_parent(&path).map_err(|error| failed(error.into()))?,
    })?;
    mark(&path, &token).map_err(failed)?;
    Ok(path)
}

fn mark(path: &Path, token: &str) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    let marker = path.join(marker_name(token));
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(marker)?;
    // After power loss the marker must not be missing where files are found.
    File::open(path)?.sync_all()
}

fn marker_name(token: &str) -> String {
    format!(".owner-{token}")
}

/// Removes the private directory with this token and all that is in it, the marker last, so that
/// an interrupted removal can be finished.
pub(crate) fn remove(path: &Path, token: &str, journal: &Path) -> Result<Undone, Error> {
    let not_ours = |why| Error::NotOurs { path: path.to_owned(), why, journal: journal.to_owned() };
    let failed = |error: Errno| Error::Remove {
        path: path.to_owned(),
        source: error.into(),
        journal: journal.to_owned(),
    };
    let directory = match open_directory(CWD, path) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(Undone::Absent),
        Err(Errno::NOTDIR | Errno::LOOP) => return Err(not_ours("it is not a directory")),
        Err(error) => return Err(failed(error)),
    };
    let marker = marker_name(token);
    let names = list(&directory).map_err(failed)?;
    let is_ours = names.iter().any(|(name, _)| name == marker.as_bytes());
    if !is_ours && !names.is_empty() {
        return Err(not_ours("it does not bear the mark of the run that made it"));
    }
    // By descriptor, not by path: whoever may rename the directory cannot make us empty another.
    names
        .iter()
        .filter(|(name, _)| name != marker.as_bytes())
        .try_for_each(|(name, kind)| remove_tree(&directory, name, *kind))
        .and_then(
            |()| if is_ours { unlinkat(&directory, marker, AtFlags::empty()) } else { Ok(()) },
        )
        .and_then(|()| unlinkat(CWD, path, AtFlags::REMOVEDIR))
        .map_err(failed)?;
    Ok(Undone::Removed)
}

fn open_directory(at: impl AsFd, path: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, path, flags, Mode::empty())
}

/// Names and types of what is in a directory.
fn list(directory: &OwnedFd) -> Result<Vec<(Vec<u8>, FileType)>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push((name.to_vec(), entry.file_type()));
        }
    }
    Ok(names)
}

fn remove_tree(directory: &OwnedFd, name: &[u8], kind: FileType) -> Result<(), Errno> {
    if kind != FileType::Directory {
        match unlinkat(directory, name, AtFlags::empty()) {
            // Some file systems do not tell the type when listing.
            Err(Errno::ISDIR) if kind == FileType::Unknown => {}
            other => return other,
        }
    }
    // What is mounted here is not ours to empty: on a file server it would be the user's data.
    // Asked before it is opened, which may wait for a server that is gone.
    if is_mount(directory, name)? {
        return Err(Errno::BUSY);
    }
    let inner = open_directory(directory, name)?;
    for (name, kind) in list(&inner)? {
        remove_tree(&inner, &name, kind)?;
    }
    unlinkat(directory, name, AtFlags::REMOVEDIR)
}

/// Whether what is called `name` in a directory is on another mount than the directory.
fn is_mount(directory: &OwnedFd, name: &[u8]) -> Result<bool, Errno> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let cached = AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
    let outer = statx(directory, c"", cached | AtFlags::EMPTY_PATH, wanted)?;
    let inner = statx(directory, name, cached | AtFlags::SYMLINK_NOFOLLOW, wanted)?;
    let device = |stat: &Statx| (stat.stx_dev_major, stat.stx_dev_minor);
    Ok(device(&outer) != device(&inner) || outer.stx_mnt_id != inner.stx_mnt_id)
}
