use std::io;
use std::path::{Path, PathBuf};

/// What can be wrong with a record.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory holds a record already.
    #[error(
        "{} holds a record already ({name}); results are never overwritten: name another directory with --out",
        dir.display()
    )]
    Exists {
        /// The directory.
        dir: PathBuf,
        /// The file in it that would be overwritten.
        name: &'static str,
    },
    /// The directory holds no record.
    #[error(
        "{} is not an iotax record: it has no experiment.json; give the directory that a run printed as its results",
        dir.display()
    )]
    NotARecord {
        /// The directory.
        dir: PathBuf,
    },
    /// Written by a later version.
    #[error(
        "{} is of record format {format}, this iotax reads up to {known}: use a newer iotax",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
        /// The latest format known here.
        known: u32,
    },
    /// Not what iotax writes.
    #[error("{}, line {line}: not a valid record: {source}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What the JSON parser says.
        source: serde_json::Error,
    },
    /// Reading failed.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Writing failed.
    #[error("cannot write results to {}: {source}{}", path.display(), advice(source))]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }
}

fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; name a writable directory with --out"
        }
        io::ErrorKind::StorageFull => {
            "; trials measured so far are kept there: free space, or name another disk with --out"
        }
        _ => "",
    }
}
