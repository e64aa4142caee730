//! The options of a job, of the index and of a workload, declared once: name, unit, meaning, effect.
//!
//! Overrides (`--set`), experiment files, their JSON Schema and the errors of all three read these
//! tables. A new option is one entry here and one field in [`crate::workload`].

mod index;
mod patterns;
mod shares;
mod tree;
mod values;
mod zones;

use iotax_layers::Error;
use iotax_layers::units::{self, Unit};

use crate::engine::Engine;
use crate::workload::Trims;
use crate::workload::{Bound, Files, Job, Pattern};
pub(crate) use index::INDEX_OPTIONS;
use patterns::{cpus, pattern, think};
pub(crate) use patterns::{format_cpus, format_pattern};
pub(crate) use shares::{
    format_flow, format_latency_target, format_numa, format_priorities, format_stretches,
};
pub(crate) use tree::format_operations;
pub(crate) use values::format_block_sizes;
use values::{block_sizes, pace, percent, small, small_bytes};

/// One option of something of type `T`.
pub(crate) struct JobOption<T> {
    /// As written in files; `_` may stand for `-` on the command line.
    pub name: &'static str,
    /// What fio calls it, accepted on the command line.
    pub fio: Option<&'static str>,
    pub unit: Unit,
    pub about: &'static str,
    sets: Sets<T>,
}

/// What the value of an option goes to.
enum Sets<T> {
    Switch(fn(&mut T) -> &mut bool),
    Count(fn(&mut T) -> &mut u32),
    Percent(fn(&mut T) -> &mut u8),
    Bytes(fn(&mut T) -> &mut u64),
    /// Of which there are less than 4 GiB.
    SmallBytes(fn(&mut T) -> &mut u32),
    Duration(fn(&mut T) -> &mut u64),
    Iops(fn(&mut T) -> &mut f64),
    /// Whatever it makes of the text.
    By(fn(&mut T, &str) -> Result<(), Error>),
}

/// An option that is one value.
const fn value<T>(
    name: &'static str,
    fio: Option<&'static str>,
    about: &'static str,
    sets: Sets<T>,
) -> JobOption<T> {
    let unit = match sets {
        Sets::Switch(_) => Unit::Switch,
        Sets::Count(_) => Unit::Count,
        Sets::Percent(_) => Unit::Percent,
        Sets::Bytes(_) | Sets::SmallBytes(_) => Unit::Size,
        Sets::Duration(_) => Unit::Duration,
        Sets::Iops(_) => Unit::Iops,
        Sets::By(_) => Unit::Name,
    };
    JobOption { name, fio, unit, about, sets }
}

/// An option that `set` reads.
const fn option<T>(
    name: &'static str,
    fio: Option<&'static str>,
    unit: Unit,
    about: &'static str,
    set: fn(&mut T, &str) -> Result<(), Error>,
) -> JobOption<T> {
    JobOption { name, fio, unit, about, sets: Sets::By(set) }
}

impl<T> JobOption<T> {
    pub(crate) fn set(&self, of: &mut T, text: &str) -> Result<(), Error> {
        match &self.sets {
            Sets::Switch(at) => units::parse_switch(text).map(|on| *at(of) = on),
            Sets::Count(at) => small(text).map(|count| *at(of) = count),
            Sets::Percent(at) => percent(text).map(|percent| *at(of) = percent),
            Sets::Bytes(at) => units::parse_bytes(text).map(|bytes| *at(of) = bytes),
            Sets::SmallBytes(at) => small_bytes(text).map(|bytes| *at(of) = bytes),
            Sets::Duration(at) => units::parse_duration(text).map(|ns| *at(of) = ns),
            Sets::Iops(at) => units::parse_iops(text).map(|iops| *at(of) = iops),
            Sets::By(set) => set(of, text),
        }
    }
}

/// Finds an option by its own name, by fio's, or with `_` for `-`.
pub(crate) fn find<T>(
    options: &'static [JobOption<T>],
    name: &str,
) -> Option<&'static JobOption<T>> {
    let dashed = name.replace('_', "-");
    options.iter().find(|option| option.name == dashed || option.fio == Some(name))
}

