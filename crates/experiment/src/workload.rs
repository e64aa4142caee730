//! The I/O to do: a workload is one or more jobs that run at the same time.
//!
//! All numbers here are resolved: bytes, nanoseconds, I/Os per second. How a user writes them
//! (`4k`, `200us`) is the business of [`crate::units`].

use std::cmp::Ordering;

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
    /// Name shown in every output.
    pub name: String,
    /// One paragraph for `iotax workloads`.
    pub about: String,
    /// Length of the discarded start of each trial, in nanoseconds.
    pub ramp_ns: u64,
    /// Length of the measured window of each trial, in nanoseconds.
    pub time_ns: u64,
    /// The jobs, all started together (apart from their own `start_delay_ns` and
    /// `end_after_ns`).
    pub jobs: Vec<Job>,
    /// Index publishing and loading beside the jobs, if the workload has it.
    pub index: Option<IndexLoads>,
    /// Name of the job whose throughput is the workload's figure of merit.
    pub primary: String,
    /// What makes storage unfit for what the workload stands for, if somebody has said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires: Option<Requirement>,
    /// Where it was read, if it is another tool's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// What was read but means something else here, or nothing, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What gives way where its test files find no room, if nobody asked for their sizes; decided
    /// once, by [`Draft::fit`](crate::Draft::fit).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yields: Option<Yields>,
    /// Its trials are as short as a pilot finds right, and alternate between the arms in large numbers;
    /// `time_ns` is the longest that they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<Slices>,
}

/// The times of one phase's trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Discarded start of each trial, in nanoseconds.
    pub ramp_ns: u64,
    /// Measured part of each trial, in nanoseconds.
    pub time_ns: u64,
}

/// That the trials of a workload are slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slices {
    /// How long the measured window of one is at least, in nanoseconds.
    pub least_ns: u64,
    /// What its trials take where they cannot be slices. A window of more than half of that is none.
    pub usual: Phase,
}

/// Where a workload was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Origin {
    /// In a job file or on a command line: `job.fio`, `a fio command line`.
    Text(String),
    /// In results of these tools: `fio 3.33`.
    Results { tools: Vec<String>, are_ours: bool },
}

/// A threshold, and who says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// What makes the storage unfit: `sync.p99 > 10ms`, of another job than the primary one with
    /// its name before it.
    pub rule: Rule,
    /// Where it is from: an address, and what is said there.
    pub source: String,
}

impl Workload {
    /// Jobs of which the first one decides, with nothing that has to be asked for; how long they take
    /// is still to be said.
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

    /// The job whose throughput decides the verdict.
    pub fn primary_job(&self) -> Option<&Job> {
        self.jobs.iter().find(|job| job.name == self.primary)
    }

    /// Whether any job, or the index driver, writes.
    pub fn writes(&self) -> bool {
        self.index.is_some() || self.jobs.iter().any(Job::writes)
    }

    /// Whether the primary job is about its syncs: see [`Job::waits_for_syncs`].
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
    /// What it calls its target, where a trial may have several: [`Target::Several`](crate::Target).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
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
    /// Sizes of writes, where a job that reads too has others for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_block_sizes: Option<BlockSizes>,
    /// Order of the writes, where a job that reads too has another one for them. Reads and writes
    /// then advance each on their own, as they do where their sizes differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_pattern: Option<Pattern>,
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
    /// When the job's I/O ends, from the start of the trial, ramp included; with the trial, if
    /// that is earlier or this is `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_after_ns: Option<u64>,
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Drop the file's cached pages before each trial, and again whenever a pass over the span is
    /// over (as fio does): a cold cache, and proof is demanded.
    pub invalidate: bool,
    /// `fdatasync` after every so many writes of a thread.
    pub fsync_every: Option<u32>,
    /// `fsync` when the job ends.
    pub end_fsync: bool,
    /// After writing, read back and compare every block (outside the measured window).
    pub verify: bool,
    /// The same already as it runs, after this many writes each time (fio: `verify_backlog`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify_every: Option<u32>,
    /// Its writes carry what a later job needs to verify them, or its reads verify what an earlier
    /// job has so left.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify_apart: bool,
    /// The first block that is not as it was written ends the job (fio: `verify_fatal`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify_ends: bool,
    /// `io_uring`: let a kernel thread poll the submission queue.
    pub sqpoll: bool,
    /// The engine was chosen by whoever asked, and is no default of ours: where it has no effect,
    /// that is said.
    #[serde(default, skip_serializing_if = "is_default")]
    pub engine_asked: bool,
    /// Tell the kernel the access pattern (`posix_fadvise`, `madvise`), as fio does by default.
    pub advise: bool,
    /// Offsets are multiples of this instead of the smallest block size (fio: `blockalign`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align_bytes: Option<u64>,
    /// Where the span begins in the file or device (fio: `offset`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub offset_bytes: u64,
    /// Each write reaches the medium before it counts (`O_SYNC`; fio: `sync=1`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_through: bool,
    /// A pause after every so many I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// CPUs its threads may run on; empty for any (fio: `cpus_allowed`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// Files each thread spreads its I/O over in turn, `size_bytes` in all (fio: `nrfiles`).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub files_per_thread: u32,
    /// What an I/O has touched leaves the page cache again right after it: the file stays as cold as
    /// one far larger than memory, however small it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub uncached: bool,
    /// What the job writes to is given back and allocated anew before each trial, so that every
    /// write of a pass is the first to its place, as in a log that grows. In directories only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fresh: bool,
    /// Streams are sent from the job's own memory, without a copy by the kernel (`MSG_ZEROCOPY`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub zero_copy: bool,
    /// A smaller scale takes threads away, too, down to so many: see [`Workload::scale`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_threads: Option<u32>,
    /// Read the span into the cache before the trial (fio: `pre_read`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub pre_read: bool,
    /// When this job ends, all others end too (fio: `exitall`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub ends_all: bool,
    /// `io_uring`: I/Os handed over by one system call, at most (fio: `iodepth_batch_submit`, which
    /// is 1 there); see [`Job::submit_batch`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit_batch: Option<u32>,
    /// Operations on trees of files instead of reads and writes; with [`Engine::Metadata`] only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Tree>,
    /// It gives space back, instead of writing or before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trims: Option<Trims>,
    /// The order is kept to stretches of the span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretches: Option<Stretches>,
    /// The span of each thread begins so many bytes after that of the one before it (fio:
    /// `offset_increment`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub offset_increment_bytes: u64,
    /// What its writes carry, if that is not random data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// It finds its depth itself, up to `queue_depth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_target: Option<LatencyTarget>,
    /// In proportion to other jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// Priority of its I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<IoPriority>,
    /// Those of them that have another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityShare>,
    /// NUMA nodes that it is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa: Option<Numa>,
    /// Options of fio as they were written that iotax has no words for; handed to fio where fio
    /// drives the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fio: Vec<FioOption>,
}

