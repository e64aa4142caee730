//! The figures of a trace. Shares range from 0 to 1; unrecorded figures are `None`.

use serde::{Deserialize, Serialize};

use super::findings::Finding;
use crate::event::{File, Op, Thread};
use crate::head::FileKind;

/// What a trace contains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub length_ns: u64,
    pub events: u64,
    /// Events that the recorder lost.
    pub lost: u64,
    /// The trace has no end block: the recorder was killed, and its loss is unknown.
    pub is_cut_off: bool,
    pub rates: Rates,
    pub series: Series,
    /// Without `Wake`, `Spawn`, `Exit`, `Request` and `Answer`.
    pub operations: Vec<Operation>,
    /// `None` if latencies are unknown.
    pub depth: Option<Depth>,
    pub syncs: Syncs,
    /// The ten reads, writes, syncs and faults that took longest, the longest first. Empty if
    /// latencies are unknown.
    pub longest: Vec<LongOperation>,
    pub pages: Pages,
    pub files: Files,
    pub threads: Threads,
    /// `None` if no request of a client was recorded with its answer.
    #[serde(default)]
    pub requests: Option<RequestFigures>,
    /// The most severe first.
    pub findings: Vec<Finding>,
}

impl Summary {
    pub fn operation(&self, op: Op) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.op == op)
    }
}

/// Means over the length of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Reads, `sendfile` and `copy_file_range`.
    pub reads_per_s: f64,
    pub writes_per_s: f64,
    pub syncs_per_s: f64,
    pub faults_per_s: f64,
    /// Calls that only concern names, attributes, sizes and allocation.
    pub metadata_per_s: f64,
    /// Includes faults.
    pub read_bytes_per_s: f64,
    /// Without pages that became dirty through mappings.
    pub written_bytes_per_s: f64,
}

/// Requests that arrived at sockets of the program and were answered there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestFigures {
    pub count: u64,
    pub per_s: f64,
    /// At most 65,536 are distinguished.
    pub connections: u64,
    /// From the first data of the request to the first data of the answer.
    pub latency: Latency,
}

/// Counts over time; the first bin begins with the trace. An operation counts when it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    pub bin_ns: u64,
    /// At most 240.
    pub bins: Vec<Bin>,
}

/// Counts, by the classes of [`Rates`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    pub reads: u64,
    pub writes: u64,
    pub syncs: u64,
    pub faults: u64,
    pub metadata: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// The longest latency of the reads and faults, writes, and syncs that ended in the bin.
    pub longest_read_ns: u64,
    pub longest_write_ns: u64,
    pub longest_sync_ns: u64,
    /// The time that reads, writes, syncs and faults were in flight in the bin, summed. Divided by
    /// the width of the bin, it is the mean number in flight.
    pub in_flight_ns: u64,
}

/// An operation that took long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongOperation {
    #[serde(with = "op_name")]
    pub op: Op,
    pub thread: Thread,
    /// `None` if it concerns no file, or all.
    pub file: Option<File>,
    pub start_ns: u64,
    pub latency_ns: u64,
}

/// A bucket of a histogram: from this value up to twice of it. There are also buckets for 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    pub from: u64,
    pub count: u64,
}

/// All calls of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    #[serde(with = "op_name")]
    pub op: Op,
    pub count: u64,
    pub errors: u64,
    /// Bytes that were moved.
    pub bytes: u64,
    pub latency: Option<Latency>,
    /// Only of calls that move data.
    pub sizes: Option<Sizes>,
    /// Only of calls that move data.
    pub order: Option<Order>,
    pub issued: Issued,
}

/// Quantiles are at most 0.1 % too low; durations in a trace are rounded to within 1 in 80.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub mean_ns: f64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p99_9_ns: u64,
    pub max_ns: u64,
    pub histogram: Vec<Bucket>,
}

/// Requested bytes per call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    pub mean_bytes: f64,
    pub median_bytes: u64,
    pub highest_bytes: u64,
    /// The eight most frequent sizes. Their shares are exact up to 1,024 different sizes, and lower
    /// bounds otherwise.
    pub frequent: Vec<SizeShare>,
    pub other_share: f64,
    pub histogram: Vec<Bucket>,
    /// Below 512 bytes.
    pub below_sector_share: f64,
    /// Offset or size is not a multiple of 4 KiB.
    pub unaligned_share: f64,
    /// The same, as a share of the calls with `O_DIRECT`.
    pub direct_unaligned_share: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SizeShare {
    pub bytes: u64,
    pub share: f64,
}

