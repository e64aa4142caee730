//! A recording of an application's I/O.

pub mod finding;
pub mod heading;
pub mod page;
pub mod progress;

use iotax_quantity::{bytes, count, grouped, list, percent, size, span_of_ns, three_digits};
use iotax_trace::export::fio_log::Exported;
use iotax_trace::import::Imported;
use iotax_trace::profile::{
    FileFigures, Latency, Order, RequestFigures, Sizes, Summary, ThreadTimes, Trait,
};
use iotax_trace::{End, EndReason, FileKind, Head, Source, Unseen};

use crate::format::time;

/// From this share of calls on, one size or access pattern is shown for all of them.
const NEARLY_ALL: f64 = 0.9;

/// What was recorded: `9 threads, 14 files, 48,210 events in 1 min 0 s`.
pub fn counts(summary: &Summary) -> String {
    format!(
        "{}, {}, {} in {}",
        count(summary.threads.count, "thread"),
        count(summary.files.count, "file"),
        count(summary.events, "event"),
        span_of_ns(summary.length_ns)
    )
}

/// A rate of operations for a table.
pub fn rate(count: u64, length_ns: u64) -> String {
    three_digits(per_second_of(count, length_ns))
}

/// A rate of bytes for a table; nothing if nothing was moved.
pub fn byte_rate(count: u64, length_ns: u64) -> Option<String> {
    (count > 0).then(|| format!("{}/s", bytes(per_second_of(count, length_ns))))
}

fn per_second_of(count: u64, length_ns: u64) -> f64 {
    count as f64 * 1e9 / (length_ns.max(1)) as f64
}

/// The most frequent size, with its share if it is not nearly all; otherwise the median.
pub fn sizes(sizes: &Sizes) -> String {
    match sizes.frequent.first() {
        Some(first) if first.share >= NEARLY_ALL => size(first.bytes),
        Some(first) if first.share >= 0.5 => {
            format!("{} ({})", size(first.bytes), percent(first.share))
        }
        _ => format!("median {}", bytes(sizes.median_bytes as f64)),
    }
}

/// `sequential`, `random`, or the share that is sequential.
pub fn order(order: &Order) -> String {
    let share = order.in_streams_share;
    if order.compared == 0 {
        String::new()
    } else if order.same_offset_share >= NEARLY_ALL {
        "same offset".to_owned()
    } else if share >= NEARLY_ALL {
        "sequential".to_owned()
    } else if share <= 1.0 - NEARLY_ALL {
        "random".to_owned()
    } else {
        format!("{} sequential", percent(share))
    }
}

pub fn median(latency: &Latency) -> String {
    time(latency.p50_ns as f64)
}

pub fn tail(latency: &Latency) -> String {
    time(latency.p99_ns as f64)
}

/// How many requests of clients are answered, and how fast.
pub fn requests(requests: &RequestFigures) -> String {
    format!(
        "{} answered per second, response time p50 {}, p99 {}",
        three_digits(requests.per_s),
        median(&requests.latency),
        tail(&requests.latency)
    )
}

/// How much is in flight.
pub fn depth(summary: &Summary) -> Option<String> {
    let depth = summary.depth.as_ref()?;
    Some(format!(
        "mean {} while any I/O is in flight ({} of the time), at most {}",
        three_digits(depth.mean_when_busy),
        percent(depth.busy_share),
        depth.highest
    ))
}

/// Writes and bytes per sync.
pub fn syncs(summary: &Summary) -> Option<String> {
    let syncs = &summary.syncs;
    if syncs.count == 0 {
        return None;
    }
    let each = format!(
        "{} writes and {} per sync",
        three_digits(syncs.writes_per_sync),
        bytes(syncs.bytes_per_sync)
    );
    Some(match syncs.times {
        Some(times) => format!(
            "{each}; {} of the time in I/O calls; {} overlap with another sync",
            percent(times.share_of_io_time),
            percent(times.overlapping_share)
        ),
        None => each,
    })
}

/// Size of the files, and how much of it the program used.
pub fn data(summary: &Summary) -> String {
    let (files, pages) = (&summary.files, &summary.pages);
    let cached = match files.cached_bytes {
        Some(cached) => format!(", {} of it in the page cache", bytes(cached as f64)),
        None => String::new(),
    };
    format!(
        "{} in files at the start{cached}; counting each page once: {} read, {} written",
        bytes(files.size_bytes as f64),
        bytes(pages.read_bytes as f64),
        bytes(pages.written_bytes as f64)
    )
}

