//! Where a record is: how it is reached, and what people call it.

use std::path::{Path, PathBuf};

/// A directory, or a file in it. Where somebody else could exchange names meanwhile, it is reached by
/// a descriptor (`/proc/PID/fd/N`), which whoever hands this out keeps open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    at: PathBuf,
    shown: PathBuf,
}

impl Location {
    /// Reached at `at`, and called `shown` in messages.
    pub fn new(at: impl Into<PathBuf>, shown: impl Into<PathBuf>) -> Self {
        Self { at: at.into(), shown: shown.into() }
    }

    /// What is called `name` in it.
    #[must_use]
    pub fn join(&self, name: impl AsRef<Path>) -> Self {
        Self { at: self.at.join(&name), shown: self.shown.join(&name) }
    }

    /// How it is reached.
    pub fn at(&self) -> &Path {
        &self.at
    }

    /// What people call it.
    pub fn shown(&self) -> &Path {
        &self.shown
    }
}

/// By its name alone.
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
