//! Workloads: one or more jobs that run at the same time.
//!
//! All numbers here are resolved: bytes, nanoseconds, I/Os per second. [`crate::units`] handles how
//! users write them (`4k`, `200us`).

use std::cmp::Ordering;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::rule::{Rule, TimeKind};
use crate::spec::Yields;
use crate::tree::Tree;

use crate::turns::{Flow, IoPriority, Numa, PriorityShare};
use crate::writes::Content;

pub use crate::index::IndexLoads;
pub use crate::order::{Extent, Pattern, RunLength, Skew, Stretches, Zone};

/// What to run in every trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Name shown in all output.
    pub name: String,
    /// Description for `iotax workloads`.
    pub about: String,
    /// Length of the ramp of each trial, which is discarded, in nanoseconds.
    pub ramp_ns: u64,
    /// Length of the measured window of each trial, in nanoseconds.
    pub time_ns: u64,
    /// The jobs, which all start together (apart from their `start_delay_ns` and `end_after_ns`).
    pub jobs: Vec<Job>,
    /// Index publishing and loading beside the jobs, if any.
    pub index: Option<IndexLoads>,
    /// Name of the job whose throughput is compared.
    pub primary: String,
    /// The condition under which storage is unfit for the modelled application, if there is a
    /// published one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires: Option<Requirement>,
    /// Its source, if it is from another tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Options that mean something else here, or nothing, for users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What shrinks if its test files do not fit and their sizes are defaults; decided once, by
    /// [`Draft::fit`](crate::Draft::fit).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yields: Option<Yields>,
    /// Its trials are as short as a pilot allows, and alternate between the arms in large numbers;
    /// `time_ns` is their maximum length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<Slices>,
}

/// The times of one phase's trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Length of the ramp of each trial, in nanoseconds.
    pub ramp_ns: u64,
    /// Measured part of each trial, in nanoseconds.
    pub time_ns: u64,
}

/// The trials of a workload are slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slices {
    /// Minimum length of the measured window, in nanoseconds.
    pub least_ns: u64,
    /// Times of its trials if they cannot be slices. A slice has at most half of this window.
    pub usual: Phase,
}

/// Source of a workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Origin {
    /// A job file or a command line: `job.fio`, `a fio command line`.
    Text(String),
    /// Results of these tools: `fio 3.33`.
    Results { tools: Vec<String>, are_ours: bool },
}

/// A threshold and its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// The condition under which storage is unfit: `sync.p99 > 10ms`, with the name of the job
    /// before it if it is not the primary one.
    pub rule: Rule,
    /// Its source: an address, and a summary.
    pub source: String,
}

impl Workload {
    /// Jobs with default options, the first one being primary; its times are not set yet.
    pub fn new(name: impl Into<String>, jobs: Vec<Job>) -> Self {
        Self {
            name: name.into(),
            about: String::new(),
            ramp_ns: 0,
            time_ns: 0,
            primary: jobs.first().map(|job| job.name.clone()).unwrap_or_default(),
            jobs,
            index: None,
            requires: None,
            origin: None,
            notes: Vec::new(),
            yields: None,
            slices: None,
        }
    }

    /// The job whose throughput determines the verdict.
    pub fn primary_job(&self) -> Option<&Job> {
        self.jobs.iter().find(|job| job.name == self.primary)
    }

    /// How many parts its recording is cut into; `None` if it has no recording.
    pub fn parts(&self) -> Option<u32> {
        self.recording().map(|recording| recording.parts)
    }

    /// The recording that it replays.
    pub fn recording(&self) -> Option<&RecordedLoad> {
        self.jobs.iter().find_map(|job| job.recording.as_ref())
    }

    /// Whether it replays an application that answers enough requests of clients to compare their
    /// rate. The few requests of a health check are not enough.
    pub fn answers_requests(&self) -> bool {
        const LEAST_PER_PART: u64 = 20;
        self.recording().is_some_and(|recording| {
            recording.requests >= LEAST_PER_PART * u64::from(recording.parts.max(1))
        })
    }

    /// Whether requests arrive as fast as the answers allow. By the clock, they arrive at the
    /// recorded rate on any storage.
    pub fn is_paced_by_answers(&self) -> bool {
        self.recording().is_some_and(|recording| recording.arrivals == Arrivals::AfterAnswers)
    }