/// How the threads spent their time.
pub fn threads(summary: &Summary) -> Option<String> {
    let [io, _, waiting, cpu, ..] = thread_parts(summary, &summary.threads.all);
    let parts = [(io, "in I/O calls"), (waiting, "waiting for each other"), (cpu, "on the CPU")];
    let told: Vec<String> =
        parts.into_iter().filter_map(|(part, what)| Some(format!("{} {what}", part?))).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// Whether the latencies of operations were recorded.
pub fn sees_latencies(summary: &Summary) -> bool {
    summary.depth.is_some()
}

/// Whether the CPU time of threads was recorded.
pub fn sees_cpu_time(summary: &Summary) -> bool {
    let unseen = Trait::Unseen { what: Unseen::CpuTime };
    !summary.findings.iter().any(|finding| finding.about == unseen)
}

/// How threads spent their time: in I/O, in syncs, waiting, on the CPU, waiting for a CPU, idle.
/// `None` for what was not recorded.
pub fn thread_parts(summary: &Summary, times: &ThreadTimes) -> [Option<String>; 6] {
    let (sees_io, sees_cpu) = (sees_latencies(summary), sees_cpu_time(summary));
    let part = |ns: u64, is_seen: bool| {
        (is_seen && times.life_ns > 0).then(|| percent(ns as f64 / times.life_ns as f64))
    };
    [
        part(times.io_ns, sees_io),
        part(times.sync_ns, sees_io),
        part(times.waiting_ns, summary.threads.waits.is_some()),
        part(times.cpu_ns, sees_cpu),
        part(times.run_delay_ns, sees_cpu),
        part(times.idle_ns, sees_io && sees_cpu),
    ]
}

/// The heading of the table of files.
pub fn files(summary: &Summary) -> &'static str {
    if sees_latencies(summary) { "Files by time in I/O calls" } else { "Files by bytes" }
}

/// A file in a table: its number, and what it is if it is not a regular file.
pub fn file(figures: &FileFigures) -> String {
    match figures.kind {
        Some(FileKind::Directory) => format!("directory {}", figures.file),
        Some(FileKind::BlockDevice) => format!("block device {}", figures.file),
        Some(FileKind::Regular) | None => format!("file {}", figures.file),
    }
}

/// Why the recording ended; `None` if it ended as requested.
pub fn ended(reason: EndReason) -> Option<String> {
    match reason {
        EndReason::Command { code: Some(0) } | EndReason::Time => None,
        EndReason::Command { code: Some(code) } => {
            Some(format!("The command ended with exit code {code}."))
        }
        EndReason::Command { code: None } => Some("A signal ended the command.".to_owned()),
        EndReason::Gone => Some("The program ended.".to_owned()),
        EndReason::Size => Some(
            "iotax stopped recording, because the recording reached its maximum size (--max-size, or \
             the limit for recordings in memory)."
                .to_owned(),
        ),
        EndReason::Overhead => Some(
            "iotax stopped recording early, because it used more CPU time than --max-overhead allows."
                .to_owned(),
        ),
        EndReason::Stopped => Some("You stopped the recording.".to_owned()),
    }
}

/// What the recorder cost: `0.4 % of the machine's CPU time`.
pub fn cost(overhead: f64) -> String {
    format!("{} of the machine's CPU time", percent(overhead))
}

/// How the recording was made.
pub const fn source(source: Source) -> &'static str {
    match source {
        Source::Bpf => "recorded with BPF",
        Source::Strace => "imported from strace",
        Source::Blktrace => "imported from blktrace",
        Source::FioLog => "imported from a fio I/O log",
        Source::BlockCsv => "imported from a block trace (CSV)",
    }
}

/// What a source cannot see.
pub const fn unseen(what: Unseen) -> &'static str {
    match what {
        Unseen::Faults => "page faults of mapped files",
        Unseen::DirtiedPages => "pages dirtied through mmap",
        Unseen::Uring => "io_uring requests",
        Unseen::Wakes => "which thread waits for which (wake-ups)",
        Unseen::CpuTime => "the CPU time of threads",
        Unseen::Calls => "system calls (the trace contains only block I/O)",
        Unseen::Latencies => "latencies",
        Unseen::Times => "exact start times of I/Os",
        Unseen::StartState => "sizes, holes and cached parts of the files at the start",
        Unseen::OpenFiles => {
            "files that other users' processes have open (needs root or CAP_SYS_PTRACE)"
        }
        Unseen::LaterMembers => "processes that joined the cgroup during the recording",
    }
}

