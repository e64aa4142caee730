//! Metadata of a trace and of the files in it.

use serde::{Deserialize, Serialize};

/// The version of the format that this program writes.
pub const VERSION: u32 = 2;

/// Origin of the trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub version: u32,
    /// The program that wrote it: `iotax 0.1.0`.
    pub program: String,
    pub source: Source,
    /// Start time, RFC 3339 in UTC; empty if unknown.
    pub started: String,
    /// `6.1.0 x86_64`; empty if the source does not tell.
    pub kernel: String,
    pub cpus: Option<u32>,
    pub memory_bytes: Option<u64>,
    /// Memory that the application may use, if its cgroup has a limit.
    pub memory_limit_bytes: Option<u64>,
    /// What the source cannot see.
    pub unseen: Vec<Unseen>,
}

impl Head {
    /// Of a trace of which nothing else is known.
    pub fn new(program: impl Into<String>, source: Source) -> Self {
        Self {
            version: VERSION,
            program: program.into(),
            source,
            started: String::new(),
            kernel: String::new(),
            cpus: None,
            memory_bytes: None,
            memory_limit_bytes: None,
            unseen: Vec::new(),
        }
    }
}

/// How the events were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// BPF programs on the kernel's tracepoints.
    Bpf,
    /// `strace -f -ttt -T`.
    Strace,
    /// `blktrace`.
    Blktrace,
    /// fio's I/O log.
    FioLog,
    /// A public trace of block I/O in CSV.
    BlockCsv,
}

/// What a source cannot see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unseen {
    /// Page faults of mapped files.
    Faults,
    /// Pages that became dirty through mappings.
    DirtiedPages,
    /// Requests of `io_uring`.
    Uring,
    /// Which thread woke which.
    Wakes,
    /// CPU time of the threads.
    CpuTime,
    /// System calls: the trace contains only block I/O.
    Calls,
    /// How long each operation took.
    Latencies,
    /// Sizes, holes and cached parts of files before the trace.
    StartState,
    /// Open files of some processes, and the state of these files before the trace.
    OpenFiles,
    /// Processes that joined the recorded control group later.
    LaterMembers,
    /// Start times, or their fraction of a second.
    Times,
}

/// A file before the trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    pub kind: FileKind,
    /// A class of file names from a fixed list, such as `wal`; only on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Device of the file, numbered in order of first use.
    pub device: u32,
    pub size_bytes: u64,
    /// Parts that hold no data, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// How much of it was in the page cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_bytes: Option<u64>,
    /// Whether it was created during the trace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_new: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    #[default]
    Regular,
    Directory,
    BlockDevice,
}

/// A part of a file without data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    pub offset: u64,
    pub bytes: u64,
    /// Allocated but never written, rather than a hole.
    pub is_unwritten: bool,
}

/// Why a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The command ended, with this exit code unless a signal ended it.
    Command { code: Option<i32> },
    /// All recorded processes are gone.
    Gone,
    /// The requested time was over.
    Time,
    /// The trace reached its maximum size.
    Size,
    /// The recorder used more CPU time than allowed.
    Overhead,
    /// Stopped by the user.
    Stopped,
}

/// How a trace ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// `None` if the trace was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// Share of the machine's CPU time that the recorder took, if the kernel measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<f64>,
    pub events: u64,
    /// Events that were lost, as far as they were counted.
    pub lost: u64,
    /// From the first event to the last, or to the end of the recording.
    pub length_ns: u64,
    /// CPU time of the recorder itself.
    pub recorder_cpu_ns: Option<u64>,
    /// Where each chunk of events begins.
    pub chunks: Vec<ChunkPlace>,
}

impl End {
    /// Whether more than 1 in 1,000 events were lost, which makes a replay unreliable.
    pub const fn lost_too_many(&self, events: u64) -> bool {
        self.lost.saturating_mul(1000) > events
    }
}

/// Where a chunk of events is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkPlace {
    /// In the trace file.
    pub at_byte: u64,
    /// The end of its first event.
    pub first_ns: u64,
    pub events: u32,
}
