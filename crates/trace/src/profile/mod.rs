//! A summary of a trace: one pass over its events, in memory that does not grow with the trace.
//!
//! | module | contents |
//! |---|---|
//! | `summary` | the figures |
//! | `findings` | what stands out in them |
//! | `series` | counts over time |
//! | `operations` | counts, latencies and sizes per operation |
//! | `depth` | I/Os in flight |
//! | `longest` | the longest operations |
//! | `pages` | the working set and rewrites |
//! | `files` | figures per file |
//! | `threads` | figures per thread, and waits of threads for each other |
//! | `distribution` | quantiles |
//! | `table` | tables of bounded size |

mod depth;
mod distribution;
mod files;
mod findings;
mod longest;
mod operations;
mod pages;
mod series;
mod summary;
mod table;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod threads;

use self::depth::InFlight;
use self::distribution::Distribution;
use self::files::FileTable;
use self::longest::Longest;
use self::operations::{Operations, is_write_through};
use self::pages::{Touch, TouchedPages};
use self::series::Bins;
use self::threads::ThreadTable;
use crate::event::{Event, NO_FILE, Op};
use crate::head::{End, FileState, Head, Unseen};
use crate::requests::OpenRequests;

pub use self::findings::{Finding, Severity, Trait};
pub use self::summary::{
    BetweenSyncs, Bin, Bucket, Depth, FileFigures, FileTotals, Files, HotFile, Issued, Latency,
    Level, LongOperation, Operation, Order, OtherFiles, Pages, Rates, RequestFigures, Series,
    SizeShare, Sizes, Summary, SyncTimes, Syncs, ThreadFigures, ThreadTimes, Threads, WaitingPair,
    Waits, WakeTotals,
};

/// Collects the figures of a trace. It takes less than 64 MiB, however long the trace is.
#[derive(Default)]
pub struct Profile {
    events: u64,
    length_ns: u64,
    all: Bin,
    series: Bins,
    operations: Operations,
    depth: InFlight,
    syncs: SyncCounts,
    longest: Longest,
    pages: TouchedPages,
    files: FileTable,
    threads: ThreadTable,
    requests: Requests,
}

/// Class of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Read,
    Write,
    Sync,
    Fault,
    Metadata,
    Other,
    Scheduling,
    Traffic,
}

/// Direction of a transfer.
#[derive(Clone, Copy)]
struct Moves {
    reads: bool,
    writes: bool,
}

impl Class {
    const fn of(op: Op) -> Self {
        match op {
            Op::Read | Op::SendFile | Op::CopyRange => Self::Read,
            Op::Write => Self::Write,
            Op::Fsync | Op::Fdatasync | Op::SyncRange | Op::Msync | Op::SyncAll => Self::Sync,
            Op::Fault => Self::Fault,
            Op::Allocate
            | Op::Truncate
            | Op::Open
            | Op::Close
            | Op::Rename
            | Op::Unlink
            | Op::Mkdir
            | Op::Stat
            | Op::ReadDir => Self::Metadata,
            Op::Map | Op::Dirty | Op::Advise => Self::Other,
            Op::Wake | Op::Spawn | Op::Exit => Self::Scheduling,
            Op::Request | Op::Answer => Self::Traffic,
        }
    }

    const fn moves(self) -> Moves {
        Moves {
            reads: matches!(self, Self::Read | Self::Fault),
            writes: matches!(self, Self::Write),
        }
    }

    /// Whether it counts as in flight.
    const fn is_io(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Sync | Self::Fault)
    }
}

#[derive(Default)]
struct Requests {
    open: OpenRequests,
    times: Distribution,
}

impl Requests {
    fn add(&mut self, event: &Event) {
        if let Some(time_ns) = self.open.note(event) {
            self.times.add(time_ns);
        }
    }

    fn finish(&self, length_ns: u64) -> Option<RequestFigures> {
        let count = self.times.count();
        (count > 0).then(|| RequestFigures {
            count,
            per_s: per_s(count, length_ns),
            connections: self.open.connections() as u64,
            latency: operations::latency(&self.times),
        })
    }
}

/// Syncs of all files, and writes that are durable when they return.
#[derive(Default)]
struct SyncCounts {
    durable_ns: u64,
    write_through: u64,
    overlapping: u64,
    latest_end_ns: u64,
    /// Of all calls on files.
    all_ns: u64,
    latency: Distribution,
}

impl SyncCounts {
    fn add(&mut self, event: &Event, class: Class) {
        self.all_ns = self.all_ns.saturating_add(event.latency_ns);
        let is_write_through = class == Class::Write && is_write_through(event);
        if is_write_through || class == Class::Sync {
            self.durable_ns = self.durable_ns.saturating_add(event.latency_ns);
        }
        self.write_through += u64::from(is_write_through);
        if class == Class::Sync {
            self.latency.add(event.latency_ns);
            self.overlapping += u64::from(event.overlaps(self.latest_end_ns));
            self.latest_end_ns = self.latest_end_ns.max(event.end_ns);
        }
    }
}

