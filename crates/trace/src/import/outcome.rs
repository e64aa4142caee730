//! Formats, results and errors of an import.

use std::fmt;
use std::io;

use iotax_layers::blame::{Blame, Fault};

use crate::file;
use crate::head::{Source, Unseen};

/// A format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text of `strace -f -ttt -T`.
    Strace,
    /// fio's I/O log, version 2 or 3.
    FioLog,
    /// Binary data of `blktrace`, one file per CPU or merged by `blkparse -d`.
    Blktrace,
    /// Block traces that Alibaba Cloud published.
    Alibaba,
    /// Block traces that Tencent Cloud published.
    Tencent,
}

impl Format {
    pub const fn source(self) -> Source {
        match self {
            Self::Strace => Source::Strace,
            Self::FioLog => Source::FioLog,
            Self::Blktrace => Source::Blktrace,
            Self::Alibaba | Self::Tencent => Source::BlockCsv,
        }
    }

    /// Whether several inputs can be merged.
    pub(super) const fn takes_many(self) -> bool {
        matches!(self, Self::FioLog | Self::Blktrace)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Strace => "strace",
            Self::FioLog => "fio I/O log",
            Self::Blktrace => "blktrace",
            Self::Alibaba => "Alibaba block trace",
            Self::Tencent => "Tencent block trace",
        })
    }
}

/// What was imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub format: Format,
    pub events: u64,
    pub files: u32,
    pub threads: u32,
    pub length_ns: u64,
    /// Events that the tracing tool reported as lost.
    pub lost: u64,
    /// Lines or records that describe I/O and could not be used.
    pub skipped: u64,
    /// The first skipped records.
    pub examples: Vec<Skipped>,
    pub unseen: Vec<Unseen>,
}

/// A line or record that could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// Number of the input, counted from 0.
    pub input: usize,
    pub place: Place,
    pub reason: Reason,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.input > 0 {
            write!(f, "input {}, ", self.input + 1)?;
        }
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// Position in an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Counted from 1.
    Line(u64),
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// Why a line or record could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    #[error("the line is longer than 1 MiB")]
    TooLong,
    #[error("the line is not UTF-8 text")]
    NotText,
    #[error("the line is not in the expected format")]
    Malformed,
    #[error("a number is missing, invalid or too large")]
    Number,
    #[error("the timestamp is missing or invalid; trace with `strace -f -ttt -T -o FILE`")]
    Time,
    #[error("the times are relative; trace with `-ttt` instead of `-r`")]
    RelativeTime,
    #[error("the file descriptor was opened before the trace began; trace with `strace -y`")]
    UnknownDescriptor,
    #[error("the `<unfinished ...>` line of the call is missing")]
    NoBeginning,
    #[error("the mapping of the memory range is not in the trace")]
    UnknownMapping,
    #[error("strace does not show the I/O of io_uring and io_submit; use `iotax capture` instead")]
    Asynchronous,
    #[error("unknown fio action")]
    UnknownAction,
    #[error("`wait` is not valid in a version 3 log")]
    Wait,
    #[error("the opcode is neither a read nor a write")]
    UnknownOpcode,
    #[error("the completion (C) has no matching issue (D); import the files of all CPUs together")]
    NoRequest,
    #[error("the request was issued (D), but never completed (C)")]
    NoCompletion,
    #[error("not a blktrace record (version 7)")]
    NotARecord,
}

/// Why a trace cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("cannot read the input: {0}")]
    Read(#[from] io::Error),
    #[error("cannot write the recording: {0}")]
    Write(#[from] file::Error),
    #[error(
        "unknown format; iotax imports text of `strace -f -ttt -T`, I/O logs of fio (version 2 and \
         3), binary data of blktrace, and block traces of Alibaba and Tencent"
    )]
    UnknownFormat,
    #[error("no input; name at least one file to import")]
    NoInput,
    #[error("{format}: {inputs} files were given, but only one can be imported{}", advice(*format))]
    TooManyInputs { format: Format, inputs: usize },
    #[error("the input contains no I/O that can be imported{}", example(first.as_ref()))]
    Empty { first: Option<Skipped> },
    #[error("{skipped} of {records} records cannot be used (limit: 10 %); the first: {first}")]
    TooManySkipped { skipped: u64, records: u64, first: Skipped },
    #[error(
        "the input is not sorted by time: near record {event}, time goes back by more than 1 s; \
         sort the input first"
    )]
    Unordered { event: u64 },
    #[error("{at}")]
    Corrupt { at: Skipped },
}

impl Blame for ImportError {
    fn fault(&self) -> Fault {
        match self {
            Self::Read(_) => Fault::Environment,
            Self::Write(error) => error.fault(),
            _ => Fault::Usage,
        }
    }
}

const fn advice(format: Format) -> &'static str {
    match format {
        Format::Strace => "; merge the files of `strace -ff` first: strace-log-merge PREFIX > FILE",
        _ => "; concatenate them in time order first",
    }
}

fn example(skipped: Option<&Skipped>) -> String {
    skipped.map_or_else(String::new, |skipped| format!("; {skipped}"))
}
