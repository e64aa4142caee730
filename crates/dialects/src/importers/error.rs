use iotax_experiment::{Blame, Fault, brief};

/// Why another tool's result cannot be used. The messages name the place in the text; whoever has
/// the file's name puts it before them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the result is {bytes} bytes long; no more than {limit} are read")]
    TooLong { bytes: usize, limit: usize },
    #[error(
        "it holds no JSON of fio{}; run fio with --output-format=json+ and keep what it prints",
        said(text)
    )]
    NoDocument { text: String },
    #[error(
        "line {line}: the JSON that begins here is cut off: what wrote it was ended before it was done"
    )]
    CutOff { line: usize },
    #[error("line {line}, column {column}: {}", brief(why))]
    Json { line: usize, column: usize, why: String },
    #[error("line {line}: this JSON has no \"{missing}\": it is not a result of fio")]
    NotFio { line: usize, missing: &'static str },
    #[error("the result has no jobs: fio ended before any of them ran")]
    NoJobs,
    #[error("the result has more than {limit} jobs")]
    TooManyJobs { limit: usize },
    #[error("job {}: {} is {}, but should be {expected}", brief(job), brief(field), brief(value))]
    Number { job: String, field: String, value: String, expected: &'static str },
    #[error("line {line}: {}; DiskSpd's results in XML are what diskspd -Rxml prints", brief(why))]
    Xml { line: usize, why: String },
    #[error(
        "this is DiskSpd's text output, which rounds and leaves out; run it again with -Rxml, and \
         keep what it prints"
    )]
    DiskspdText,
    #[error("it holds no measurement of {tool}: {}", brief(why))]
    Nothing { tool: &'static str, why: String },
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::TooLong { .. }
            | Self::NoDocument { .. }
            | Self::CutOff { .. }
            | Self::Json { .. }
            | Self::NotFio { .. }
            | Self::NoJobs
            | Self::TooManyJobs { .. }
            | Self::Number { .. }
            | Self::Xml { .. }
            | Self::DiskspdText
            | Self::Nothing { .. } => Fault::Usage,
        }
    }
}

fn said(text: &str) -> String {
    if text.is_empty() {
        " (it is empty)".to_owned()
    } else {
        format!(" (its first line is {:?})", brief(text))
    }
}