/// Names of commands to run next, and the commands.
pub fn next(path: &str) -> [(&'static str, String); 3] {
    let path = quoted(path);
    [
        ("All tables", format!("iotax capture show -v {path}")),
        ("Charts", format!("iotax report {path}")),
        ("Replay", format!("iotax run {path} DIR")),
    ]
}

/// The same on the page.
pub fn replay(path: &str) -> [(&'static str, String); 2] {
    let path = quoted(path);
    [
        ("Replay it in a directory", format!("iotax run {path} DIR")),
        ("Compare two directories", format!("iotax compare -w {path} a=DIR1 b=DIR2")),
    ]
}

/// A path for a shell.
fn quoted(path: &str) -> String {
    let quoter = shlex::Quoter::new().allow_nul(true);
    quoter.quote(path).map_or_else(|_| path.to_owned(), std::borrow::Cow::into_owned)
}

pub const OTHER_FINDINGS: &str = "Other findings";
pub const REQUESTS: &str = "Requests";
pub const IN_FLIGHT: &str = "Queue depth";
pub const SYNCS: &str = "Syncs";
pub const THREADS: &str = "Threads";
pub const DATA: &str = "Data";
pub const BUSIEST: &str = "Busiest threads (share of each thread's time)";
pub const COST: &str = "Recording overhead";
pub const LOST: &str = "Lost events";
pub const UNSEEN: &str = "Not recorded";
pub const SCOPE: &str = "Scope";
pub const LIMITATIONS: &str = "Recording quality";
pub const USE: &str = "How to replay";
pub const ABOUT: &str = "Recording";

/// Facts about how and where the recording was made.
pub fn circumstances(head: &Head, summary: &Summary) -> Vec<(&'static str, String)> {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let facts = [
        ("Kernel", known(&head.kernel)),
        ("CPUs", head.cpus.map(|cpus| cpus.to_string())),
        ("Memory", head.memory_bytes.map(size)),
        ("Memory limit (cgroup)", head.memory_limit_bytes.map(size)),
        ("Source", Some(source(head.source).to_owned())),
        ("Written by", known(&head.program)),
        ("Contents", Some(counts(summary))),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// What is lost, what is not recorded, and what recording cost.
pub fn quality(head: &Head, end: Option<&End>, summary: &Summary) -> Vec<(&'static str, String)> {
    let lost = match (end, summary.lost) {
        (None, _) => "unknown, because the recorder was killed".to_owned(),
        (_, 0) => format!("none of {}", grouped(summary.events)),
        (_, lost) => {
            format!("{} of {}", grouped(lost), grouped(summary.events.saturating_add(lost)))
        }
    };
    let unseen: Vec<&str> = head.unseen.iter().map(|what| unseen(*what)).collect();
    let scope = match head.source {
        Source::Bpf | Source::Strace => {
            "I/O as the program sees it. What the page cache, the file system and the disk do for \
             it is not visible; a read from the page cache counts like a read from the disk."
        }
        Source::Blktrace | Source::BlockCsv => {
            "I/O of a block device, of all programs together. Reads from the page cache are missing."
        }
        Source::FioLog => "I/Os that fio issued.",
    };
    let facts = [
        (LOST, (head.source == Source::Bpf || end.is_none()).then_some(lost)),
        (UNSEEN, (!unseen.is_empty()).then(|| unseen.join("; "))),
        (SCOPE, Some(scope.to_owned())),
        (COST, end.and_then(|end| end.overhead).map(cost)),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Records that were skipped during import, with the input they came from.
pub fn skipped(imported: &Imported, names: &[String]) -> String {
    let mut text = format!("Skipped {}. The first:\n", count(imported.skipped, "record"));
    for skipped in &imported.examples {
        let name = names.get(skipped.input).map_or("", String::as_str);
        text.push_str(&format!("  {name}, {}: {}\n", skipped.place, skipped.reason));
    }
    text.push('\n');
    text
}

/// What the replay of a recording by fio cannot show.
pub fn not_shown_by_fio(exported: &Exported, copies: u32) -> Vec<String> {
    let mut lines = vec![
        "fio replays the recording as an I/O log: one thread issues one I/O at a time, at the \
         recorded times. The recorded threads, their waits for each other and their CPU time are \
         lost. Compare the arms only with each other. Trust the results of iotax in expected.txt \
         more than those of fio"
            .to_owned(),
        "fio creates the files full of data. Holes, unwritten extents, the page cache \
         at the start of the recording, and O_SYNC or O_DSYNC writes are not reproduced"
            .to_owned(),
    ];
    let left_out: Vec<String> = exported
        .left_out
        .iter()
        .map(|(op, count)| format!("{} {}", grouped(*count), op.name()))
        .collect();
    if !left_out.is_empty() {
        let left_out: Vec<&str> = left_out.iter().map(String::as_str).collect();
        lines.push(format!(
            "Operations that an I/O log cannot express are left out: {}",
            list(&left_out)
        ));
    }
    if copies > 1 {
        lines.push(format!("fio replays one copy of the recording instead of {copies}"));
    }
    lines
}

/// `app.parquet: 1,234 rows`
pub fn exported_table(rows: u64, path: &str) -> String {
    format!("{path}: {}, one for each event; times are in nanoseconds\n", count(rows, "row"))
}

/// What was exported, and what was left out.
pub fn exported(exported: &Exported, path: &str) -> String {
    let mut text = format!(
        "{path}: {} on {}\n",
        count(exported.actions, "I/O"),
        count(exported.files.len() as u64, "file")
    );
    let left_out: Vec<String> = exported
        .left_out
        .iter()
        .map(|(op, count)| format!("{} {}", grouped(*count), op.name()))
        .collect();
    if !left_out.is_empty() {
        let left_out: Vec<&str> = left_out.iter().map(String::as_str).collect();
        text.push_str(&format!(
            "Left out, because fio's I/O log cannot express them: {}.\n",
            list(&left_out)
        ));
    }
    text.push_str(&format!(
        "fio 3.31 or later replays this log, one I/O at a time. The files f0, f1, ... must exist in\n\
         DIR and be large enough for all reads:\n\
         fio --name=x --directory=DIR --read_iolog={path}\n"
    ));
    text
}
