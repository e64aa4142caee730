//! The location of a record: how it is accessed, and its name for users.

use std::path::{Path, PathBuf};

/// A directory, or a file in it. If others could replace names meanwhile, it is accessed through a
/// descriptor (`/proc/PID/fd/N`), which the creator of the location keeps open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    at: PathBuf,
    shown: PathBuf,
}

impl Location {
    /// Accessed at `at`, and shown in messages as `shown`.
    pub fn new(at: impl Into<PathBuf>, shown: impl Into<PathBuf>) -> Self {
        Self { at: at.into(), shown: shown.into() }
    }

    /// The entry `name` in it.
    #[must_use]
    pub fn join(&self, name: impl AsRef<Path>) -> Self {
        Self { at: self.at.join(&name), shown: self.shown.join(&name) }
    }

    /// The path for access.
    pub fn at(&self) -> &Path {
        &self.at
    }

    /// The path for messages.
    pub fn shown(&self) -> &Path {
        &self.shown
    }
}

/// Accessed by its name.
impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self::new(path, path)
    }
}

impl From<&PathBuf> for Location {
    fn from(path: &PathBuf) -> Self {
        path.as_path().into()
    }
}

impl From<&Self> for Location {
    fn from(location: &Self) -> Self {
        location.clone()
    }
}
