//! One command line as written: which flags were given, and where.

use std::ops::Range;

use iotax_experiment::Zone;

use crate::shell::{Start, Word};

/// `-f<size>`, for [`Line::span`].
pub(super) const END: &str = "-f<size>";
/// `-f<rst>`.
pub(super) const HINTS: &str = "-f<rst>";
/// `-S...`, or `-h`.
pub(super) const CACHES: &str = "-S";

/// What `-g` limits each thread to, per target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Throttle {
    BytesPerMillisecond(u32),
    Iops(u32),
}

/// `-S...`: what was asked of caches.
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

/// See the module. Where `DiskSpd` has a default, `None` stands for it.
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
    /// `-rd`: shares of the random I/Os for parts of the target.
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
    /// All of it, targets last.
    pub words: Vec<Word>,
    pub targets: Vec<Word>,
    pub notes: Vec<String>,
    /// Flags were typed as `/b4K`.
    pub slashes: bool,
    pub start: Start,
}

impl Line {
    /// `DiskSpd`'s default is 64 KiB.
    pub(super) fn block_bytes(&self) -> u32 {
        self.block_bytes.unwrap_or(64 << 10)
    }

    /// Percentage of random I/Os.
    pub(super) fn random_percent(&self) -> u8 {
        self.random_percent.unwrap_or(if self.is_random { 100 } else { 0 })
    }

    /// Threads that work on each target.
    pub(super) fn threads_on_target(&self) -> u32 {
        self.threads.or(self.threads_per_target).unwrap_or(1)
    }

    pub(super) fn caching(&self) -> Caching {
        self.caching.unwrap_or_default()
    }

    /// The bytes of a flag in the text: of the last that begins so, which counts.
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

    /// Tells, once, why a flag changes nothing.
    pub(super) fn note(&mut self, flag: &str, why: &str) {
        let note = format!("{flag}: {why}");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
