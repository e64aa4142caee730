use std::io;
use std::path::{Path, PathBuf};

use iotax_experiment::{Blame, Fault, brief};

/// An error about a record.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "{} already contains a record ({name}), which iotax does not overwrite; choose another \
         directory with --out",
        dir.display()
    )]
    Exists {
        dir: PathBuf,
        /// The file in it that would be overwritten.
        name: &'static str,
    },
    /// The directory holds no record.
    #[error(
        "{} is not an iotax results directory: it {}; pass the directory that the run printed at \
         the end",
        dir.display(),
        if dir.exists() { "has no experiment.json" } else { "does not exist" }
    )]
    NotARecord { dir: PathBuf },
    /// Written by a later version.
    #[error(
        "{} has record format {format}, but this version of iotax reads formats only up to \
         {known}; use a newer version",
        path.display()
    )]
    Newer {
        path: PathBuf,
        format: u32,
        /// The latest format that this version supports.
        known: u32,
    },
    /// Not what iotax writes.
    #[error("{}, line {line}: not a valid record: {}", path.display(), brief(&source.to_string()))]
    Broken {
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What the JSON parser says.
        source: serde_json::Error,
    },
    /// A file that is not a saved machine.
    #[error(
        "{} is not a saved machine; pass a file written by `iotax doctor --save`",
        path.display()
    )]
    NotAMachine { path: PathBuf },
    /// A number that is out of range for a machine.
    #[error(
        "{}: {} is {}, which is out of range; it must be from 0 to {}",
        path.display(), brief(field), brief(value), u64::MAX
    )]
    AbsurdNumber {
        path: PathBuf,
        /// Its path: `nodes[1].device.size_bytes`.
        field: String,
        /// The number as written.
        value: String,
    },
    /// A machine with too many layers.
    #[error("{} has more than {limit} layers, the limit for a saved machine", path.display())]
    TooManyLayers {
        path: PathBuf,
        /// The maximum.
        limit: usize,
    },
    /// A machine could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Save { path: PathBuf, source: io::Error },
    /// A file that already exists.
    #[error("{} already exists; choose another file", path.display())]
    Occupied { path: PathBuf },
    /// A file that is too long for a saved machine.
    #[error(
        "{} is {bytes} bytes long; the limit for a saved machine is {limit} bytes",
        path.display()
    )]
    TooLong {
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// The maximum.
        limit: u64,
    },
    /// Reading failed.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// Writing failed.
    #[error("cannot write results to {}: {source}{}", path.display(), advice(source))]
    Write { path: PathBuf, source: io::Error },
}

impl Error {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(crate) fn broken(path: &Path, source: serde_json::Error) -> Self {
        Self::Broken { path: path.to_owned(), line: source.line(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Exists { .. }
            | Self::NotARecord { .. }
            | Self::Newer { .. }
            | Self::Broken { .. }
            | Self::NotAMachine { .. }
            | Self::AbsurdNumber { .. }
            | Self::TooManyLayers { .. }
            | Self::Occupied { .. }
            | Self::TooLong { .. } => Fault::Usage,
            Self::Read { source, .. } => Fault::of_reading(source),
            Self::Save { .. } | Self::Write { .. } => Fault::Environment,
        }
    }
}

fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a writable directory with --out"
        }
        io::ErrorKind::StorageFull => {
            "; the trials measured so far are kept there; free some space, or choose another \
             disk with --out"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_nowhere_is_the_users_and_a_full_disk_is_not() {
        let dir = || PathBuf::from("/results");
        let read = |kind: io::ErrorKind| Error::read(&dir(), kind.into()).fault();
        assert_eq!(read(io::ErrorKind::NotFound), Fault::Usage);
        assert_eq!(read(io::ErrorKind::PermissionDenied), Fault::Environment);
        let full = Error::write(&dir(), io::ErrorKind::StorageFull.into());
        assert_eq!(full.fault(), Fault::Environment);
        assert_eq!(Error::NotARecord { dir: dir() }.fault(), Fault::Usage);
    }
}