/// How I/Os follow the previous one of the same file and kind, in the order in which they end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// I/Os that succeeded and had a previous one. The shares are of these.
    pub compared: u64,
    /// Starts where the previous one ended.
    pub sequential_share: f64,
    /// Starts where one of the last eight streams of the file ended.
    pub in_streams_share: f64,
    /// Starts where the previous one started.
    pub same_offset_share: f64,
}

/// How calls were issued, as shares of the calls.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Issued {
    pub direct_share: f64,
    pub append_share: f64,
    /// `O_DSYNC` or `O_SYNC`.
    pub write_through_share: f64,
    pub uring_share: f64,
    pub aio_share: f64,
}

/// Reads, writes, syncs and faults in flight, as the application sees them: an I/O that the page
/// cache serves counts for as long as its call takes.
///
/// Durations in a trace are rounded to within 1 in 80, so that I/Os of different threads that
/// follow each other closely may overlap by that much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Depth {
    /// Sum of the latencies divided by the length of the trace.
    pub mean: f64,
    /// The same sum divided by the time with at least one I/O in flight.
    pub mean_when_busy: f64,
    pub highest: u64,
    /// Share of the time with at least one in flight.
    pub busy_share: f64,
    pub levels: Vec<Level>,
    /// Share of the time of all I/Os that `levels`, `highest` and `busy_share` do not include. It
    /// is 0 unless one I/O lasted while more than 32,000 others ended.
    pub missing_share: f64,
}

/// Share of the time with this many I/Os in flight, up to twice as many (exclusive).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Level {
    pub from: u64,
    pub share: f64,
}

