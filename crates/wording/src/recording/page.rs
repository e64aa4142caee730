//! Headings, labels and captions of the page on a recording.

use iotax_quantity::{bytes, percent, three_digits};
use iotax_trace::Thread;
use iotax_trace::profile::{Latency, LongOperation, Summary};

use super::{median, tail};
use crate::format::time;

fn per_second(rate: f64) -> String {
    format!("{}/s", three_digits(rate))
}

/// Labels and values of the main figures.
pub fn tiles(summary: &Summary) -> Vec<(&'static str, String)> {
    let rates = &summary.rates;
    let calls = rates.reads_per_s + rates.writes_per_s + rates.faults_per_s;
    let moved = |rate: f64| (rate > 0.0).then(|| format!("{}/s", bytes(rate)));
    let has_syncs = summary.syncs.count > 0 || summary.syncs.write_through > 0;
    let waiting = summary.syncs.times.filter(|_| has_syncs);
    let answered = summary.requests.as_ref();
    let tiles = [
        ("requests answered", answered.map(|requests| per_second(requests.per_s))),
        ("response time p50", answered.map(|requests| median(&requests.latency))),
        ("reads, writes, page faults", (calls > 0.0).then(|| per_second(calls))),
        ("read", moved(rates.read_bytes_per_s)),
        ("written", moved(rates.written_bytes_per_s)),
        ("syncs", has_syncs.then(|| per_second(summary.syncs.per_s))),
        ("I/O time in syncs", waiting.map(|times| percent(times.share_of_io_time))),
        (
            "mean queue depth",
            summary
                .depth
                .as_ref()
                .filter(|depth| depth.highest > 0)
                .map(|depth| three_digits(depth.mean_when_busy)),
        ),
    ];
    tiles.into_iter().filter_map(|(label, figure)| Some((label, figure?))).collect()
}

// Charts.

pub const OVER_TIME: &str = "Over time";
pub const READS: &str = "Reads per second";
pub const WRITES: &str = "Writes per second";
pub const SYNCS: &str = "Syncs per second";
pub const FAULTS: &str = "Page faults per second";
pub const METADATA: &str = "Metadata operations per second";
pub const THROUGHPUT: &str = "Throughput, MiB/s";
pub const IN_FLIGHT: &str = "Reads, writes, syncs and page faults in flight, mean";
pub const LONGEST: &str = "Longest operation";
pub const BYTES_READ: &str = "read";
pub const BYTES_WRITTEN: &str = "written";
pub const LONGEST_READ: &str = "longest read or page fault";
pub const LONGEST_WRITE: &str = "longest write";
pub const LONGEST_SYNC: &str = "longest sync";

/// Kinds of operations in a chart that has a line for each.
pub const KINDS: [&str; 3] = ["reads", "writes", "syncs"];

/// How to read the charts over time.
pub fn over_time(bin_ns: u64) -> String {
    format!(
        "Each step covers {}; an operation counts when it ends. During a stall, rates drop to 0, \
         and the longest operation rises.",
        time(bin_ns as f64)
    )
}

pub const OPERATIONS: &str = "Operations";

pub const LATENCY: &str = "Latency by operation";
pub const LATENCY_CAPTION: &str = "Share of the calls by latency; each bar covers a factor of 2.";
pub const SIZES: &str = "Size by operation";
pub const SIZES_CAPTION: &str =
    "Share of the calls by requested size; each bar covers a factor of 2.";

/// The name of an operation in a chart of latencies.
pub fn with_latency(name: &str, latency: &Latency) -> String {
    format!("{name}: p50 {}, p99 {}", median(latency), tail(latency))
}

/// The name of an operation in a chart of sizes.
pub fn with_size(name: &str, median_bytes: u64) -> String {
    format!("{name}: median {}", bytes(median_bytes as f64))
}

pub const ORDER: &str = "Sequential and random";
pub const ORDER_CAPTION: &str = "Share of the I/Os by where they start. Sequential: where the previous I/O of the same kind \
     and file ended. Interleaved: where one of the last eight streams ended.";
/// Kinds of order, from the most sequential on.
pub const ORDERS: [&str; 4] = ["sequential", "interleaved streams", "same offset", "random"];

pub const DEPTH: &str = "Queue depth";
pub const DEPTH_CAPTION: &str =
    "Share of the time with this many reads, writes, syncs and page faults in flight.";
pub const DEPTH_ROW: &str = "in flight";

/// A range of numbers in flight: `none`, `1`, `2 to 3`.
pub fn level(from: u64) -> String {
    match from {
        0 => "none".to_owned(),
        1 => "1".to_owned(),
        _ => format!("{from} to {}", 2 * from - 1),
    }
}

pub const THREAD_TIMES: &str = "What threads do";
pub const THREAD_TIMES_CAPTION: &str =
    "How the busiest threads spend their time. Waiting for threads: for another recorded thread.";
/// Parts of a thread's time. If not all of them were recorded, the last includes those.
pub const fn parts(sees_all: bool) -> [&'static str; 7] {
    let rest = if sees_all { "idle" } else { "other" };
    [
        "syncs",
        "other I/O calls",
        "waiting for threads",
        "CPU",
        "waiting for a CPU",
        "asynchronous I/O",
        rest,
    ]
}

pub const WAITS: &str = "Which thread waits for which";

/// How to read the drawing of the waits.
pub fn waits(shown_share: f64) -> String {
    format!(
        "The pairs with the longest waits: {} of the time that threads wait for each other. The \
         height of a band is the total time of the waits.",
        percent(shown_share)
    )
}

/// Heads of the drawing, and of the table below it.
pub const WAITER: &str = "waiting thread";
pub const WAITED_FOR: &str = "thread it waits for";
pub const PAIR: [&str; 2] = ["thread", "waits for"];

/// Head of a column: the part of the total waiting time that is this pair's.
pub const SHARE_OF_WAITS: &str = "share of all waits";

pub fn thread(thread: Thread) -> String {
    format!("thread {thread}")
}

/// `12.3 s (45 %)`
pub fn waited(waited_ns: u64, share: f64) -> String {
    format!("{} ({})", time(waited_ns as f64), percent(share))
}

pub const LONGEST_OPERATIONS: &str = "Longest operations";

/// When an operation started, after the start of the recording.
pub fn started(operation: &LongOperation) -> String {
    time(operation.start_ns as f64)
}