    /// Whether it replays a recording.
    pub fn is_recorded(&self) -> bool {
        self.recording().is_some()
    }

    /// The bytes that it uses of a block device, if it replays the I/O of a single one.
    pub fn recorded_device_bytes(&self) -> Option<u64> {
        self.recording()?.device_bytes
    }

    /// Whether it changes a file or device that it is given, in which iotax lays out nothing.
    pub fn overwrites(&self) -> bool {
        let overwrites = |job: &Job| match &job.recording {
            Some(recording) => recording.writes,
            None => job.writes() && !job.engine.does_nothing(),
        };
        self.index.is_some() || self.jobs.iter().any(overwrites)
    }

    /// Whether any job, or the index driver, writes.
    pub fn writes(&self) -> bool {
        self.index.is_some() || self.jobs.iter().any(Job::writes)
    }

    /// Whether the primary job mainly waits for syncs: see [`Job::waits_for_syncs`].
    pub fn waits_for_syncs(&self) -> bool {
        self.primary_job().is_some_and(Job::waits_for_syncs)
    }

    /// Whether the primary job runs at an offered rate.
    pub fn is_open_loop(&self) -> bool {
        self.primary_job().is_some_and(|job| job.pace.offered_iops().is_some())
    }
}

/// One group of identical threads.
#[expect(clippy::struct_excessive_bools, reason = "independent switches, as in a fio job")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Unique within the workload.
    pub name: String,
    /// Name of its target, if a trial has several: [`Target::Several`](crate::Target).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// How to issue I/O on paths. Targets that are vdisk stacks always use [`Engine::Vdisk`].
    pub engine: Engine,
    /// Threads, each with its own queue (fio: `numjobs`).
    pub threads: u32,
    /// I/Os kept in flight by each thread (fio: `iodepth`). Synchronous engines require 1.
    pub queue_depth: u32,
    /// Percentage of reads: 100 for reads only, 0 for writes only.
    pub read_percent: u8,
    /// Order of offsets.
    pub pattern: Pattern,
    /// Sizes of its I/Os.
    pub block_sizes: BlockSizes,
    /// Sizes of writes, if different from reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_block_sizes: Option<BlockSizes>,
    /// Order of writes, if different from reads. Reads and writes then advance separately, as they
    /// do if their sizes differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_pattern: Option<Pattern>,
    /// Which file each thread works on.
    pub files: Files,
    /// Bytes of the file (or device, or vdisk) that each thread's offsets span; the whole target if
    /// it is smaller.
    pub size_bytes: u64,
    /// Closed loop, or an offered rate for all threads of the job together.
    pub pace: Pace,
    /// End of the job; [`Bound::Time`] means the whole trial.
    pub bound: Bound,
    /// Wait before the first I/O, from the start of the trial.
    pub start_delay_ns: u64,
    /// When the job's I/O ends, from the start of the trial, including the ramp. It ends with the
    /// trial if that is earlier, or if this is `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_after_ns: Option<u64>,
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Drop the file's cached pages before each trial, and after each pass over the span (as in
    /// fio), and verify that the cache is cold.
    pub invalidate: bool,
    /// `fdatasync` after this many writes of a thread.
    pub fsync_every: Option<u32>,
    /// `fsync` when the job ends.
    pub end_fsync: bool,
    /// After writing, read back and compare every block (outside the measured window).
    pub verify: bool,
    /// Verify during the run, after this many writes each time (fio: `verify_backlog`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify_every: Option<u32>,
    /// Its writes carry checksums for a later job, or its reads verify data of an earlier job.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify_apart: bool,
    /// The first mismatch ends the job (fio: `verify_fatal`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify_ends: bool,
    /// `io_uring`: let a kernel thread poll the submission queue.
    pub sqpoll: bool,
    /// Whether the user chose the engine. If so, iotax reports if it has no effect.
    #[serde(default, skip_serializing_if = "is_default")]
    pub engine_asked: bool,
    /// Tell the kernel the access pattern (`posix_fadvise`, `madvise`), as fio does by default.
    pub advise: bool,
    /// Offsets are multiples of this instead of the smallest block size (fio: `blockalign`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align_bytes: Option<u64>,
    /// Start of the span in the file or device (fio: `offset`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub offset_bytes: u64,
    /// Each write completes only once it is on the medium (`O_SYNC`; fio: `sync=1`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_through: bool,
    /// A pause after a number of I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// CPUs its threads may run on; empty for any (fio: `cpus_allowed`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// Files that each thread uses in turn, `size_bytes` in total (fio: `nrfiles`).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub files_per_thread: u32,
    /// Drop accessed pages from the page cache after each I/O: the file stays as cold as one far
    /// larger than memory, even if it is small.
    #[serde(default, skip_serializing_if = "is_default")]
    pub uncached: bool,
    /// Release and newly allocate the files before each trial, so that every write of a pass is the
    /// first to its place, as in a growing log. Only in directories.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fresh: bool,
    /// Send streams from the job's own memory, without a copy by the kernel (`MSG_ZEROCOPY`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub zero_copy: bool,
    /// A smaller scale also reduces threads, down to this number: see [`Workload::scale`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_threads: Option<u32>,
    /// Read the span into the cache before the trial (fio: `pre_read`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub pre_read: bool,
    /// When this job ends, all others end too (fio: `exitall`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub ends_all: bool,
    /// `io_uring`: maximum I/Os per system call (fio: `iodepth_batch_submit`, which is 1 there);
    /// see [`Job::submit_batch`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit_batch: Option<u32>,
    /// Operations on trees of files instead of reads and writes; only with [`Engine::Metadata`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Tree>,
    /// A recorded application instead of generated I/O; only with [`Engine::Replay`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordedLoad>,
    /// Discards space, instead of writing or before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trims: Option<Trims>,
    /// The order is limited to stretches of the span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretches: Option<Stretches>,
    /// Distance in bytes between the starts of the spans of two threads (fio: `offset_increment`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub offset_increment_bytes: u64,
    /// The data of its writes, if it is not random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// The job finds its depth itself, up to `queue_depth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_target: Option<LatencyTarget>,
    /// The job runs in proportion to other jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// Priority of its I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<IoPriority>,
    /// I/Os with a different priority.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityShare>,
    /// NUMA nodes of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa: Option<Numa>,
    /// fio options without an equivalent in iotax, as written; passed to fio if it runs the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fio: Vec<FioOption>,
}

