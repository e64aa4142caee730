//! One command line as written: its flags and their positions.

use std::ops::Range;

use iotax_experiment::{Error, Zone};

use super::flags::Placed;
use crate::shell::{Start, Word};

/// `-f<size>`, for [`Line::span`].
pub(super) const END: &str = "-f<size>";
/// `-f<rst>`.
const HINTS: &str = "-f<rst>";
/// `-S...`, or `-h`.
const CACHES: &str = "-S";

/// Limit that `-g` sets for each thread and target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Throttle {
    BytesPerMillisecond(u32),
    Iops(u32),
}

/// `-S...`: the caching that was requested.
#[expect(clippy::struct_excessive_bools, reason = "independent switches, as in DiskSpd")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Caching {
    pub cached: bool,
    pub unbuffered: bool,
    pub remote_only: bool,
    pub write_through: bool,
    pub mapped: bool,
}

/// `-f<rst>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Hints {
    pub random: bool,
    pub sequential: bool,
}

/// See the module. `None` means the default of `DiskSpd`.
#[expect(clippy::struct_excessive_bools, reason = "flags that stand alone")]
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    pub block_bytes: Option<u32>,
    pub base_bytes: Option<u64>,
    pub length_bytes: Option<u64>,
    pub end_bytes: Option<u64>,
    pub create_bytes: Option<u64>,
    pub hints: Option<Hints>,
    pub seconds: Option<u32>,
    pub warm_up_seconds: Option<u32>,
    pub threads_per_target: Option<u32>,
    pub threads: Option<u32>,
    pub outstanding: Option<u32>,
    pub outstanding_per_thread: Option<u32>,
    /// `-r`.
    pub is_random: bool,
    pub align_bytes: Option<u64>,
    pub random_percent: Option<u8>,
    /// `-rd`: shares of the random I/Os by part of the target.
    pub zones: Option<Vec<Zone>>,
    pub stride_bytes: Option<u64>,
    pub interlocked: bool,
    pub thread_stride_bytes: Option<u64>,
    pub parallel: bool,
    pub write_percent: Option<u8>,
    pub caching: Option<Caching>,
    pub throttle: Option<Throttle>,
    pub burst_ios: Option<u32>,
    pub think_ms: Option<u32>,
    pub write_source_bytes: Option<u64>,
    pub completion_routines: bool,
    pub no_affinity: bool,
    pub cpus: Vec<u32>,
    pub affinity: bool,
    /// All words, targets last.
    pub words: Vec<Word>,
    pub targets: Vec<Word>,
    pub notes: Vec<String>,
    /// Whether flags were typed as `/b4K`.
    pub slashes: bool,
    pub start: Start,
}

impl Line {
    /// The default of `DiskSpd` is 64 KiB.
    pub(super) fn block_bytes(&self) -> u32 {
        self.block_bytes.unwrap_or(64 << 10)
    }

    /// Percentage of random I/Os.
    pub(super) fn random_percent(&self) -> u8 {
        self.random_percent.unwrap_or(if self.is_random { 100 } else { 0 })
    }

    /// Number of threads that work on each target.
    pub(super) fn threads_on_target(&self) -> u32 {
        self.threads.or(self.threads_per_target).unwrap_or(1)
    }

    pub(super) fn caching(&self) -> Caching {
        self.caching.unwrap_or_default()
    }

    /// The bytes of a flag in the text. If it is repeated, those of the last one, which is the one
    /// that counts.
    pub(super) fn span(&self, flag: &str) -> Range<usize> {
        let is_size = |text: &str| text[2..].starts_with(|c: char| c.is_ascii_digit());
        let is_it = |text: &str| match flag {
            END => text.starts_with("-f") && is_size(text),
            HINTS => text.starts_with("-f") && !is_size(text),
            CACHES => text.starts_with("-S") || text.starts_with("-h"),
            flag => text.starts_with(flag),
        };
        let word = self.words.iter().rev().find(|word| is_it(&word.text));
        word.map_or(0..0, |word| word.span.clone())
    }

