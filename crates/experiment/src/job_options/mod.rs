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
use values::{block_sizes, pace, percent, small};

/// One option of something of type `T`.
pub(crate) struct JobOption<T> {
    /// As written in files; `_` may stand for `-` on the command line.
    pub name: &'static str,
    /// What fio calls it, accepted on the command line.
    pub fio: Option<&'static str>,
    pub unit: Unit,
    pub about: &'static str,
    pub set: fn(&mut T, &str) -> Result<(), Error>,
}

/// An option with these words.
const fn option<T>(
    name: &'static str,
    fio: Option<&'static str>,
    unit: Unit,
    about: &'static str,
    set: fn(&mut T, &str) -> Result<(), Error>,
) -> JobOption<T> {
    JobOption { name, fio, unit, about, set }
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
    option("depth", Some("iodepth"), Unit::Count, "I/Os in flight per thread", |job, text| {
        small(text).map(|depth| job.queue_depth = depth)
    }),
    option(
        "rw",
        Some("readwrite"),
        Unit::Choice(DIRECTION_NAMES),
        "pattern and direction in one word, as in fio",
        direction,
    ),
    option("read-percent", Some("rwmixread"), Unit::Percent, "share of reads", |job, text| {
        percent(text).map(|percent| job.read_percent = percent)
    }),
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
    option("size", None, Unit::Size, "bytes each thread's offsets span", |job, text| {
        units::parse_bytes(text).map(|bytes| job.size_bytes = bytes)
    }),
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
    option(
        "start-delay",
        Some("startdelay"),
        Unit::Duration,
        "wait before the first I/O",
        |job, text| units::parse_duration(text).map(|ns| job.start_delay_ns = ns),
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
    option("direct", None, Unit::Switch, "bypass the page cache", |job, text| {
        units::parse_switch(text).map(|on| job.direct = on)
    }),
    option("invalidate", None, Unit::Switch, "start every trial with a cold cache", |job, text| {
        units::parse_switch(text).map(|on| job.invalidate = on)
    }),
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
    option("end-fsync", None, Unit::Switch, "sync when the job ends", |job, text| {
        units::parse_switch(text).map(|on| job.end_fsync = on)
    }),
    option("verify", None, Unit::Switch, "read back and compare what was written", |job, text| {
        units::parse_switch(text).map(|on| job.verify = on)
    }),
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
    option(
        "verify-apart",
        None,
        Unit::Switch,
        "reads verify what another job with this option wrote",
        |job, text| units::parse_switch(text).map(|on| job.verify_apart = on),
    ),
    option(
        "verify-ends",
        Some("verify_fatal"),
        Unit::Switch,
        "end the job at the first block that differs",
        |job, text| units::parse_switch(text).map(|on| job.verify_ends = on),
    ),
    option(
        "sqpoll",
        Some("sqthread_poll"),
        Unit::Switch,
        "io_uring: the kernel polls",
        |job, text| units::parse_switch(text).map(|on| job.sqpoll = on),
    ),
    option(
        "advise",
        Some("fadvise_hint"),
        Unit::Switch,
        "tell the kernel the pattern",
        |job, text| units::parse_switch(text).map(|on| job.advise = on),
    ),
    option("files", None, Unit::Count, "metadata: files of each thread", tree::files),
    option(
        "files-per-directory",
        None,
        Unit::Count,
        "metadata: files of one directory",
        tree::files_per_directory,
    ),
    option("file-size", None, Unit::Size, "metadata: content of a file", tree::file_size),
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
    option("offset", None, Unit::Size, "where the span begins", |job, text| {
        units::parse_bytes(text).map(|bytes| job.offset_bytes = bytes)
    }),
    option(
        "write-through",
        Some("sync"),
        Unit::Switch,
        "writes reach the medium before they count (O_SYNC)",
        |job, text| units::parse_switch(text).map(|on| job.write_through = on),
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
    option(
        "files-per-thread",
        Some("nrfiles"),
        Unit::Count,
        "files each thread takes in turn, of size in all",
        |job, text| small(text).map(|files| job.files_per_thread = files),
    ),
    option("pre-read", None, Unit::Switch, "start every trial with a warm cache", |job, text| {
        units::parse_switch(text).map(|on| job.pre_read = on)
    }),
    option(
        "ends-all",
        Some("exitall"),
        Unit::Switch,
        "when this job ends, all others end too",
        |job, text| units::parse_switch(text).map(|on| job.ends_all = on),
    ),
    option(
        "submit-batch",
        Some("iodepth_batch"),
        Unit::Count,
        "io_uring: I/Os per system call, at most",
        |job, text| small(text).map(|most| job.submit_batch = Some(most)),
    ),
    option(
        "uncached",
        None,
        Unit::Switch,
        "what was touched leaves the page cache after each I/O",
        |job, text| units::parse_switch(text).map(|on| job.uncached = on),
    ),
    option(
        "fresh",
        None,
        Unit::Switch,
        "writes to files allocated anew before each trial, as a log's",
        |job, text| units::parse_switch(text).map(|on| job.fresh = on),
    ),
    option(
        "stretches",
        None,
        Unit::Stretches,
        "keep to stretches with gaps: bytes moved in each, its length, the gap",
        |job, text| shares::stretches(text).map(|stretches| job.stretches = stretches),
    ),
    option(
        "offset-increment",
        Some("offset_increment"),
        Unit::Size,
        "the span of each thread begins so much later",
        |job, text| units::parse_bytes(text).map(|bytes| job.offset_increment_bytes = bytes),
    ),
    option(
        "compress",
        Some("buffer_compress_percentage"),
        Unit::Percent,
        "how much of what is written is the same everywhere",
        |job, text| {
            percent(text).map(|percent| {
                job.content.get_or_insert_default().compress_percent = percent;
            })
        },
    ),
    option(
        "compress-chunk",
        Some("buffer_compress_chunk"),
        Unit::Size,
        "of how many bytes at a time",
        |job, text| {
            values::small_bytes(text).map(|bytes| {
                job.content.get_or_insert_default().chunk_bytes = bytes;
            })
        },
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
    option(
        "dedupe",
        Some("dedupe_percentage"),
        Unit::Percent,
        "how many writes repeat data of another",
        |job, text| {
            percent(text).map(|percent| {
                job.content.get_or_insert_default().dedupe_percent = percent;
            })
        },
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
    option(
        "dedupe-global",
        Some("dedupe_global"),
        Unit::Switch,
        "threads repeat data of each other, too",
        |job, text| {
            units::parse_switch(text).map(|on| {
                job.content.get_or_insert_default().shared_set = on;
            })
        },
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
    option(
        "zero-copy",
        None,
        Unit::Switch,
        "tcp_stream: the kernel sends from load's memory (MSG_ZEROCOPY)",
        |job, text| units::parse_switch(text).map(|on| job.zero_copy = on),
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
