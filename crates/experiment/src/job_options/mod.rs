//! The options of a job, an index and a workload, each declared once: name, unit, description,
//! effect.
//!
//! Overrides (`--set`), experiment files, their JSON Schema and error messages use these tables. A
//! new option needs an entry here and a field in [`crate::workload`].

mod patterns;
mod shares;
mod values;

use iotax_layers::Error;
use iotax_layers::units::{self, Unit};

use crate::engine::Engine;
use crate::workload::{Bound, Files, IndexLoads, Job, Pattern, Trims};
use crate::writes::Content;
use Sets::{By, Bytes, Count, CountOrNone, Duration, Iops, Percent, SmallBytes, Switch};
use patterns::{cpus, pattern, think};
pub(crate) use patterns::{format_cpus, format_pattern};
pub(crate) use shares::{
    format_flow, format_latency_target, format_numa, format_priorities, format_stretches,
};
use values::{block_sizes, operations, pace, percent, small, small_bytes, tree_of};
pub(crate) use values::{format_block_sizes, format_operations};

/// An option of a `T`.
pub(crate) struct JobOption<T> {
    /// Its name in files; the command line also accepts `_` for `-`.
    pub name: &'static str,
    pub unit: Unit,
    pub about: &'static str,
    sets: Sets<T>,
}

/// What an option sets.
enum Sets<T> {
    Switch(fn(&mut T) -> &mut bool),
    Count(fn(&mut T) -> &mut u32),
    /// 0 means none.
    CountOrNone(fn(&mut T) -> &mut Option<u32>),
    Percent(fn(&mut T) -> &mut u8),
    Bytes(fn(&mut T) -> &mut u64),
    /// Less than 4 GiB.
    SmallBytes(fn(&mut T) -> &mut u32),
    Duration(fn(&mut T) -> &mut u64),
    Iops(fn(&mut T) -> &mut f64),
    /// Parsed by a function.
    By(fn(&mut T, &str) -> Result<(), Error>),
}

/// An option for a single value.
const fn value<T>(name: &'static str, about: &'static str, sets: Sets<T>) -> JobOption<T> {
    let unit = match sets {
        Switch(_) => Unit::Switch,
        Count(_) | CountOrNone(_) => Unit::Count,
        Percent(_) => Unit::Percent,
        Bytes(_) | SmallBytes(_) => Unit::Size,
        Duration(_) => Unit::Duration,
        Iops(_) => Unit::Iops,
        By(_) => Unit::Name,
    };
    JobOption { name, unit, about, sets }
}

/// An option parsed by `set`.
const fn option<T>(
    name: &'static str,
    unit: Unit,
    about: &'static str,
    set: fn(&mut T, &str) -> Result<(), Error>,
) -> JobOption<T> {
    JobOption { name, unit, about, sets: By(set) }
}

impl<T> JobOption<T> {
    pub(crate) fn set(&self, of: &mut T, text: &str) -> Result<(), Error> {
        match &self.sets {
            Switch(at) => units::parse_switch(text).map(|on| *at(of) = on),
            Count(at) => small(text).map(|count| *at(of) = count),
            CountOrNone(at) => small(text).map(|count| *at(of) = (count > 0).then_some(count)),
            Percent(at) => percent(text).map(|percent| *at(of) = percent),
            Bytes(at) => units::parse_bytes(text).map(|bytes| *at(of) = bytes),
            SmallBytes(at) => small_bytes(text).map(|bytes| *at(of) = bytes),
            Duration(at) => units::parse_duration(text).map(|ns| *at(of) = ns),
            Iops(at) => units::parse_iops(text).map(|iops| *at(of) = iops),
            By(set) => set(of, text),
        }
    }
}

/// Finds an option by its name, by its fio name, or with `_` for `-`.
pub(crate) fn find<T>(
    options: &'static [JobOption<T>],
    name: &str,
) -> Option<&'static JobOption<T>> {
    let dashed = name.replace('_', "-");
    let of_fio = FIO_NAMES.iter().find(|(_, fio)| *fio == name).map(|(own, _)| *own);
    options.iter().find(|option| option.name == dashed || Some(option.name) == of_fio)
}

