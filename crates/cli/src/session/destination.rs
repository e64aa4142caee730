//! The results directory: the one that the user names, or a new one named after command and time.
//!
//! Several runs may start in the same second, so iotax claims a name by creating its directory,
//! which only one process can do. From then on it keeps the directory open: if the owner of the
//! parent directory replaces it, nothing is written to the replacement.

use std::io::{self, ErrorKind};
use std::iter;
use std::path::{Path, PathBuf};

use iotax_rig::Held;
use jiff::Zoned;

use crate::exit::{Context as _, Result};
use crate::output;

/// The results directory before it is claimed. Nothing is created until then, so a refused run
/// leaves nothing behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A directory of the user's choice, which may exist.
    Asked(PathBuf),
    /// A new one with this name, or with the next free number appended.
    New(String),
}

impl Destination {
    /// The directory for the results of `command`, which starts now.
    pub(crate) fn new(command: &str, asked: Option<&Path>) -> Self {
        let name = || format!("iotax-{command}-{}", Zoned::now().strftime("%Y%m%d-%H%M%S"));
        asked.map_or_else(|| Self::New(name()), |dir| Self::Asked(dir.to_owned()))
    }

    /// Checks, before anything is measured, whether results can be written there.
    ///
    /// # Errors
    /// As [`output::refuse_occupied`]; for a default name, if no directory can be created here.
    pub(crate) fn refuse_unusable(&self) -> Result<()> {
        match self {
            Self::Asked(dir) => output::refuse_occupied(dir),
            Self::New(name) => output::refuse_unwritable(Path::new(name)),
        }
    }

    /// Creates the directory; a new one belongs to this process only.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn claim(&self) -> Result<Held> {
        match self {
            Self::Asked(dir) => Held::made(dir).with_context(|| cannot_make(dir)),
            Self::New(name) => claim(&here()?, name, |_| true),
        }
    }

    /// Creates a new directory, and returns its parent and the directory. Default names must also
    /// be `is_free`.
    ///
    /// # Errors
    /// As [`Destination::claim`]; if a directory that the user names exists.
    pub(crate) fn claim_new(&self, is_free: impl Fn(&Path) -> bool) -> Result<(Held, Held)> {
        match self {
            Self::Asked(dir) => make_new(dir).with_context(|| cannot_make(dir)),
            Self::New(name) => {
                let parent = here()?;
                let dir = claim(&parent, name, is_free)?;
                Ok((parent, dir))
            }
        }
    }
}

/// Creates `dir`, and returns its parent and the directory.
fn make_new(dir: &Path) -> io::Result<(Held, Held)> {
    let name = dir.file_name().ok_or(io::Error::other("the path does not end in a name"))?;
    let parent = match dir.parent() {
        Some(parent) if parent != Path::new("") => Held::existing(parent)?,
        _ => Held::here()?,
    };
    let dir = parent.make_directory(name)?;
    Ok((parent, dir))
}

fn here() -> Result<Held> {
    Held::here().context("cannot create anything in the working directory")
}

fn cannot_make(dir: &Path) -> String {
    format!("cannot create {}", dir.display())
}

/// Creates a directory with this name, or with the first free number appended.
fn claim(parent: &Held, name: &str, is_free: impl Fn(&Path) -> bool) -> Result<Held> {
    let others = (2_u64..).map(|number| format!("{name}-{number}"));
    let names = iter::once(name.to_owned()).chain(others);
    for name in names.filter(|name| is_free(&parent.shown().join(name))) {
        match parent.make_directory(&name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made.with_context(|| cannot_make(&parent.shown().join(name))),
        }
    }
    unreachable!("numbers do not end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::thread;

    use iotax_record::Location;

    use crate::publish;

    #[test]
    fn of_many_at_once_each_gets_a_directory_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let parent = Held::existing(root.path()).unwrap();
        let claimed: Vec<Held> = thread::scope(|scope| {
            let all: Vec<_> = (0..32)
                .map(|_| scope.spawn(|| claim(&parent, "iotax-x", |_| true).unwrap()))
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let names: BTreeSet<_> = claimed.iter().map(Held::shown).collect();
        assert_eq!(names.len(), 32);
        assert!(names.contains(&*root.path().join("iotax-x")));
        assert!(names.contains(&*root.path().join("iotax-x-32")));
    }

    #[test]
    fn a_file_of_the_name_is_no_directory_to_use() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("iotax-x"), "").unwrap();
        symlink("nowhere", root.path().join("iotax-x-2")).unwrap();
        let claimed = claim(&Held::existing(root.path()).unwrap(), "iotax-x", |_| true).unwrap();
        assert_eq!(claimed.shown(), root.path().join("iotax-x-3"));
    }

    #[test]
    fn what_cannot_be_made_is_said_once() {
        let parent = Held::existing(Path::new("/proc/self")).unwrap();
        let error = claim(&parent, "iotax-x", |_| true).unwrap_err();
        insta::assert_snapshot!(error, @"cannot create /proc/self/iotax-x: No such file or directory (os error 2)");
    }

    #[test]
    fn results_go_where_nobody_can_lead_them_by_a_name() {
        let root = tempfile::tempdir().unwrap();
        let (dir, other) = (root.path().join("a/b"), root.path().join("other"));
        let held = Destination::Asked(dir.clone()).claim().unwrap();
        fs::create_dir(&other).unwrap();
        fs::rename(&dir, root.path().join("moved")).unwrap();
        symlink(&other, &dir).unwrap();
        let page = iotax_report::Document::default();
        publish::write_page(&Location::from(&held), &page).unwrap();
        held.enter("depth-check").unwrap();
        symlink(&other, root.path().join("moved/below-cap")).unwrap();
        insta::assert_snapshot!(held.enter("below-cap").unwrap_err(), @"Not a directory (os error 20)");
        assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
        assert_eq!(fs::read_dir(root.path().join("moved")).unwrap().count(), 3);
        fs::remove_dir_all(root.path().join("moved")).unwrap();
        let error = publish::write_page(&Location::from(&held), &page).unwrap_err().to_string();
        let missing = "No such file or directory (os error 2)";
        assert_eq!(error, format!("cannot write {}/report.html: {missing}", dir.display()));
    }
}