/// The recorded I/O of an application, which is replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedLoad {
    pub path: PathBuf,
    /// Of its contents, in hexadecimal.
    pub hash: String,
    /// Length of the recording, in nanoseconds.
    pub length_ns: u64,
    pub threads: u32,
    /// Requests of clients that the application answered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub requests: u64,
    /// Whether syncs take most of the time of its I/Os.
    pub waits_for_syncs: bool,
    /// Replayed although many events were lost.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allow_loss: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub arrivals: Arrivals,
    /// How many copies are replayed at the same time.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub copies: u32,
    /// How many parts it can be cut into, each of which can be a slice.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub parts: u32,
    /// Why there is only one part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncut: Option<Uncut>,
    /// Whether it changes any file or device.
    #[serde(default = "yes")]
    pub writes: bool,
    /// If all its I/O is on a single block device: the bytes that it uses of that device. It can
    /// then be replayed on a device, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_bytes: Option<u64>,
    /// The logs of fio that it is made of, if a job file names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logs: Option<FioLogs>,
}

/// The logs that a job of fio replays (`read_iolog`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FioLogs {
    /// One for each thread of the job, after the first, which is the recording's own path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<PathBuf>,
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Issue each I/O as soon as the one before it is done, whatever its recorded time (fio:
    /// `replay_no_stall`).
    pub no_stall: bool,
}

const fn yes() -> bool {
    true
}

/// How to interpret a long think time: a recording does not show waits for processes that were not
/// recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Closed loop: clients wait for an answer, then think for the recorded time, so faster storage
    /// gets more load.
    #[default]
    AfterAnswers,
    /// Open loop: requests arrive at recorded times, independent of the storage.
    ByTheClock,
}

/// Why a recording is not cut into parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Uncut {
    /// It is not longer than two parts.
    Short,
    /// Too many operations are in flight at any time, or there are too few operations.
    Busy,
    /// Most of what the application writes is written back later, in the other arm's turn.
    WriteBack,
}

/// A pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Think {
    /// Its length, in nanoseconds.
    pub time_ns: u64,
    /// Number of I/Os of a thread before it.
    pub after_ios: u32,
}