    /// Notes, once, why a flag has no effect.
    pub(super) fn note(&mut self, flag: &str, why: &str) {
        let note = format!("{flag}: {why}");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

// Flags that contradict each other: those that `Profile::Validate` of `DiskSpd` refuses, and those
// that iotax does not support.

/// Offsets and sizes of direct I/O are multiples of this.
const SECTOR_BYTES: u64 = 512;

/// Refuses contradictions; the error points at the flag to remove.
pub(super) fn refuse(line: &Line) -> Placed<()> {
    threads_and_queues(line)?;
    ranges(line)?;
    let order = if line.random_percent() > 0 { random } else { sequential };
    order(line)?;
    range(line)?;
    caches_and_rates(line)?;
    not_offered(line)
}

/// An error at this flag if `clashes`.
fn refuse_if(clashes: bool, line: &Line, flag: &str, problem: &str, advice: &str) -> Placed<()> {
    if !clashes {
        return Ok(());
    }
    Err((line.span(flag), Box::new(Error::syntax(problem, advice))))
}

fn threads_and_queues(line: &Line) -> Placed<()> {
    let both = line.threads.is_some() && line.threads_per_target.is_some();
    let advice = "keep -t for threads per target, or -F for the total number of threads";
    refuse_if(both, line, "-t", "-t and -F are mutually exclusive", advice)?;
    if line.outstanding_per_thread.is_none() {
        return Ok(());
    }
    let advice = "use -o for I/Os per thread and target, or add -F";
    refuse_if(line.threads.is_none(), line, "-O", "-O requires -F", advice)?;
    let advice = "keep -o for I/Os per target, or -O for I/Os per thread";
    refuse_if(line.outstanding.is_some(), line, "-O", "-o and -O are mutually exclusive", advice)?;
    let advice = "use -o instead of -O";
    refuse_if(line.throttle.is_some(), line, "-g", "-g and -O are mutually exclusive", advice)?;
    refuse_if(line.think_ms.is_some(), line, "-j", "-j and -O are mutually exclusive", advice)?;
    refuse_if(line.parallel, line, "-p", "-p and -O are mutually exclusive", advice)?;
    let problem = "-O: one queue for several targets is not supported";
    refuse_if(line.targets.len() > 1, line, "-O", problem, "use -o for a queue per target")
}

/// `-rd` requires random I/Os.
fn ranges(line: &Line) -> Placed<()> {
    let (problem, advice) = match line.random_percent() {
        0 => ("-rd has no effect with sequential offsets", "add -r"),
        100 => return Ok(()),
        _ => (
            "-rd with -rs: ranges mixed with sequential offsets are not supported",
            "use -r instead of -rs, or leave out -rd",
        ),
    };
    refuse_if(line.zones.is_some(), line, "-rd", problem, advice)
}

fn random(line: &Line) -> Placed<()> {
    let advice = "leave out one of them";
    let stride = line.thread_stride_bytes.is_some();
    refuse_if(stride, line, "-T", "-T has no effect with random offsets", advice)?;
    refuse_if(line.interlocked, line, "-si", "-si has no effect with random offsets", advice)?;
    refuse_if(line.parallel, line, "-p", "-p has no effect with random offsets", advice)
}

fn sequential(line: &Line) -> Placed<()> {
    if line.interlocked {
        let refuse_if = |clashes, problem, advice| refuse_if(clashes, line, "-si", problem, advice);
        let advice = "keep -si for an offset that all threads share, or -T for one offset per \
                      thread";
        let stride = line.thread_stride_bytes.is_some();
        refuse_if(stride, "-si and -T are mutually exclusive", advice)?;
        refuse_if(line.parallel, "-si and -p are mutually exclusive", "keep one of them")?;
        let percent = line.random_percent.is_some();
        refuse_if(percent, "-si and -rs are mutually exclusive", "keep one of them")?;
    }
    let Some(stride) = line.thread_stride_bytes else { return Ok(()) };
    let problem = "-T has no effect unless several threads use a target";
    let is_alone = line.threads_on_target() <= 1;
    refuse_if(is_alone, line, "-T", problem, "leave out -T, or add -t")?;
    let is_direct = line.caching().unbuffered || line.caching().remote_only;
    let is_split = is_direct && !stride.is_multiple_of(SECTOR_BYTES);
    let problem = "-T: threads that bypass the cache must start at multiples of 512 bytes";
    refuse_if(is_split, line, "-T", problem, "specify a multiple of 512, as in -T4K")
}

fn range(line: &Line) -> Placed<()> {
    let Some(end) = line.end_bytes else { return Ok(()) };
    let problem = "-f and a length in -B both set the end of the range";
    refuse_if(line.length_bytes.is_some(), line, "-B", problem, "keep one of them")?;
    let is_before = end <= line.base_bytes.unwrap_or(0);
    refuse_if(
        is_before,
        line,
        END,
        "the end set by -f is before the start set by -B",
        "use a larger -f",
    )
}

fn caches_and_rates(line: &Line) -> Placed<()> {
    let (caching, routines) = (line.caching(), line.completion_routines);
    let bypasses = caching.mapped && (caching.unbuffered || caching.remote_only);
    let problem = "a mapping (-Sm) uses the page cache and cannot bypass it";
    refuse_if(bypasses, line, CACHES, problem, "keep only -Sm, or only -Su or -Sh")?;
    let both = caching.mapped && routines;
    refuse_if(both, line, "-x", "-x and -Sm are mutually exclusive", "keep one of them")?;
    let both = routines && line.throttle.is_some();
    refuse_if(both, line, "-g", "-g and -x are mutually exclusive", "leave out -x")?;
    let (burst, think) = (line.burst_ios.is_some(), line.think_ms.is_some());
    let advice = "add -j, the pause in ms";
    refuse_if(burst && !think, line, "-i", "-i without -j never pauses", advice)?;
    let advice = "add -i, the I/Os per burst";
    refuse_if(think && !burst, line, "-j", "-j without -i never pauses", advice)?;
    let both = line.affinity && line.no_affinity;
    refuse_if(both, line, "-n", "-n and -a are mutually exclusive", "keep one of them")?;
    let block = u64::from(line.block_bytes());
    let is_short = line.write_source_bytes.is_some_and(|bytes| bytes < block);
    let problem = "the write buffer set by -Z is smaller than a block";
    refuse_if(is_short, line, "-Z", problem, "use a larger -Z")
}

/// Flags that are consistent, but that iotax does not support.
fn not_offered(line: &Line) -> Placed<()> {
    let problem = "-p: parallel sequential I/Os at the same offset are not supported";
    refuse_if(line.parallel, line, "-p", problem, "leave it out")?;
    let is_random = line.random_percent() >= 50;
    let is_opposite =
        |Hints { random, sequential }: Hints| random != sequential && random != is_random;
    let problem = "this hint contradicts the order of the offsets";
    let advice = "use a hint that matches the order of the offsets";
    refuse_if(line.hints.is_some_and(is_opposite), line, HINTS, problem, advice)
}