/// fio's `rw` words without `rand`, with the percentage of reads and the trims each stands for.
const DIRECTIONS: [(&str, u8, Option<Trims>); 5] = [
    ("read", 100, None),
    ("write", 0, None),
    ("rw", 50, None),
    ("trim", 0, Some(Trims::Only)),
    ("trimwrite", 0, Some(Trims::First)),
];
const DIRECTION_NAMES: &[&str] = &[
    "read",
    "write",
    "rw",
    "trim",
    "trimwrite",
    "randread",
    "randwrite",
    "randrw",
    "randtrim",
    "randtrimwrite",
];

const TRIM_NAMES: &[&str] = &["none", Trims::Only.name(), Trims::First.name()];

/// The options of a job, apart from its name.
pub(crate) static JOB_OPTIONS: [JobOption<Job>; 55] = [
    option(
        "engine",
        Some("ioengine"),
        Unit::Choice(Engine::NAMES),
        "how I/O is issued on paths",
        engine,
    ),
    option("threads", Some("numjobs"), Unit::Count, "identical threads", |job, text| {
        small(text).map(|threads| (job.threads, job.least_threads) = (threads, None))
    }),
    value(
        "depth",
        Some("iodepth"),
        "I/Os in flight per thread",
        Sets::Count(|job| &mut job.queue_depth),
    ),
    option(
        "rw",
        Some("readwrite"),
        Unit::Choice(DIRECTION_NAMES),
        "pattern and direction in one word, as in fio",
        direction,
    ),
    value(
        "read-percent",
        Some("rwmixread"),
        "share of reads",
        Sets::Percent(|job| &mut job.read_percent),
    ),
    option(
        "trim",
        None,
        Unit::Choice(TRIM_NAMES),
        "discard space: instead of writing (only), or before each write (first)",
        |job, text| {
            let at = choose(TRIM_NAMES, text)?;
            job.trims = [None, Some(Trims::Only), Some(Trims::First)][at];
            Ok(())
        },
    ),
    option("pattern", None, Unit::Pattern, "order of offsets", |job, text| {
        pattern(text).map(|pattern| job.pattern = pattern)
    }),
    option("block-size", Some("bs"), Unit::BlockSizes, "size of single I/Os", |job, text| {
        block_sizes(text).map(|sizes| job.block_sizes = sizes)
    }),
    option(
        "write-block-size",
        None,
        Unit::BlockSizes,
        "size of single writes, where reads have another",
        |job, text| block_sizes(text).map(|sizes| job.write_block_sizes = Some(sizes)),
    ),
    option(
        "write-pattern",
        None,
        Unit::Pattern,
        "order of writes, where reads have another",
        |job, text| pattern(text).map(|pattern| job.write_pattern = Some(pattern)),
    ),
    value("size", None, "bytes each thread's offsets span", Sets::Bytes(|job| &mut job.size_bytes)),
    option(
        "target",
        None,
        Unit::Name,
        "what it calls its target, where a trial has several",
        |job, text| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            if text.is_empty() || !text.chars().all(is_plain) {
                let advice = "a name is letters, digits, `.`, `_` and `-`, as in target = \"e\"";
                return Err(Error::syntax(format!("`{text}` cannot be a target's name"), advice));
            }
            job.target = Some(text.to_owned());
            Ok(())
        },
    ),
    option("file", None, Unit::Name, "per-thread, or the name of one file for all", |job, text| {
        let own = text == "per-thread";
        job.files = if own { Files::PerThread } else { Files::Shared(text.to_owned()) };
        Ok(())
    }),
    option(
        "rate",
        None,
        Unit::Pace,
        "I/Os per second offered by the job, or closed",
        |job, text| pace(text).map(|pace| job.pace = pace),
    ),
    option(
        "io-size",
        None,
        Unit::Size,
        "end after so many bytes per thread; 0: run on",
        |job, text| {
            let bytes = units::parse_bytes(text)?;
            job.bound = if bytes == 0 { Bound::Time } else { Bound::Bytes(bytes) };
            Ok(())
        },
    ),
    value(
        "start-delay",
        Some("startdelay"),
        "wait before the first I/O",
        Sets::Duration(|job| &mut job.start_delay_ns),
    ),
    option(
        "end-after",
        None,
        Unit::Duration,
        "end this long into the trial; 0: with it",
        |job, text| {
            let ns = units::parse_duration(text)?;
            job.end_after_ns = (ns > 0).then_some(ns);
            Ok(())
        },
    ),
    value("direct", None, "bypass the page cache", Sets::Switch(|job| &mut job.direct)),
    value(
        "invalidate",
        None,
        "start every trial with a cold cache",
        Sets::Switch(|job| &mut job.invalidate),
    ),
    option(
        "fsync-every",
        Some("fdatasync"),
        Unit::Count,
        "sync after so many writes; 0: never",
        |job, text| {
            let writes = small(text)?;
            job.fsync_every = (writes > 0).then_some(writes);
            Ok(())
        },
    ),
    value("end-fsync", None, "sync when the job ends", Sets::Switch(|job| &mut job.end_fsync)),
    value(
        "verify",
        None,
        "read back and compare what was written",
        Sets::Switch(|job| &mut job.verify),
    ),
    option(
        "verify-every",
        Some("verify_backlog"),
        Unit::Count,
        "verify as it runs, after this many writes; 0: only at the end",
        |job, text| {
            let writes = small(text)?;
            job.verify_every = (writes > 0).then_some(writes);
            Ok(())
        },
    ),
    value(
        "verify-apart",
        None,
        "reads verify what another job with this option wrote",
        Sets::Switch(|job| &mut job.verify_apart),
    ),
    value(
        "verify-ends",
        Some("verify_fatal"),
        "end the job at the first block that differs",
        Sets::Switch(|job| &mut job.verify_ends),
    ),
    value(
        "sqpoll",
        Some("sqthread_poll"),
        "io_uring: the kernel polls",
        Sets::Switch(|job| &mut job.sqpoll),
    ),
    value(
        "advise",
        Some("fadvise_hint"),
        "tell the kernel the pattern",
        Sets::Switch(|job| &mut job.advise),
    ),
    value(
        "files",
        None,
        "metadata: files of each thread",
        Sets::Count(|job| &mut tree::of(job).files),
    ),
    value(
        "files-per-directory",
        None,
        "metadata: files of one directory",
        Sets::Count(|job| &mut tree::of(job).files_per_directory),
    ),
    value(
        "file-size",
        None,
        "metadata: content of a file",
        Sets::SmallBytes(|job| &mut tree::of(job).file_bytes),
    ),
    option(
        "operations",
        None,
        Unit::Operations,
        "metadata: what is done how often",
        tree::operations,
    ),
    option(
        "align",
        Some("blockalign"),
        Unit::Size,
        "offsets are multiples of this; else of the smallest block",
        |job, text| units::parse_bytes(text).map(|bytes| job.align_bytes = Some(bytes)),
    ),
    value("offset", None, "where the span begins", Sets::Bytes(|job| &mut job.offset_bytes)),
    value(
        "write-through",
        Some("sync"),
        "writes reach the medium before they count (O_SYNC)",
        Sets::Switch(|job| &mut job.write_through),
    ),
    option(
        "think",
        Some("thinktime"),
        Unit::Think,
        "a pause, and after how many I/Os; 0: none",
        |job, text| think(text).map(|think| job.think = think),
    ),
    option(
        "cpus",
        Some("cpus_allowed"),
        Unit::Cpus,
        "CPUs that its threads may run on",
        |job, text| cpus(text).map(|cpus| job.cpus = cpus),
    ),
    value(
        "files-per-thread",
        Some("nrfiles"),
        "files each thread takes in turn, of size in all",
        Sets::Count(|job| &mut job.files_per_thread),
    ),
    value(
        "pre-read",
        None,
        "start every trial with a warm cache",
        Sets::Switch(|job| &mut job.pre_read),
    ),
    value(
        "ends-all",
        Some("exitall"),
        "when this job ends, all others end too",
        Sets::Switch(|job| &mut job.ends_all),
    ),
    option(
        "submit-batch",
        Some("iodepth_batch"),
        Unit::Count,
        "io_uring: I/Os per system call, at most",
        |job, text| small(text).map(|most| job.submit_batch = Some(most)),
    ),
    value(
        "uncached",
        None,
        "what was touched leaves the page cache after each I/O",
        Sets::Switch(|job| &mut job.uncached),
    ),
    value(
        "fresh",
        None,
        "writes to files allocated anew before each trial, as a log's",
        Sets::Switch(|job| &mut job.fresh),
    ),
    option(
        "stretches",
        None,
        Unit::Stretches,
        "keep to stretches with gaps: bytes moved in each, its length, the gap",
        |job, text| shares::stretches(text).map(|stretches| job.stretches = stretches),
    ),
    value(
        "offset-increment",
        Some("offset_increment"),
        "the span of each thread begins so much later",
        Sets::Bytes(|job| &mut job.offset_increment_bytes),
    ),
    value(
        "compress",
        Some("buffer_compress_percentage"),
        "how much of what is written is the same everywhere",
        Sets::Percent(|job| &mut job.content.get_or_insert_default().compress_percent),
    ),
    value(
        "compress-chunk",
        Some("buffer_compress_chunk"),
        "of how many bytes at a time",
        Sets::SmallBytes(|job| &mut job.content.get_or_insert_default().chunk_bytes),
    ),
    option(
        "fill-pattern",
        Some("buffer_pattern"),
        Unit::Name,
        "what is the same everywhere, in hexadecimal: 0xdeadbeef",
        |job, text| {
            shares::bytes(text).map(|bytes| job.content.get_or_insert_default().pattern = bytes)
        },
    ),
    value(
        "dedupe",
        Some("dedupe_percentage"),
        "how many writes repeat data of another",
        Sets::Percent(|job| &mut job.content.get_or_insert_default().dedupe_percent),
    ),
    option(
        "dedupe-set",
        Some("dedupe_working_set_percentage"),
        Unit::Percent,
        "repeat data of this part of the span; 0: that of the next write",
        |job, text| {
            percent(text).map(|percent| {
                let set = (percent > 0).then_some(percent);
                job.content.get_or_insert_default().working_set_percent = set;
            })
        },
    ),
    value(
        "dedupe-global",
        Some("dedupe_global"),
        "threads repeat data of each other, too",
        Sets::Switch(|job| &mut job.content.get_or_insert_default().shared_set),
    ),
    option(
        "flow",
        None,
        Unit::Flow,
        "weight beside other jobs with one, group, sleep when ahead; 0: none",
        |job, text| shares::flow(text).map(|flow| job.flow = flow),
    ),
    option(
        "latency-target",
        None,
        Unit::LatencyTarget,
        "find the depth at which so many I/Os take at most so long; 0: no",
        |job, text| shares::latency_target(text).map(|target| job.latency_target = target),
    ),
    option(
        "priority",
        None,
        Unit::Priority,
        "priority of its I/Os to the kernel, and of some of them",
        |job, text| {
            shares::priorities(text).map(|(all, some)| (job.priority, job.priorities) = (all, some))
        },
    ),
    option(
        "numa",
        None,
        Unit::Numa,
        "NUMA nodes of its threads, and where its memory is",
        |job, text| shares::numa(text).map(|numa| job.numa = numa),
    ),
    value(
        "zero-copy",
        None,
        "tcp_stream: the kernel sends from load's memory (MSG_ZEROCOPY)",
        Sets::Switch(|job| &mut job.zero_copy),
    ),
];

/// The position of a word among those offered.
fn choose(words: &'static [&'static str], text: &str) -> Result<usize, Error> {
    words
        .iter()
        .position(|word| *word == text)
        .ok_or_else(|| Unit::Choice(words).refuse(text, format!("write {}", words.join(", ")), ""))
}

fn engine(job: &mut Job, text: &str) -> Result<(), Error> {
    job.engine = Engine::ALL[choose(Engine::NAMES, &text.replace('-', "_"))?];
    job.engine_asked = true;
    if job.engine.has_tree() {
        tree::of(job);
    } else {
        job.tree = None;
    }
    // What another tool's command said of its queue does not outlive that.
    if !job.engine.info().has_queue {
        job.submit_batch = None;
    }
    Ok(())
}

fn direction(job: &mut Job, text: &str) -> Result<(), Error> {
    let at = choose(DIRECTION_NAMES, text)?;
    let (_, read_percent, trims) = DIRECTIONS[at % DIRECTIONS.len()];
    (job.read_percent, job.trims) = (read_percent, trims);
    job.pattern = if at < DIRECTIONS.len() { Pattern::Sequential } else { Pattern::Random };
    Ok(())
}