/// A pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Think {
    /// How long, in nanoseconds.
    pub time_ns: u64,
    /// After how many I/Os of a thread.
    pub after_ios: u32,
}

/// An option of fio, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FioOption {
    /// fio's name of it.
    pub name: String,
    /// Its value; flags have none.
    pub value: Option<String>,
    /// Where it was written: `job.fio, line 7`.
    pub place: String,
    /// Why the native engines cannot do it; `None` if they do the same by other means.
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
        self.read_percent < 100 || self.tree.is_some()
    }

    /// The same without jobs that only trim: whether it writes data.
    pub fn writes_data(&self) -> bool {
        self.writes() && self.trims != Some(Trims::Only)
    }

    /// Whether the job syncs often enough that its syncs are what it is about, not its writes,
    /// which only reach the page cache: it writes at least as much as it reads, and syncs after
    /// every few writes.
    pub fn waits_for_syncs(&self) -> bool {
        const FEW: u32 = 16;
        self.read_percent <= 50 && self.fsync_every.is_some_and(|every| every <= FEW)
    }

    /// The kind of operation that it is about: its syncs where it waits for them, else what most of its
    /// I/Os are, and all of them where none are most. By its options, so that it is the same in all arms.
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

    /// Whether its latencies are those of single I/Os of one size: not of operations on files, nor
    /// of flows.
    pub fn has_single_ios(&self) -> bool {
        let is_even = matches!(self.block_sizes, BlockSizes::Fixed(_));
        is_even && !self.engine.has_tree() && !self.engine.is_network()
    }

    /// Whether the job reads at all.
    pub fn reads(&self) -> bool {
        self.read_percent > 0
    }

    /// The job's reads and its writes as jobs of their own, where each has sizes or an order of its
    /// own.
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

    /// Sizes of its I/Os: all, or those of reads and those of writes.
    pub fn all_block_sizes(&self) -> impl Iterator<Item = &BlockSizes> {
        [&self.block_sizes].into_iter().chain(&self.write_block_sizes)
    }

    /// Orders of its I/Os: of all, or of reads and of writes.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        [&self.pattern].into_iter().chain(&self.write_pattern)
    }

    /// What fio's `rw=rand...` stands for, whatever else it says about the order.
    pub fn jumps(&self) -> bool {
        self.patterns()
            .any(|pattern| *pattern != Pattern::Sequential && pattern.step_bytes().is_none())
    }

    /// The smallest of its I/Os.
    pub fn min_block_bytes(&self) -> u32 {
        self.all_block_sizes().map(BlockSizes::min_bytes).min().unwrap_or(0)
    }

    /// The largest of its I/Os: buffers are this long.
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
        // The lowest bit that is set in any of them.
        all & all.wrapping_neg()
    }

    /// I/Os handed to `io_uring` by one system call, at most.
    ///
    /// A few at a time cost nearly as little CPU as all at once, and the device begins with the
    /// first of them earlier: the kernel holds back what one call brings until the last is in.
    pub fn submit_batch(&self) -> u32 {
        const USUAL: u32 = 4;
        self.submit_batch.unwrap_or(USUAL)
    }

    /// Whether `libaio` may stand in for its engine where a sandbox forbids `io_uring`: buffered, that
    /// does one I/O at a time, and it has no thread of the kernel's that polls.
    pub fn may_be_stood_in_for(&self) -> bool {
        self.engine == Engine::IoUring && self.direct && !self.sqpoll
    }

    /// Names of the files that a thread has in a directory.
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

/// Sizes of single I/Os, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockSizes {
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
    /// After each thread has been once over all of its span, in ascending order, or with the trial
    /// if that is earlier.
    Span,
}

/// The largest depth, up to the job's own, at which I/Os are fast enough (fio: `latency_target`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencyTarget {
    /// How long an I/O may take.
    pub target_ns: u64,
    /// How long a depth is tried.
    pub window_ns: u64,
    /// How many of the I/Os have to be fast enough, in percent; of 100, one that is not ends the
    /// try at once.
    pub percentile: f64,
    /// Go on adapting when a depth was found, instead of measuring that one for a last window and
    /// ending.
    pub keeps_on: bool,
}

/// What a job trims: ranges of files become holes, ranges of block devices are discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trims {
    /// It trims instead of writing (fio: `rw=trim`).
    Only,
    /// It trims each place before it writes there (fio: `rw=trimwrite`).
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
