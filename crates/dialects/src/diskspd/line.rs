//! One command line as written: which flags were given, and where.

use std::ops::Range;

use iotax_experiment::Zone;

use crate::shell::{Start, Word};

/// A value and the bytes of its flag in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given<T> {
    pub value: T,
    pub span: Range<usize>,
}

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
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    pub block_bytes: Option<u32>,
    pub base_bytes: Option<Given<u64>>,
    pub length_bytes: Option<Given<u64>>,
    pub end_bytes: Option<Given<u64>>,
    pub create_bytes: Option<Given<u64>>,
    pub hints: Option<Given<Hints>>,
    pub seconds: Option<Given<u32>>,
    pub warm_up_seconds: Option<u32>,
    pub threads_per_target: Option<Given<u32>>,
    pub threads: Option<Given<u32>>,
    pub outstanding: Option<Given<u32>>,
    pub outstanding_per_thread: Option<Given<u32>>,
    /// Alignment, where one is written.
    pub random: Option<Given<Option<u64>>>,
    pub random_percent: Option<Given<u8>>,
    /// `-rd`: shares of the random I/Os for parts of the target.
    pub zones: Option<Given<Vec<Zone>>>,
    /// Stride, where one is written.
    pub sequential: Option<Given<Option<u64>>>,
    pub interlocked: Option<Given<()>>,
    pub thread_stride_bytes: Option<Given<u64>>,
    pub parallel: Option<Given<()>>,
    pub write_percent: Option<u8>,
    pub caching: Option<Given<Caching>>,
    pub throttle: Option<Given<Throttle>>,
    pub burst_ios: Option<Given<u32>>,
    pub think_ms: Option<Given<u32>>,
    pub write_source_bytes: Option<Given<u64>>,
    pub completion_routines: Option<Given<()>>,
    pub no_affinity: Option<Given<()>>,
    pub cpus: Vec<u32>,
    pub affinity: Option<Given<()>>,
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
        match (&self.random_percent, &self.random) {
            (Some(percent), _) => percent.value,
            (None, Some(_)) => 100,
            (None, None) => 0,
        }
    }

    /// Threads that work on each target.
    pub(super) fn threads_on_target(&self) -> u32 {
        self.threads.as_ref().or(self.threads_per_target.as_ref()).map_or(1, |given| given.value)
    }

    pub(super) fn caching(&self) -> Caching {
        self.caching.as_ref().map(|given| given.value).unwrap_or_default()
    }

    /// Tells, once, why a flag changes nothing.
    pub(super) fn note(&mut self, flag: &str, why: &str) {
        let note = format!("{flag}: {why}");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