/// fio's `rw` words without `rand`, with their percentage of reads and their trims.
const DIRECTIONS: [(&str, u8, Option<Trims>); 5] = [
    ("read", 100, None),
    ("write", 0, None),
    ("rw", 50, None),
    ("trim", 0, Some(Trims::Only)),
    ("trimwrite", 0, Some(Trims::First)),
];
const DIRECTION_NAMES: &[&str] = &[
    "read", "write", "rw", "trim", "trimwrite", "randread", "randwrite", "randrw", "randtrim",
    "randtrimwrite",
];

const TRIM_NAMES: &[&str] = &["none", Trims::Only.name(), Trims::First.name()];

/// fio's names of job options, which the command line accepts.
const FIO_NAMES: [(&str, &str); 26] = [
    ("engine", "ioengine"),
    ("threads", "numjobs"),
    ("depth", "iodepth"),
    ("rw", "readwrite"),
    ("read-percent", "rwmixread"),
    ("block-size", "bs"),
    ("start-delay", "startdelay"),
    ("fsync-every", "fdatasync"),
    ("verify-every", "verify_backlog"),
    ("verify-ends", "verify_fatal"),
    ("sqpoll", "sqthread_poll"),
    ("advise", "fadvise_hint"),
    ("align", "blockalign"),
    ("write-through", "sync"),
    ("think", "thinktime"),
    ("cpus", "cpus_allowed"),
    ("files-per-thread", "nrfiles"),
    ("ends-all", "exitall"),
    ("submit-batch", "iodepth_batch"),
    ("offset-increment", "offset_increment"),
    ("compress", "buffer_compress_percentage"),
    ("compress-chunk", "buffer_compress_chunk"),
    ("fill-pattern", "buffer_pattern"),
    ("dedupe", "dedupe_percentage"),
    ("dedupe-set", "dedupe_working_set_percentage"),
    ("dedupe-global", "dedupe_global"),
];

