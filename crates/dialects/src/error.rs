use std::io;
use std::path::PathBuf;

use iotax_experiment::{Blame, Fault};

use crate::importers::imported::Error as Unusable;

/// Why results of other tools cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "{} is {bytes} bytes long; the limit for a result file is {limit} bytes",
        path.display()
    )]
    TooLong { path: PathBuf, bytes: u64, limit: u64 },
    #[error(
        "{} is not a result file from iotax run (--format json), fio (--output-format=json or \
         json+), DiskSpd (-Rxml), iperf3 (-J), knb (-o json) or k8s-netperf (--json): it {}",
        path.display(),
        beginning(begins)
    )]
    NotAResult { path: PathBuf, begins: String },
    #[error(
        "{} is the JSON report of an iotax comparison and contains no measurements; pass the \
         results directory of that comparison",
        path.display()
    )]
    Report { path: PathBuf },
    #[error("{}: {source}", path.display())]
    Broken { path: PathBuf, source: Unusable },
    #[error(transparent)]
    Record(#[from] iotax_record::Error),
    #[error("{what}; {advice}")]
    Incomparable { what: String, advice: &'static str },
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::TooLong { .. }
            | Self::NotAResult { .. }
            | Self::Report { .. }
            | Self::Incomparable { .. } => Fault::Usage,
            Self::Broken { source, .. } => source.fault(),
            Self::Record(error) => error.fault(),
            Self::Read { source, .. } => Fault::of_reading(source),
        }
    }
}

fn beginning(begins: &str) -> String {
    if begins.is_empty() { "is empty".to_owned() } else { format!("starts with `{begins}`") }
}
