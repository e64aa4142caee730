//! A file at a path that the user named: known by its identity, and removed.

use std::path::Path;

use rustix::fs::{AtFlags, FileType, statat, unlinkat};
use rustix::io::Errno;

use crate::error::Error;
use crate::held::Held;
use crate::identity::Identity;
use crate::undone::Undone;

/// Removes the file with this identity from `parent`, whatever it is called by now: whoever owns the
/// directory may have renamed it from `path`.
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
        Ok(_) => Err(Error::not_ours(path, "it is not the file that iotax made", journal)),
    }
}