/// Calls that wait until data are durable. `sync_file_range` and `msync` are included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Syncs {
    pub count: u64,
    pub per_s: f64,
    /// Writes with `O_DSYNC` or `O_SYNC`, which are not in `count`.
    pub write_through: u64,
    pub times: Option<SyncTimes>,
    /// Latencies of the syncs in `count`; `None` without syncs, or if latencies are unknown.
    pub latency: Option<Latency>,
    /// Writes for each sync; 0 without syncs.
    pub writes_per_sync: f64,
    /// Bytes written for each sync; 0 without syncs.
    pub bytes_per_sync: f64,
    /// Per file, from one sync of it to the next.
    pub between: Option<BetweenSyncs>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SyncTimes {
    /// Sum over all threads, with write-through writes.
    pub sum_ns: u64,
    /// Share of the time of all calls on files.
    pub share_of_io_time: f64,
    /// Share of the length of the trace: the mean number in flight.
    pub mean_in_flight: f64,
    /// Share of the syncs that started before an earlier one had ended, of any file.
    pub overlapping_share: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BetweenSyncs {
    pub mean_bytes: f64,
    pub p50_bytes: u64,
    pub p90_bytes: u64,
    pub max_bytes: u64,
    pub histogram: Vec<Bucket>,
}

/// Distinct pages of 4 KiB, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pages {
    /// The working set.
    pub touched_bytes: u64,
    pub read_bytes: u64,
    /// Includes pages that became dirty through mappings.
    pub written_bytes: u64,
    pub read_and_written_bytes: u64,
    /// Share of the page reads whose page was read or written before in the trace.
    pub reuse_share: Option<f64>,
    /// Bytes written divided by distinct bytes written. A lower bound if writes leave room between
    /// them within a page.
    pub rewrite_factor: Option<f64>,
    /// 1 if every page was counted; otherwise the figures are estimates from this share of the
    /// pages.
    pub sampled_share: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Files {
    pub count: u64,
    pub regular: u64,
    pub directories: u64,
    pub block_devices: u64,
    /// Created during the trace.
    pub created: u64,
    /// Before the trace.
    pub size_bytes: u64,
    /// Holes and unwritten extents before the trace.
    pub gap_bytes: u64,
    /// In the page cache before the trace.
    pub cached_bytes: Option<u64>,
    /// Regular files by their size before the trace.
    pub sizes: Vec<Bucket>,
    pub all: FileTotals,
    pub others: OtherFiles,
    /// Ten at most, the hottest first.
    pub by_time: Vec<HotFile>,
    /// By bytes read and written.
    pub by_bytes: Vec<HotFile>,
    pub by_syncs: Vec<HotFile>,
    /// Every file of the three lists.
    pub named: Vec<FileFigures>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTotals {
    pub operations: u64,
    /// Sum of the latencies.
    pub time_ns: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub syncs: u64,
    pub sync_ns: u64,
}

/// Files that were not tracked to the end, because only the hottest and latest 8,192 are. If there
/// are any, figures of single files are lower bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherFiles {
    /// A file that was touched again counts again.
    pub entries: u64,
    pub totals: FileTotals,
}

/// A file with its share in what the list is ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HotFile {
    pub file: File,
    /// Of all files.
    pub share: f64,
    /// Of the tracked files on its device.
    pub share_of_device: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileFigures {
    pub file: File,
    /// `None` if the trace does not describe the file; the same holds for the next three fields.
    pub kind: Option<FileKind>,
    /// Also `None` if classes were not recorded.
    pub class: Option<String>,
    pub device: Option<u32>,
    /// Before the trace.
    pub size_bytes: Option<u64>,
    pub totals: FileTotals,
    /// The median of the bytes written from one sync to the next, at most 1 in 8 too low.
    pub bytes_between_syncs: Option<u64>,
    /// Threads that synced it; 8 stands for 8 or more.
    pub syncing_threads: u64,
    /// Share of its syncs that started before an earlier one of it had ended.
    pub overlapping_syncs_share: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threads {
    /// Exact while `retired` is 0; otherwise the highest number plus 1.
    pub count: u64,
    pub all: ThreadTimes,
    /// The ten threads with the least idle time.
    pub busiest: Vec<ThreadFigures>,
    /// Threads that were not tracked to the end, because only the busiest and latest 4,096 are.
    /// Their lives, included in `all`, end with their last event.
    pub retired: u64,
    /// `None` if wake-ups were not recorded.
    pub waits: Option<Waits>,
}

/// How a thread spent its life. It begins with the trace or when the thread was started, and ends
/// when the thread or the trace does. The parts other than `sync_ns` add up to `life_ns`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTimes {
    pub life_ns: u64,
    /// In calls on files and in faults.
    pub io_ns: u64,
    /// The part of `io_ns` in syncs and write-through writes.
    pub sync_ns: u64,
    /// Time waiting for another recorded thread, outside of `io_ns`.
    pub waiting_ns: u64,
    /// Between its calls. CPU time within calls is part of `io_ns`.
    pub cpu_ns: u64,
    /// Between its calls: time in which it could run, but waited for a CPU.
    pub run_delay_ns: u64,
    /// The remaining time in which asynchronous I/O of the thread was in flight, at most.
    pub asynchronous_io_ns: u64,
    pub idle_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ThreadFigures {
    pub thread: Thread,
    /// Calls on files and faults.
    pub operations: u64,
    pub times: ThreadTimes,
    /// Share of its life in syncs.
    pub sync_share: f64,
    /// Sum of the times that others waited for it.
    pub held_up_ns: u64,
    pub holds_up_several: bool,
}

/// Waits of recorded threads for each other. Not included: wake-ups of sleeping threads, wake-ups
/// within I/Os, and those from calls that cannot wake a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    pub all: WakeTotals,
    pub ignored_wakes: u64,
    /// Share of the time outside of I/Os that threads waited for each other.
    pub share_of_think_time: f64,
    /// The ten pairs with the longest waits.
    pub pairs: Vec<WaitingPair>,
    /// Waits of pairs that were not tracked to the end, because only 8,192 are.
    pub retired_pairs: WakeTotals,
    pub holds_up_most: Option<ThreadFigures>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WakeTotals {
    pub wakes: u64,
    /// A thread that was woken by two counts twice.
    pub waited_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WaitingPair {
    pub waits: Thread,
    pub waits_for: Thread,
    pub totals: WakeTotals,
    /// Of all waits between recorded threads.
    pub share: f64,
}

mod op_name {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use crate::event::Op;

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    pub(super) fn serialize<S: Serializer>(op: &Op, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(op.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Op, D::Error> {
        let name = String::deserialize(from)?;
        let op = Op::ALL.iter().find(|op| op.name() == name);
        op.copied().ok_or_else(|| de::Error::custom(format!("unknown operation {name:?}")))
    }
}
