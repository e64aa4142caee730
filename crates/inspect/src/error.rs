//! Errors of inspecting a path.

use std::io;
use std::path::PathBuf;

use iotax_record::{Blame, Fault};

/// A path could not be examined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path, or something on the way to it, cannot be reached.
    #[error("{path}: {source}", path = path.display())]
    Path {
        /// The path as requested.
        path: PathBuf,
        source: io::Error,
    },
}

impl Error {
    /// Whether nothing exists at the path.
    pub fn is_not_found(&self) -> bool {
        let Self::Path { source, .. } = self;
        matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    }

    pub fn reason(&self) -> &io::Error {
        let Self::Path { source, .. } = self;
        source
    }
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Path { source, .. } => Fault::of_reading(source),
        }
    }
}
