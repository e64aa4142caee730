//! Private directories: recognised by their marker files, and removed.
//!
//! A private directory is called `.iotax-<random>`, is only accessible to its owner, and contains a
//! marker file `.owner-<token>` whose random token is in the journal. A killed run can leave it in
//! exactly three states: absent, empty, or marked. Anything else is not ours.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Statx, StatxFlags, fstat, statat, statx, unlinkat};
use rustix::io::Errno;

use crate::error::Error;
use crate::held::{Held, list, open_directory};
use crate::undone::Undone;

/// How often an empty directory is looked up again if it is renamed in the meantime.
const ATTEMPTS: u32 = 100;

/// Name of the marker file of a directory with this token.
pub(crate) fn marker_name(token: &str) -> String {
    format!(".owner-{token}")
}

/// Removes the private directory with this token and its content. The marker goes last, so that an
/// interrupted removal can be finished. The directory is recognised by its marker, because the
/// owner of `parent` may have renamed it.
pub(crate) fn remove(
    parent: &Held,
    path: &Path,
    token: &str,
    journal: &Path,
) -> Result<Undone, Error> {
    let failed = |error: Errno| Error::unremovable(path, error, journal);
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let marker = marker_name(token);
    let Some(directory) = find(parent, name, &marker) else {
        return remove_unmarked(parent, path, journal);
    };
    // By descriptor, not by path, so that a rename cannot make us empty another directory.
    let names = list(&directory).map_err(failed)?;
    names
        .iter()
        .filter(|(name, _)| name != marker.as_bytes())
        .try_for_each(|(name, kind)| remove_tree(&directory, name, *kind))
        .and_then(|()| unlinkat(&directory, marker, AtFlags::empty()))
        .and_then(|()| remove_empty(parent, name, &directory))
        .map_err(failed)?;
    Ok(Undone::Removed)
}

/// Removes a directory without a marker if it is empty: a run was killed right after it made the
/// directory. Anything else without the marker is not ours.
fn remove_unmarked(parent: &Held, path: &Path, journal: &Path) -> Result<Undone, Error> {
    let why = match unlinkat(parent, path.file_name().unwrap_or_default(), AtFlags::REMOVEDIR) {
        Ok(()) => return Ok(Undone::Removed),
        Err(Errno::NOENT) => return Ok(Undone::Absent),
        Err(Errno::NOTDIR) => "it is not a directory",
        Err(Errno::NOTEMPTY | Errno::EXIST) => {
            "it does not have the marker of the run that created it"
        }
        Err(error) => return Err(Error::unremovable(path, error, journal)),
    };
    Err(Error::not_ours(path, why, journal))
}

/// The directory in `parent` that contains the marker: the one called `name`, or any other.
fn find(parent: &Held, name: &[u8], marker: &str) -> Option<OwnedFd> {
    let open_ours = |name: &[u8]| {
        let directory = open_directory(parent, name).ok()?;
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        statx(&directory, marker, flags, StatxFlags::TYPE).is_ok().then_some(directory)
    };
    // A mount point is not ours, and its server might not answer.
    let is_ours = |name: &[u8]| {
        is_mount(parent, name).is_ok_and(|is_mount| !is_mount) && open_ours(name).is_some()
    };
    parent.find(name, is_ours).and_then(|name| open_ours(&name))
}

/// Removes an empty directory in `parent` by the name that it has at the moment.
fn remove_empty(parent: &Held, name: &[u8], directory: &OwnedFd) -> Result<(), Errno> {
    let wanted = fstat(directory)?;
    let is_it = |name: &[u8]| {
        statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino))
    };
    let mut last = Ok(());
    for _ in 0..ATTEMPTS {
        // It is not visible while it is renamed, or after it is gone.
        let Some(here) = parent.find(name, is_it) else { continue };
        // Removes only an empty directory, whatever has that name now.
        last = unlinkat(parent, here, AtFlags::REMOVEDIR);
        match last {
            Ok(()) if !is_it(name) => return Ok(()),
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
    last
}

fn remove_tree(directory: &OwnedFd, name: &[u8], kind: FileType) -> Result<(), Errno> {
    if kind != FileType::Directory {
        match unlinkat(directory, name, AtFlags::empty()) {
            // Some file systems do not tell the type when listing.
            Err(Errno::ISDIR) if kind == FileType::Unknown => {}
            other => return other,
        }
    }
    // A mount is not ours to empty: it could be the user's data on a file server. Checked before it
    // is opened, because opening may wait for a server that is gone.
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
fn is_mount(directory: impl AsFd, name: &[u8]) -> Result<bool, Errno> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let cached = AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
    let outer = statx(&directory, c"", cached | AtFlags::EMPTY_PATH, wanted)?;
    let inner = statx(&directory, name, cached | AtFlags::SYMLINK_NOFOLLOW, wanted)?;
    let device = |stat: &Statx| (stat.stx_dev_major, stat.stx_dev_minor);
    Ok(device(&outer) != device(&inner) || outer.stx_mnt_id != inner.stx_mnt_id)
}
