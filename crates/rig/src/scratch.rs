//! Private directories: for test files, and for held files that other programs need to reach.

use std::fs;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::entry::Entry;
use crate::entry::directory::marker_name;
use crate::error::Error;
use crate::held::Held;
use crate::identity::FileSystem;
use crate::journal::{Journal, token};
use crate::state;

/// Prefix of all their names.
const PREFIX: &str = ".iotax-";
/// Older than any private directory of the present run.
const OLD: Duration = Duration::from_mins(1);
/// At most this many entries of a directory are read.
const MAX_READ: usize = 10_000;

const ACTION: &str = "create a private directory in it";

/// Makes a private directory in `parent` (absolute, without symbolic links).
pub(crate) fn make(parent: &Path, journal: &mut Journal) -> Result<Held, Error> {
    make_in(&Held::at(parent).map_err(Error::cannot(ACTION, parent))?, journal)
}

/// Makes a private directory in a directory that is held.
pub(crate) fn make_in(parent: &Held, journal: &mut Journal) -> Result<Held, Error> {
    let failed = Error::cannot(ACTION, parent.shown());
    let name = format!("{PREFIX}{}", token().map_err(failed)?);
    let token = token().map_err(failed)?;
    journal.announce(Entry::Directory {
        path: parent.shown().join(&name),
        token: token.clone(),
        parent_inode: parent.inode().map_err(failed)?,
        file_system: FileSystem::of(parent),
    })?;
    parent.make_private(&name, &marker_name(&token)).map_err(failed)
}

/// The names of older private directories in `parent`: of runs that are active, or of runs whose
/// journal is lost, for example together with a node.
pub(crate) fn of_earlier_runs(parent: &Path, now: SystemTime) -> Vec<String> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .take(MAX_READ)
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry)))
        .filter(|(name, _)| name.starts_with(PREFIX))
        .filter(|(_, entry)| {
            let changed = entry.metadata().ok().filter(fs::Metadata::is_dir);
            let changed = changed.and_then(|known| known.modified().ok());
            changed.and_then(|at| now.duration_since(at).ok()).is_some_and(|age| age > OLD)
        })
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    names
}

/// Mounts a held file where only root can reach it, and returns the path. The journal undoes the
/// mount.
///
/// Other programs need paths, resolve links, and may outlive this process. So they get the same
/// inode by a path that leads nowhere else, whatever the owner of the user's directory does.
pub(crate) fn put_on_shelf(held: &Held, journal: &mut Journal) -> Result<PathBuf, Error> {
    let run_dir = state::run_directory(journal.state_dir())?;
    let failed = Error::cannot("mount it in a directory that only root can access", held.shown());
    let shelf = make(&run_dir, journal)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_private_directories_that_were_there_before_are_of_earlier_runs() {
        let parent = tempfile::TempDir::new().unwrap();
        for name in [".iotax-b", ".iotax-a", "data"] {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        fs::write(parent.path().join(".iotax-file"), "").unwrap();
        let now = SystemTime::now();
        assert_eq!(of_earlier_runs(parent.path(), now), Vec::<String>::new());
        let later = now + 2 * OLD;
        assert_eq!(of_earlier_runs(parent.path(), later), [".iotax-a", ".iotax-b"]);
        assert_eq!(of_earlier_runs(&parent.path().join("none"), later), Vec::<String>::new());
    }
}
