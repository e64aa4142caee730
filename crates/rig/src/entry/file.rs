//! A file at a path that the user named, and a socket: recognised by their identity, and removed.

use std::path::Path;

use rustix::fs::{AtFlags, FileType, statat, unlinkat};
use rustix::io::Errno;

use crate::error::Error;
use crate::held::Held;
use crate::identity::Identity;
use crate::undone::Undone;

/// Removes the file with this identity from `parent`, even if the owner of the directory renamed it
/// from `path`.
pub(crate) fn remove(
    parent: &Held,
    path: &Path,
    identity: Identity,
    journal: &Path,
) -> Result<Undone, Error> {
    let failed = |error: Errno| Error::unremovable(path, error, journal);
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_ours = |name: &[u8]| {
        statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|found| {
            FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
                && Identity::within(parent, name) == Ok(identity)
        })
    };
    if let Some(here) = parent.find(name, is_ours) {
        unlinkat(parent, here, AtFlags::empty()).map_err(failed)?;
        return Ok(Undone::Removed);
    }
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(Undone::Absent),
        Err(error) => Err(failed(error)),
        Ok(_) => Err(Error::not_ours(path, "it is not the file that iotax created", journal)),
    }
}

/// Removes the socket. It is not checked further: whoever could replace it could also remove it.
pub(crate) fn remove_socket(path: &Path, journal: &Path) -> Result<Undone, Error> {
    let Ok(parent) = Held::directory(path.parent().unwrap_or(Path::new("/"))) else {
        return Ok(Undone::Absent);
    };
    let name = path.file_name().unwrap_or_default();
    match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(Undone::Absent),
        Err(error) => Err(Error::unremovable(path, error, journal)),
        Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::Socket => {
            Err(Error::not_ours(path, "it is not a socket", journal))
        }
        Ok(_) => {
            let removed = unlinkat(&parent, name, AtFlags::empty());
            removed.map_err(|error| Error::unremovable(path, error, journal))?;
            Ok(Undone::Removed)
        }
    }
}

#[cfg(test)]
mod socket_tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_socket_is_removed_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let (path, journal) = (dir.path().join("wg.sock"), Path::new("/journal"));
        assert_eq!(remove_socket(&path, journal).unwrap(), Undone::Absent);
        let _listener = UnixListener::bind(&path).unwrap();
        assert_eq!(remove_socket(&path, journal).unwrap(), Undone::Removed);
        assert_eq!(remove_socket(&path, journal).unwrap(), Undone::Absent);
        std::fs::write(&path, "precious").unwrap();
        let error = remove_socket(&path, journal).unwrap_err().to_string();
        assert!(error.contains("not removed: it is not a socket"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
        assert_eq!(remove_socket(&dir.path().join("no/such"), journal).unwrap(), Undone::Absent);
    }
}