/// An option of fio, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FioOption {
    /// Its name in fio.
    pub name: String,
    /// Its value; flags have none.
    pub value: Option<String>,
    /// Its position: `job.fio, line 7`.
    pub place: String,
    /// Why the native engines do not support it; `None` if they do the same by other means.
    pub beyond: Option<String>,
}

pub(crate) const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) const fn is_one(n: &u32) -> bool {
    *n == 1
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Job {
    /// Whether the job changes anything: writes, trims, or works on a tree of files.
    pub fn writes(&self) -> bool {
        self.read_percent < 100 || self.tree.is_some() || self.recording.is_some()
    }

    /// Whether the job writes data, so not if it only trims.
    pub fn writes_data(&self) -> bool {
        self.writes() && self.trims != Some(Trims::Only)
    }

    /// Whether the job syncs so often that its syncs matter, not its writes, which only reach the
    /// page cache: it writes at least as much as it reads, and syncs after every few writes.
    pub fn waits_for_syncs(&self) -> bool {
        const FEW: u32 = 16;
        if let Some(recording) = &self.recording {
            return recording.waits_for_syncs;
        }
        self.read_percent <= 50 && self.fsync_every.is_some_and(|every| every <= FEW)
    }

    /// Whether it syncs again and again, rather than at its end only.
    pub fn syncs_as_it_goes(&self) -> bool {
        self.fsync_every.is_some() || self.waits_for_syncs()
    }

    /// The main kind of operation: syncs if the job waits for them, otherwise the majority of its
    /// I/Os, or all of them if there is none. Determined from its options, so that it is the same
    /// for all arms.
    pub fn leading_kind(&self) -> TimeKind {
        let has_directions = self.tree.is_none() && !self.engine.is_network();
        match (self.read_percent.cmp(&50), self.trims) {
            _ if self.waits_for_syncs() => TimeKind::Sync,
            _ if !has_directions => TimeKind::Latency,
            (Ordering::Greater, _) => TimeKind::Read,
            (Ordering::Less, Some(Trims::Only)) => TimeKind::Trim,
            (Ordering::Less, None) => TimeKind::Write,
            _ => TimeKind::Latency,
        }
    }

    /// Whether its latencies are those of single I/Os of one size, not of operations on files or of
    /// flows.
    pub fn has_single_ios(&self) -> bool {
        let is_even = matches!(self.block_sizes, BlockSizes::Fixed(_));
        is_even && self.engine.has_span()
    }

    /// Whether the job reads at all.
    pub fn reads(&self) -> bool {
        self.read_percent > 0
    }

    /// The job's reads and its writes as separate jobs, if they have different sizes or orders.
    pub fn by_direction(&self) -> Option<[Self; 2]> {
        if self.write_block_sizes.is_none() && self.write_pattern.is_none() {
            return None;
        }
        let alone = |read_percent| Self {
            read_percent,
            write_block_sizes: None,
            write_pattern: None,
            ..self.clone()
        };
        let mut writes = alone(0);
        if let Some(sizes) = &self.write_block_sizes {
            writes.block_sizes = sizes.clone();
        }
        if let Some(pattern) = &self.write_pattern {
            writes.pattern = pattern.clone();
        }
        Some([alone(100), writes])
    }

    /// Sizes of its I/Os: for all, or for reads and for writes.
    pub fn all_block_sizes(&self) -> impl Iterator<Item = &BlockSizes> {
        [&self.block_sizes].into_iter().chain(&self.write_block_sizes)
    }

    /// Orders of its I/Os: for all, or for reads and for writes.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        [&self.pattern].into_iter().chain(&self.write_pattern)
    }

    /// Whether it is random in the sense of fio's `rw=rand...`.
    pub fn jumps(&self) -> bool {
        self.patterns()
            .any(|pattern| *pattern != Pattern::Sequential && pattern.step_bytes().is_none())
    }

    /// The smallest block size.
    pub fn min_block_bytes(&self) -> u32 {
        self.all_block_sizes().map(BlockSizes::min_bytes).min().unwrap_or(0)
    }

    /// The largest block size, which is the size of buffers.
    pub fn max_block_bytes(&self) -> u32 {
        self.all_block_sizes().map(BlockSizes::max_bytes).max().unwrap_or(0)
    }

    /// The largest power of two that divides every offset in the span and every size.
    pub fn granule_bytes(&self) -> u64 {
        let of_pattern = |pattern: &Pattern| match pattern {
            Pattern::Staggered { step_bytes, apart_bytes } => step_bytes | apart_bytes,
            pattern => pattern.step_bytes().unwrap_or(0),
        };
        let of_sizes = |sizes: &BlockSizes| match sizes {
            BlockSizes::Fixed(bytes) | BlockSizes::Range { min: bytes, .. } => u64::from(*bytes),
            BlockSizes::Split(shares) => {
                shares.iter().fold(0, |all, share| all | u64::from(share.bytes))
            }
        };
        let sizes = self.all_block_sizes().map(of_sizes).fold(0, |all, bytes| all | bytes);
        let stride = self.patterns().map(of_pattern).fold(0, |all, bytes| all | bytes);
        let all = sizes | self.align_bytes.unwrap_or(0) | stride;
        // The lowest bit set in any of them.
        all & all.wrapping_neg()
    }

    /// Maximum I/Os per `io_uring` system call.
    ///
    /// A few at a time cost almost as little CPU as all at once, and the device starts earlier: the
    /// kernel holds back the I/Os of a call until the last one is in.
    pub fn submit_batch(&self) -> u32 {
        const USUAL: u32 = 4;
        self.submit_batch.unwrap_or(USUAL)
    }

    /// Whether `libaio` may replace its engine if a sandbox forbids `io_uring`. Not for buffered
    /// I/O, which it does one at a time, and not with a polling kernel thread, which it does not
    /// have.
    pub fn may_be_stood_in_for(&self) -> bool {
        self.engine == Engine::IoUring && self.direct && !self.sqpoll
    }

    /// Names of a thread's files in a directory.
    pub fn file_names(&self, thread: u32) -> Vec<String> {
        let several = self.files_per_thread > 1;
        let files = 0..self.files_per_thread;
        match &self.files {
            Files::PerThread if several => {
                files.map(|file| format!("{}.{thread}.{file}", self.name)).collect()
            }
            Files::PerThread => vec![format!("{}.{thread}", self.name)],
            Files::Shared(name) if several => files.map(|file| format!("{name}-{file}")).collect(),
            Files::Shared(name) => vec![name.clone()],
        }
    }
}

