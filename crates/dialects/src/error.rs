use std::io;
use std::path::PathBuf;

use crate::importers::error::Error as Fault;

/// Why results of other tools cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "{} is {bytes} bytes long; results of up to {limit} bytes are read",
        path.display()
    )]
    TooLong { path: PathBuf, bytes: u64, limit: u64 },
    #[error(
        "{} is no result of iotax run (--format json), fio (--output-format=json or json+), DiskSpd (-Rxml), iperf3 (-J), knb (-o json) or k8s-netperf (--json): it {}",
        path.display(),
        beginning(begins)
    )]
    NotAResult { path: PathBuf, begins: String },
    #[error(
        "{} is the report of a comparison by iotax in JSON, without what was measured: give the \
         directory of results that it was printed with",
        path.display()
    )]
    Report { path: PathBuf },
    #[error("{}: {source}", path.display())]
    Broken { path: PathBuf, source: Fault },
    #[error(transparent)]
    Record(#[from] iotax_record::Error),
    #[error("{what}; {advice}")]
    Incomparable { what: String, advice: &'static str },
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
}

impl Error {
    /// Whether what the user named is wrong, and not what is on this machine.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Read { source, .. } => source.kind() == io::ErrorKind::NotFound,
            Self::Record(error) => error.is_usage(),
            _ => true,
        }
    }
}

fn beginning(begins: &str) -> String {
    if begins.is_empty() { "is empty".to_owned() } else { format!("begins with `{begins}`") }
}
