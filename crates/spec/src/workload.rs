//! The I/O to do: a workload is one or more jobs that run at the same time.
//!
//! All numbers here are resolved: bytes, nanoseconds, I/Os per second. How a user writes them
//! (`4k`, `200us`) is the business of [`crate::units`].

use serde::{Deserialize, Serialize};

/// What to run in every trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Name shown in every output.
    pub name: String,
    /// One paragraph for `iotax workloads`.
    pub about: String,
    /// Length of the discarded start of each trial, in nanoseconds.
    pub ramp_ns: u64,
    /// Length of the measured window of each trial, in nanoseconds.
    pub time_ns: u64,
    /// The jobs, all started together (apart from their own `start_delay_ns`).
    pub jobs: Vec<Job>,
    /// Index publishing and loading beside the jobs, if the workload has it.
    pub index: Option<IndexLoads>,
    /// Name of the job whose throughput is the workload's figure of merit.
    pub primary: String,
}

impl Workload {
    /// The job whose throughput decides the verdict.
    pub fn primary_job(&self) -> Option<&Job> {
        self.jobs.iter().find(|job| job.name == self.primary)
    }

    /// Whether any job, or the index driver, writes.
    pub fn writes(&self) -> bool {
        self.index.is_some() || self.jobs.iter().any(Job::writes)
    }
}

/// One group of identical threads.
#[expect(clippy::struct_excessive_bools, reason = "independent switches, as in a fio job")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Unique within the workload.
    pub name: String,
    /// How I/O is issued on paths. Targets that are vdisk stacks always use [`Engine::Vdisk`].
    pub engine: Engine,
    /// Threads, each with its own queue (fio: `numjobs`).
    pub threads: u32,
    /// I/Os kept in flight by each thread (fio: `iodepth`). Synchronous engines take 1.
    pub queue_depth: u32,
    /// Percentage of reads: 100 reads only, 0 writes only.
    pub read_percent: u8,
    /// Order of offsets.
    pub pattern: Pattern,
    /// Sizes of single I/Os.
    pub block_sizes: BlockSizes,
    /// Which file each thread works on.
    pub files: Files,
    /// Bytes of file (or of device, or of vdisk) each thread's offsets span; the whole target
    /// where that is smaller.
    pub size_bytes: u64,
    /// Closed loop, or an offered rate for all threads of the job together.
    pub pace: Pace,
    /// End of the job; [`Bound::Time`] means the whole trial.
    pub bound: Bound,
    /// Wait before the first I/O, from the start of the trial.
    pub start_delay_ns: u64,
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Drop the file's cached pages before each trial: a cold cache, and proof is demanded.
    pub invalidate: bool,
    /// `fdatasync` after every so many writes of a thread.
    pub fsync_every: Option<u32>,
    /// `fsync` when the job ends.
    pub end_fsync: bool,
    /// After writing, read back and compare every block (outside the measured window).
    pub verify: bool,
    /// `io_uring`: let a kernel thread poll the submission queue.
    pub sqpoll: bool,
    /// Tell the kernel the access pattern (`posix_fadvise`, `madvise`), as fio does by default.
    pub advise: bool,
}

impl Job {
    /// Whether the job writes at all.
    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// Whether the job reads at all.
    pub fn reads(&self) -> bool {
        self.read_percent > 0
    }
}

/// How I/O is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Completes at once: measures the load generator itself.
    Null,
    /// `pread` / `pwrite`.
    Psync,
    /// Loads and stores through a shared mapping.
    Mmap,
    /// `io_uring` with registered files and buffers.
    IoUring,
    /// In-process virtual disk.
    Vdisk,
}

impl Engine {
    /// The name used in specs and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Psync => "psync",
            Self::Mmap => "mmap",
            Self::IoUring => "io_uring",
            Self::Vdisk => "vdisk",
        }
    }

    /// Whether more than one I/O per thread can be in flight.
    pub const fn is_async(self) -> bool {
        matches!(self, Self::Null | Self::IoUring | Self::Vdisk)
    }
}

/// Order of offsets within the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Uniformly random, aligned to the smallest block size.
    Random,
    /// Ascending, wrapping at the end of the span.
    Sequential,
}

/// Sizes of single I/Os, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockSizes {
    /// All the same.
    Fixed(u32),
    /// Uniform over the multiples of `min` in `min..=max` (fio: `bsrange`).
    Range {
        /// Smallest size, also the alignment.
        min: u32,
        /// Largest size.
        max: u32,
    },
    /// Drawn by weight (fio: `bssplit`). Weights are percent and sum to 100.
    Split(Vec<Share>),
}

impl BlockSizes {
    /// The smallest size: offsets are multiples of it.
    pub fn min_bytes(&self) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range { min, .. } => *min,
            Self::Split(shares) => shares.iter().map(|s| s.bytes).min().unwrap_or(0),
        }
    }

    /// The largest size: buffers are this long.
    pub fn max_bytes(&self) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range { max, .. } => *max,
            Self::Split(shares) => shares.iter().map(|s| s.bytes).max().unwrap_or(0),
        }
    }
}

/// One entry of a block-size split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Block size.
    pub bytes: u32,
    /// Percent of I/Os.
    pub percent: u8,
}

/// Which file a thread works on, inside a directory target. A target that is itself a file, a
/// device or a vdisk is always shared; each thread then gets its own region where
/// [`Files::PerThread`] is asked for and the target is large enough, and the whole span otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Files {
    /// `<job>.<thread>`, one each.
    PerThread,
    /// One file of this name for all threads.
    Shared(String),
}

/// When I/Os are issued.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// The next I/O as soon as a slot is free.
    Closed,
    /// Open loop at fixed intervals.
    Even {
        /// I/Os per second of all threads of the job together.
        iops: f64,
    },
    /// Open loop with exponentially distributed gaps.
    Poisson {
        /// I/Os per second of all threads of the job together.
        iops: f64,
    },
}

impl Pace {
    /// The offered rate in I/Os per second, if the loop is open.
    pub fn offered_iops(self) -> Option<f64> {
        match self {
            Self::Closed => None,
            Self::Even { iops } | Self::Poisson { iops } => Some(iops),
        }
    }
}

/// When a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// With the trial.
    Time,
    /// After each thread has moved so many bytes, or with the trial if that is earlier.
    Bytes(u64),
}

/// A driver publishes index versions, a searcher loads them and answers queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct IndexLoads {
    /// Versions published per second, at most.
    pub versions_per_second: f64,
    /// Size of one version.
    pub index_bytes: u64,
    /// A load longer than this is a slow load.
    pub slow_load_ns: u64,
    /// Queries arriving per second (open loop, Poisson).
    pub queries_per_second: f64,
    /// Bytes one query reads from the index.
    pub query_bytes: u32,
}