impl Profile {
    /// Counts the next event of a trace.
    pub fn add(&mut self, event: &Event) {
        self.events += 1;
        self.length_ns = self.length_ns.max(event.end_ns);
        let class = Class::of(event.op);
        let start_ns = self.threads.add(event, class);
        if class == Class::Traffic {
            self.requests.add(event);
        }
        if matches!(class, Class::Scheduling | Class::Traffic) {
            return;
        }
        self.all.add(&Bin::of(event, class));
        self.series.add(event, class);
        self.syncs.add(event, class);
        if class.is_io() {
            self.depth.add(start_ns, event.end_ns);
            self.series.fly(start_ns, event.end_ns);
            self.longest.add(event);
        }
        let step = self.files.add(event, class);
        self.operations.add(event, step);
        self.touch(event, class);
    }

    fn touch(&mut self, event: &Event, class: Class) {
        let (touch, bytes) = match class {
            Class::Read | Class::Fault => (Touch::Read, event.moved()),
            Class::Write => (Touch::Write, event.moved()),
            _ if event.op == Op::Dirty => (Touch::Dirty, event.length.max(1)),
            _ => return,
        };
        if event.file != NO_FILE {
            self.pages.touch(event.file, event.offset, bytes, touch);
        }
    }

    /// Returns the summary after the last event. `end` is `None` if the trace was cut off.
    pub fn finish(self, head: &Head, files: &[FileState], end: Option<&End>) -> Summary {
        let sees = |what| !head.unseen.contains(&what);
        let has_latencies = sees(Unseen::Latencies);
        let length_ns = end.map_or(0, |end| end.length_ns).max(self.length_ns);
        let syncs = self.sync_figures(length_ns, has_latencies);
        let mut summary = Summary {
            length_ns,
            events: self.events,
            lost: end.map_or(0, |end| end.lost),
            is_cut_off: end.is_none(),
            rates: rates(&self.all, length_ns),
            series: self.series.finish(length_ns),
            operations: self.operations.finish(has_latencies),
            depth: has_latencies.then(|| self.depth.finish(length_ns)),
            syncs,
            longest: if has_latencies { self.longest.finish() } else { Vec::new() },
            pages: self.pages.finish(),
            files: self.files.finish(files),
            threads: self.threads.finish(length_ns, sees(Unseen::Wakes)),
            requests: self.requests.finish(length_ns),
            findings: Vec::new(),
        };
        summary.findings = findings::of(&summary, head);
        summary
    }

    fn sync_figures(&self, length_ns: u64, has_latencies: bool) -> Syncs {
        let per_sync = |number: u64| match self.all.syncs {
            0 => 0.0,
            syncs => number as f64 / syncs as f64,
        };
        Syncs {
            count: self.all.syncs,
            per_s: per_s(self.all.syncs, length_ns),
            write_through: self.syncs.write_through,
            times: has_latencies.then(|| SyncTimes {
                sum_ns: self.syncs.durable_ns,
                share_of_io_time: share(self.syncs.durable_ns, self.syncs.all_ns),
                mean_in_flight: share(self.syncs.durable_ns, length_ns),
                overlapping_share: share(self.syncs.overlapping, self.all.syncs),
            }),
            latency: (has_latencies && self.all.syncs > 0)
                .then(|| operations::latency(&self.syncs.latency)),
            writes_per_sync: per_sync(self.all.writes),
            bytes_per_sync: per_sync(self.all.written_bytes),
            between: self.files.between_syncs(),
        }
    }

    /// Entries of everything that grows.
    #[cfg(test)]
    fn entries(&self) -> usize {
        self.series.len()
            + self.operations.len()
            + self.depth.len()
            + self.longest.len()
            + self.pages.len()
            + self.files.len()
            + self.threads.len()
    }
}

fn rates(all: &Bin, length_ns: u64) -> Rates {
    let per_s = |number| per_s(number, length_ns);
    Rates {
        reads_per_s: per_s(all.reads),
        writes_per_s: per_s(all.writes),
        syncs_per_s: per_s(all.syncs),
        faults_per_s: per_s(all.faults),
        metadata_per_s: per_s(all.metadata),
        read_bytes_per_s: per_s(all.read_bytes),
        written_bytes_per_s: per_s(all.written_bytes),
    }
}

fn per_s(number: u64, length_ns: u64) -> f64 {
    if length_ns == 0 { 0.0 } else { number as f64 * 1e9 / length_ns as f64 }
}

/// 0 if the total is 0.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
