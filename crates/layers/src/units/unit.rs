//! The units of values, and their names.

use std::fmt;

/// The unit of a value.
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
    /// One of these words.
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
            Self::Choice(words) => words.join("|"),
            _ => self.words().0.to_owned(),
        }
    }

    /// Follows "is not" in errors.
    pub(crate) fn with_article(self) -> &'static str {
        self.words().1
    }

    /// How the value looks, and its name with an article.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Size => ("SIZE", "a size"),
            Self::Duration => ("DURATION", "a duration"),
            Self::Bandwidth => ("SIZE/s", "a bandwidth"),
            Self::BitRate => ("BITS/s", "a bit rate"),
            Self::Iops => ("IOPS", "an I/O rate"),
            Self::Count => ("NUMBER", "a whole number"),
            Self::Share => ("SHARE", "a share"),
            Self::Percent => ("0-100", "a percentage"),
            Self::Switch => ("true|false", "a boolean"),
            Self::Path => ("PATH", "a path"),
            Self::Name => ("NAME", "a name"),
            Self::Choice(_) => ("", "a valid choice"),
            Self::BlockSizes => ("SIZE|MIN-MAX|SPLIT", "a block size"),
            Self::Pace => ("closed|IOPS|poisson:IOPS", "a rate"),
            Self::Operations => ("NAME:WEIGHT,...", "an operation with a weight"),
            Self::Pattern => ("random|shuffled|sequential|zipf:1.2|...", "a pattern"),
            Self::Think => ("DURATION/IOS", "a pause"),
            Self::Cpus => ("0-3,5", "a list of CPUs"),
            Self::Stretches => ("BYTES/LENGTH/GAP", "a stretch length with a gap"),
            Self::Flow => ("WEIGHT@GROUP/SLEEP", "a weight"),
            Self::LatencyTarget => ("LATENCY/WINDOW/PERCENTILE", "a latency target"),
            Self::Priority => ("CLASS:LEVEL,CLASS:LEVEL=PERCENT%...", "a priority"),
            Self::Numa => ("NODES/bind:NODES", "a set of NUMA nodes"),
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.placeholder())
    }
}
