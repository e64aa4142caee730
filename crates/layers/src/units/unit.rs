//! The units of values, and how they are called.

use std::fmt;

/// What a value is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Size,
    /// Nanoseconds.
    Duration,
    /// Bytes per second.
    Bandwidth,
    /// Bits per second.
    BitRate,
    /// I/Os per second.
    Iops,
    /// A whole number.
    Count,
    /// A fraction of 1.
    Share,
    /// A whole number from 0 to 100.
    Percent,
    /// Yes or no.
    Switch,
    Path,
    Name,
    /// One word of a fixed few.
    Choice(&'static [&'static str]),
    /// A block size, a range `4k-1M`, or a split `4k/60:64k/40`.
    BlockSizes,
    /// `closed`, `50`, `even:50` or `poisson:50`.
    Pace,
    /// Operations on files with weights, `stat:80,open:8`.
    Operations,
    /// `random`, `zipf:1.2`, `strided:64k` and so on.
    Pattern,
    /// `1ms`, or `1ms/8`.
    Think,
    /// `0-3,5`, or `any`.
    Cpus,
    /// `256M/256M/2G`.
    Stretches,
    /// `8`, `8@1`, `8@1/1ms`.
    Flow,
    /// `500us/5s/99.9`, and `/run`.
    LatencyTarget,
    /// `be:4`, and `rt:0=20%` for some.
    Priority,
    /// `0-1`, or `0/bind:0`.
    Numa,
}

impl Unit {
    /// How the value looks, for listings: `SIZE`, `DURATION`, `512|4096`.
    pub fn placeholder(self) -> String {
        match self {
            Self::Size => "SIZE".into(),
            Self::Duration => "DURATION".into(),
            Self::Bandwidth => "SIZE/s".into(),
            Self::BitRate => "BITS/s".into(),
            Self::Iops => "IOPS".into(),
            Self::Count => "NUMBER".into(),
            Self::Share => "SHARE".into(),
            Self::Percent => "0-100".into(),
            Self::Switch => "true|false".into(),
            Self::Path => "PATH".into(),
            Self::Name => "NAME".into(),
            Self::Choice(words) => words.join("|"),
            Self::BlockSizes => "SIZE|MIN-MAX|SPLIT".into(),
            Self::Pace => "closed|IOPS|poisson:IOPS".into(),
            Self::Operations => "NAME:WEIGHT,...".into(),
            Self::Pattern => "random|shuffled|sequential|zipf:1.2|...".into(),
            Self::Think => "DURATION/IOS".into(),
            Self::Cpus => "0-3,5".into(),
            Self::Stretches => "BYTES/LENGTH/GAP".into(),
            Self::Flow => "WEIGHT@GROUP/SLEEP".into(),
            Self::LatencyTarget => "LATENCY/WINDOW/PERCENTILE".into(),
            Self::Priority => "CLASS:LEVEL,CLASS:LEVEL=PERCENT%...".into(),
            Self::Numa => "NODES/bind:NODES".into(),
        }
    }

    /// For "is not ...".
    pub(crate) fn with_article(self) -> &'static str {
        match self {
            Self::Size => "a size",
            Self::Duration => "a duration",
            Self::Bandwidth => "a bandwidth",
            Self::BitRate => "a bit rate",
            Self::Iops => "an I/O rate",
            Self::Count => "a whole number",
            Self::Share => "a share",
            Self::Percent => "a percentage",
            Self::Switch => "a switch",
            Self::Path => "a path",
            Self::Name => "a name",
            Self::Choice(_) => "offered here",
            Self::BlockSizes => "a block size",
            Self::Pace => "a rate",
            Self::Operations => "an operation with its weight",
            Self::Pattern => "a pattern",
            Self::Think => "a pause",
            Self::Cpus => "a list of CPUs",
            Self::Stretches => "a length of stretches with their gap",
            Self::Flow => "a weight",
            Self::LatencyTarget => "a target of latency",
            Self::Priority => "a priority",
            Self::Numa => "a choice of NUMA nodes",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.placeholder())
    }
}