/// Block sizes, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockSizes {
    Fixed(u32),
    /// Uniform over the multiples of `min` in `min..=max` (fio: `bsrange`).
    Range {
        /// Smallest size, which is also the alignment.
        min: u32,
        /// Largest size.
        max: u32,
    },
    /// Chosen by weight (fio: `bssplit`). Weights are percentages that add up to 100.
    Split(Vec<Share>),
}

impl BlockSizes {
    /// The smallest size; offsets are multiples of it.
    pub fn min_bytes(&self) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range { min, .. } => *min,
            Self::Split(shares) => shares.iter().map(|s| s.bytes).min().unwrap_or(0),
        }
    }

    /// The largest size, which is the size of buffers.
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

/// The file of a thread, in a directory. A target that is a file, a device or a vdisk is always
/// shared. With [`Files::PerThread`], each thread then gets its own region if the target is large
/// enough, otherwise the whole span.
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
    /// After each thread has moved this many bytes, or with the trial if that is earlier.
    Bytes(u64),
    /// After each thread has covered its span once, in ascending order, or with the trial if that
    /// is earlier.
    Span,
}

/// The largest depth, up to the job's own, that meets a latency (fio: `latency_target`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencyTarget {
    /// The maximum latency of an I/O.
    pub target_ns: u64,
    /// How long each depth is tried.
    pub window_ns: u64,
    /// Percentage of I/Os that must meet the latency; at 100, the first I/O that does not ends the
    /// attempt.
    pub percentile: f64,
    /// Continue adapting after a depth was found, instead of measuring it for a last window and
    /// ending.
    pub keeps_on: bool,
}

/// What a job trims: files get holes, ranges of block devices are discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trims {
    /// Trims instead of writing (fio: `rw=trim`).
    Only,
    /// Trims each place before writing there (fio: `rw=trimwrite`).
    First,
}

impl Trims {
    /// As written in files and overrides.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Only => "only",
            Self::First => "first",
        }
    }
}
