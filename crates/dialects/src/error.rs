use std::io;
use std::path::PathBuf;

use crate::importers::error::Error as Fault;

/// Why results of other tools cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Longer than any result of another tool.
    #[error(
        "{} is {bytes} bytes long; results of up to {limit} bytes are read",
        path.display()
    )]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// The most that is read.
        limit: u64,
    },
    /// A file that is nobody's result.
    #[error(
        "{} is no result of iotax run (--format json), fio (--output-format=json or json+) or DiskSpd (-Rxml): it {}",
        path.display(),
        beginning(begins)
    )]
    NotAResult {
        /// The file.
        path: PathBuf,
        /// How it begins; empty if there is nothing in it.
        begins: String,
    },
    /// What iotax prints of a comparison.
    #[error(
        "{} is the report of a comparison by iotax in JSON, without what was measured: give the \
         directory of results that it was printed with",
        path.display()
    )]
    Report {
        /// The file.
        path: PathBuf,
    },
    /// Another tool's result that cannot be used.
    #[error("{}: {source}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Fault,
    },
    /// A record of iotax that cannot be read.
    #[error(transparent)]
    Record(#[from] iotax_record::Error),
    /// Results that have nothing in common to compare.
    #[error("{what}; {advice}")]
    Incomparable {
        /// What is wrong.
        what: String,
        /// What to do.
        advice: &'static str,
    },
    /// Reading failed.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    /// Whether what the user named is wrong, and not what is on this machine.
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::NotAResult { .. } | Self::Report { .. } | Self::Incomparable { .. })
    }
}

fn beginning(begins: &str) -> String {
    if begins.is_empty() { "is empty".to_owned() } else { format!("begins with `{begins}`") }
}