/// The options of a job, apart from its name.
#[rustfmt::skip]
pub(crate) static JOB_OPTIONS: [JobOption<Job>; 55] = [
    option("engine", Unit::Choice(Engine::NAMES), "how I/O is issued on path targets", engine),
    option("threads", Unit::Count, "number of identical threads",
        |job, text| small(text).map(|threads| (job.threads, job.least_threads) = (threads, None))),
    value("depth", "I/Os in flight per thread", Count(|job| &mut job.queue_depth)),
    option("rw", Unit::Choice(DIRECTION_NAMES), "pattern and direction in one word, as in fio",
        direction),
    value("read-percent", "percentage of reads", Percent(|job| &mut job.read_percent)),
    option("trim", Unit::Choice(TRIM_NAMES),
        "discard space instead of writing (only), or before each write (first)", trim),
    option("pattern", Unit::Pattern, "order of offsets",
        |job, text| pattern(text).map(|pattern| job.pattern = pattern)),
    option("block-size", Unit::BlockSizes, "size of each I/O",
        |job, text| block_sizes(text).map(|sizes| job.block_sizes = sizes)),
    option("write-block-size", Unit::BlockSizes,
        "size of each write, if it differs from the size of reads",
        |job, text| block_sizes(text).map(|sizes| job.write_block_sizes = Some(sizes))),
    option("write-pattern", Unit::Pattern,
        "order of writes, if it differs from the order of reads",
        |job, text| pattern(text).map(|pattern| job.write_pattern = Some(pattern))),
    value("size", "size of each thread's span", Bytes(|job| &mut job.size_bytes)),
    option("target", Unit::Name, "name of the job's target, if a trial has several targets",
        target),
    option("file", Unit::Name, "per-thread, or the name of a file for all threads", |job, text| {
        let own = text == "per-thread";
        job.files = if own { Files::PerThread } else { Files::Shared(text.to_owned()) };
        Ok(())
    }),
    option("rate", Unit::Pace, "offered I/Os per second, or closed (no fixed rate)",
        |job, text| pace(text).map(|pace| job.pace = pace)),
    option("io-size", Unit::Size, "end after this many bytes per thread; 0: no limit", io_size),
    value("start-delay", "time to wait before the first I/O",
        Duration(|job| &mut job.start_delay_ns)),
    option("end-after", Unit::Duration,
        "time from the start of the trial until the job ends; 0: the job ends with the trial",
        end_after),
    value("direct", "bypass the page cache", Switch(|job| &mut job.direct)),
    value("invalidate", "start every trial with a cold cache", Switch(|job| &mut job.invalidate)),
    value("fsync-every", "sync after this many writes; 0: never",
        CountOrNone(|job| &mut job.fsync_every)),
    value("end-fsync", "sync when the job ends", Switch(|job| &mut job.end_fsync)),
    value("verify", "read back and compare the written data", Switch(|job| &mut job.verify)),
    value("verify-every", "verify during the run, after this many writes; 0: only at the end",
        CountOrNone(|job| &mut job.verify_every)),
    value("verify-apart",
        "this read job verifies what a write job wrote; set this option for both jobs",
        Switch(|job| &mut job.verify_apart)),
    value("verify-ends", "end the job at the first mismatch",
        Switch(|job| &mut job.verify_ends)),
    value("sqpoll", "io_uring: the kernel polls the submission queue",
        Switch(|job| &mut job.sqpoll)),
    value("advise", "advise the kernel of the access pattern", Switch(|job| &mut job.advise)),
    value("files", "metadata: files per thread", Count(|job| &mut tree_of(job).files)),
    value("files-per-directory", "metadata: files per directory",
        Count(|job| &mut tree_of(job).files_per_directory)),
    value("file-size", "metadata: size of each file",
        SmallBytes(|job| &mut tree_of(job).file_bytes)),
    option("operations", Unit::Operations, "metadata: operations and their weights", operations),
    option("align", Unit::Size, "offsets are multiples of this; default: the smallest block size",
        |job, text| units::parse_bytes(text).map(|bytes| job.align_bytes = Some(bytes))),
    value("offset", "start of the span", Bytes(|job| &mut job.offset_bytes)),
    value("write-through", "a write completes only once it is on the medium (O_SYNC)",
        Switch(|job| &mut job.write_through)),
    option("think", Unit::Think,
        "pause length, and number of I/Os before each pause; 0: no pauses",
        |job, text| think(text).map(|think| job.think = think)),
    option("cpus", Unit::Cpus, "CPUs that the job's threads can run on",
        |job, text| cpus(text).map(|cpus| job.cpus = cpus)),
    value("files-per-thread",
        "number of files that each thread uses in turn; `size` is their total size",
        Count(|job| &mut job.files_per_thread)),
    value("pre-read", "start every trial with a warm cache", Switch(|job| &mut job.pre_read)),
    value("ends-all", "when this job ends, all other jobs end too",
        Switch(|job| &mut job.ends_all)),
    option("submit-batch", Unit::Count, "io_uring: maximum I/Os per system call",
        |job, text| small(text).map(|most| job.submit_batch = Some(most))),
    value("uncached", "drop the accessed pages from the page cache after each I/O",
        Switch(|job| &mut job.uncached)),
    value("fresh", "write to files newly allocated before each trial, as a log does",
        Switch(|job| &mut job.fresh)),
    option("stretches", Unit::Stretches,
        "limit I/O to stretches separated by gaps: bytes per stretch, stretch length, gap",
        |job, text| shares::stretches(text).map(|stretches| job.stretches = stretches)),
    value("offset-increment", "distance between the starts of consecutive threads' spans",
        Bytes(|job| &mut job.offset_increment_bytes)),
    value("compress", "percentage of the written data that is filled with the same pattern",
        Percent(|job| &mut content(job).compress_percent)),
    value("compress-chunk", "size of the chunks that `compress` applies to",
        SmallBytes(|job| &mut content(job).chunk_bytes)),
    option("fill-pattern", Unit::Name,
        "the pattern for `compress`, in hexadecimal, such as 0xdeadbeef; 0: zeroes",
        |job, text| shares::bytes(text).map(|bytes| content(job).pattern = bytes)),
    value("dedupe", "percentage of writes that repeat the data of another write",
        Percent(|job| &mut content(job).dedupe_percent)),
    option("dedupe-set", Unit::Percent,
        "amount of data to repeat, as a percentage of the span; 0: repeats match the next unique \
         write",
        dedupe_set),
    value("dedupe-global", "threads also repeat each other's data",
        Switch(|job| &mut content(job).shared_set)),
    option("flow", Unit::Flow,
        "weight (relative to other weighted jobs), group, and sleep time of threads that are \
         ahead; 0: no weight",
        |job, text| shares::flow(text).map(|flow| job.flow = flow)),
    option("latency-target", Unit::LatencyTarget,
        "find the queue depth at which a given percentage of I/Os meets a latency target; 0: off",
        |job, text| shares::latency_target(text).map(|target| job.latency_target = target)),
    option("priority", Unit::Priority,
        "I/O priority, optionally with different priorities for some I/Os",
        priorities),
    option("numa", Unit::Numa, "NUMA nodes for the job's threads, and memory placement",
        |job, text| shares::numa(text).map(|numa| job.numa = numa)),
    value("zero-copy", "tcp_stream: send without copying the data (MSG_ZEROCOPY)",
        Switch(|job| &mut job.zero_copy)),
];

