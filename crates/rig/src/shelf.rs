//! Where arms have their mount points, sockets and files by a name that nobody else can change.
//!
//! Other programs take paths, look for the real names behind links, and outlive this process. So
//! what they stand on is mounted in a directory that only root can reach: the same inode, by a path
//! that leads nowhere else, whatever the owner of the user's directory does meanwhile.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use crate::entry::Entry;
use crate::error::Error;
use crate::held::Held;
use crate::journal::Journal;
use crate::{scratch, state};

/// Mounts what is held where only root can reach it, and says where that is. It goes with the
/// journal.
pub(crate) fn put(held: &Held, journal: &mut Journal) -> Result<PathBuf, Error> {
    let run_dir = state::run_directory(journal.state_dir())?;
    let failed = Error::cannot("mount it where only root can reach", held.shown());
    let shelf = scratch::make(&run_dir, journal)?;
    let name = held.shown().file_name().unwrap_or_default().to_string_lossy();
    let name = name.trim_start_matches('.');
    let at = shelf.shown().join(name);
    if held.is_file().map_err(failed)? {
        shelf.create(name).map_err(failed)?;
    } else {
        DirBuilder::new().mode(0o700).create(&at).map_err(failed)?;
    }
    journal.announce(Entry::Mount { path: at.clone() })?;
    held.bind(&at).map_err(failed)?;
    Ok(at)
}
