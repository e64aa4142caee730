//! Where results go: as asked, or a new directory named after the command and the time.
//!
//! Many may start in one directory in the same second, so a name is not looked up but taken: only
//! one process can make a directory.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::iter;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use jiff::Zoned;

use crate::output;

/// As files that people share, for the umask to restrict.
const MODE: u32 = 0o777;

/// Where results are to go. Nothing is made before it is claimed, so that nothing is left of what
/// is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A directory of the user's choice, which may exist.
    Asked(PathBuf),
    /// A new one of this name, or the next free number behind it.
    New(String),
}

impl Destination {
    /// For the results of `command`, which starts now.
    pub fn new(command: &str, asked: Option<&Path>) -> Self {
        let name = || format!("iotax-{command}-{}", Zoned::now().strftime("%Y%m%d-%H%M%S"));
        asked.map_or_else(|| Self::New(name()), |dir| Self::Asked(dir.to_owned()))
    }

    /// Looks, before anything is measured, whether results can be written there.
    ///
    /// # Errors
    /// As [`output::refuse_occupied`]; for a name of our own, if no directory can be made here.
    pub fn refuse_unusable(&self) -> Result<()> {
        match self {
            Self::Asked(dir) => output::refuse_occupied(dir),
            Self::New(name) => output::refuse_unwritable(Path::new(name)),
        }
    }

    /// The directory, which nobody else has if it is a new one.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn claim(&self) -> Result<PathBuf> {
        self.claim_where(|_| true)
    }

    /// As [`Destination::claim`]; of new names only one that `is_free`.
    ///
    /// # Errors
    /// As [`Destination::claim`].
    pub fn claim_where(&self, is_free: impl Fn(&Path) -> bool) -> Result<PathBuf> {
        match self {
            Self::Asked(dir) => Ok(dir.clone()),
            Self::New(name) => claim(Path::new(""), name, is_free),
        }
    }
}

/// Makes the first directory of this name, or of the name and a number, that is not there.
fn claim(parent: &Path, name: &str, is_free: impl Fn(&Path) -> bool) -> Result<PathBuf> {
    let first = parent.join(name);
    let others = (2_u64..).map(|number| parent.join(format!("{name}-{number}")));
    for dir in iter::once(first).chain(others).filter(|dir| is_free(dir)) {
        match DirBuilder::new().mode(MODE).create(&dir) {
            Ok(()) => return Ok(dir),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot make {}", dir.display()));
            }
        }
    }
    unreachable!("numbers do not end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::thread;

    #[test]
    fn of_many_at_once_each_gets_a_directory_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let claimed: Vec<PathBuf> = thread::scope(|scope| {
            let all: Vec<_> = (0..32)
                .map(|_| scope.spawn(|| claim(root.path(), "iotax-x", |_| true).unwrap()))
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let names: BTreeSet<_> = claimed.iter().collect();
        assert_eq!(names.len(), 32);
        assert!(names.contains(&root.path().join("iotax-x")));
        assert!(names.contains(&root.path().join("iotax-x-32")));
    }

    #[test]
    fn a_file_of_the_name_is_no_directory_to_use() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("iotax-x"), "").unwrap();
        std::os::unix::fs::symlink("nowhere", root.path().join("iotax-x-2")).unwrap();
        assert_eq!(claim(root.path(), "iotax-x", |_| true).unwrap(), root.path().join("iotax-x-3"));
    }

    #[test]
    fn what_cannot_be_made_is_said_once() {
        let error = claim(Path::new("/proc/self/no/such"), "iotax-x", |_| true).unwrap_err();
        insta::assert_snapshot!(error, @"cannot make /proc/self/no/such/iotax-x");
    }
}