/// The options of the index, written `index.size` in overrides.
#[rustfmt::skip]
pub(crate) static INDEX_OPTIONS: [JobOption<IndexLoads>; 5] = [
    value("versions", "maximum number of versions published per second",
        Iops(|index| &mut index.versions_per_second)),
    value("size", "size of one version", Bytes(|index| &mut index.index_bytes)),
    value("slow-load", "load time above which an index load counts as slow",
        Duration(|index| &mut index.slow_load_ns)),
    value("queries", "queries per second", Iops(|index| &mut index.queries_per_second)),
    value("query-size", "bytes read per query", SmallBytes(|index| &mut index.query_bytes)),
];

fn target(job: &mut Job, text: &str) -> Result<(), Error> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if text.is_empty() || !text.chars().all(is_plain) {
        let advice = "use letters, digits, `.`, `_` and `-`, as in target = \"e\"";
        return Err(Error::syntax(format!("`{text}` is not a valid target name"), advice));
    }
    job.target = Some(text.to_owned());
    Ok(())
}

fn trim(job: &mut Job, text: &str) -> Result<(), Error> {
    job.trims = [None, Some(Trims::Only), Some(Trims::First)][choose(TRIM_NAMES, text)?];
    Ok(())
}

fn io_size(job: &mut Job, text: &str) -> Result<(), Error> {
    let bytes = units::parse_bytes(text)?;
    job.bound = if bytes == 0 { Bound::Time } else { Bound::Bytes(bytes) };
    Ok(())
}

fn end_after(job: &mut Job, text: &str) -> Result<(), Error> {
    let ns = units::parse_duration(text)?;
    job.end_after_ns = (ns > 0).then_some(ns);
    Ok(())
}

fn dedupe_set(job: &mut Job, text: &str) -> Result<(), Error> {
    let percent = percent(text)?;
    content(job).working_set_percent = (percent > 0).then_some(percent);
    Ok(())
}

fn priorities(job: &mut Job, text: &str) -> Result<(), Error> {
    (job.priority, job.priorities) = shares::priorities(text)?;
    Ok(())
}

/// The data of the job; random by default.
fn content(job: &mut Job) -> &mut Content {
    job.content.get_or_insert_default()
}

/// The index of a word in a list.
fn choose(words: &'static [&'static str], text: &str) -> Result<usize, Error> {
    words
        .iter()
        .position(|word| *word == text)
        .ok_or_else(|| Unit::Choice(words).refuse(text, format!("use {}", words.join(", ")), ""))
}

fn engine(job: &mut Job, text: &str) -> Result<(), Error> {
    let word = text.replace('-', "_");
    if Engine::ALL.iter().any(|engine| engine.replays() && engine.name() == word) {
        let advice = "name the recording as the workload, without an engine: iotax run app.iotx \
                      DIR, or workload.recording = \"app.iotx\" in an experiment file";
        return Err(Error::syntax(format!("`{text}` needs a recording"), advice));
    }
    job.engine = Engine::CHOICES[choose(Engine::NAMES, &word)?];
    job.engine_asked = true;
    if job.engine.has_tree() {
        tree_of(job);
    } else {
        job.tree = None;
    }
    // A batch size from another tool's command does not apply to other engines.
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
