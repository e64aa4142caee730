//! The order of a job's offsets in its span.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Order of offsets within the span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Uniformly random, aligned to the smallest block size.
    Random,
    /// Random, but every block once before any repeats (fio's default, `norandommap=0`).
    Shuffled,
    /// Some blocks far more often than others.
    Skewed(Skew),
    /// The same, with the position of the most frequent block given, as in fio.
    Centred {
        /// Its skew.
        skew: Skew,
        /// Position of the first rank, from 0 at the start of the span to 1 at its end.
        centre: f64,
    },
    /// Random in parts of the span, each with its own share; every [`Zone`] starts where the one
    /// before it ends.
    Zoned(Vec<Zone>),
    /// Ascending, wrapping at the end of the span.
    Sequential,
    /// Ascending by this many bytes from the start of one I/O to the start of the next.
    Strided(u64),
    /// The same for each thread, each starting at a distance from the one before it (`-T` of
    /// `DiskSpd`).
    Staggered {
        /// Bytes from the start of one I/O of a thread to the start of the next.
        step_bytes: u64,
        /// Bytes from the start of one thread to the start of the next.
        apart_bytes: u64,
    },
    /// Ascending by this many bytes, in one sequence that all threads of the job share (`-si` of
    /// `DiskSpd`).
    Interlocked(u64),
    /// Descending by this many bytes from the start of one I/O to the start of the next; continues
    /// at the end of the span after reaching its start (fio: `read:-8k`).
    Backward(u64),
    /// Sequential runs from random offsets, with this length.
    Runs(RunLength),
    /// Each I/O random with this probability in percent, otherwise directly after the last one.
    Mixed {
        /// Percentage of random offsets.
        random_percent: u8,
    },
}

/// Stretches of the span with gaps between them, used one after the other (fio:
/// `zonemode=strided`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretches {
    /// Bytes moved per stretch.
    pub bytes: u64,
    /// Length of a stretch (fio: `zonerange`).
    pub range_bytes: u64,
    /// Gap between stretches (fio: `zoneskip`).
    pub skip_bytes: u64,
}

/// How accesses are distributed over blocks, as in fio: by rank, with ranks scattered over the span
/// by a hash, so that frequent blocks are not adjacent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skew {
    /// Zipf's law with this exponent (fio: `zipf:1.2`).
    Zipf(f64),
    /// Pareto with this power, below 1 (fio: `pareto:0.2`).
    Pareto(f64),
    /// fio's normal distribution: around the middle rank, with this deviation in percent of the
    /// span.
    Normal(f64),
}

/// As fio writes it.
impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zipf(theta) => write!(f, "zipf:{theta}"),
            Self::Pareto(power) => write!(f, "pareto:{power}"),
            Self::Normal(percent) => write!(f, "normal:{percent}"),
        }
    }
}

/// A part of the span, and its share of the accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// Percent of all accesses; 0 for a gap.
    pub accesses_percent: u8,
    pub extent: Extent,
}

/// Size of a part of the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// A share of the span, in percent.
    Percent(u8),
    /// This many bytes, or the rest of the span if it is smaller.
    Bytes(u64),
    /// Everything that the zones before it leave.
    Rest,
}

/// Length of sequential runs, in I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunLength {
    /// Always the same (fio: `randread:8`).
    Fixed(u32),
    /// Geometric with this mean; each run has only reads or only writes (`-rs` of `DiskSpd`).
    Geometric(f64),
}

impl Pattern {
    /// The word used in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Shuffled => "shuffled",
            Self::Skewed(_) | Self::Centred { .. } => "skewed",
            Self::Zoned(_) => "zoned",
            Self::Sequential => "sequential",
            Self::Strided(_) => "strided",
            Self::Staggered { .. } => "staggered",
            Self::Interlocked(_) => "interlocked",
            Self::Backward(_) => "backward",
            Self::Runs(_) => "runs",
            Self::Mixed { .. } => "mixed",
        }
    }

    /// Whether some offsets are more frequent than others.
    pub const fn has_hot_places(&self) -> bool {
        matches!(self, Self::Skewed(_) | Self::Centred { .. } | Self::Zoned(_))
    }

    /// The distribution of its accesses over blocks by rank, and the position of the first rank if
    /// given.
    pub const fn skew(&self) -> Option<(Skew, Option<f64>)> {
        match self {
            Self::Skewed(skew) => Some((*skew, None)),
            Self::Centred { skew, centre } => Some((*skew, Some(*centre))),
            _ => None,
        }
    }

    /// Bytes from the start of one I/O to the start of the next, if constant.
    pub const fn step_bytes(&self) -> Option<u64> {
        match self {
            Self::Strided(step)
            | Self::Staggered { step_bytes: step, .. }
            | Self::Interlocked(step)
            | Self::Backward(step) => Some(*step),
            _ => None,
        }
    }

    /// Whether most offsets are independent of the one before.
    pub const fn is_random(&self) -> bool {
        match self {
            Self::Random
            | Self::Shuffled
            | Self::Skewed(_)
            | Self::Centred { .. }
            | Self::Zoned(_) => true,
            Self::Mixed { random_percent } => *random_percent >= 50,
            Self::Sequential
            | Self::Strided(_)
            | Self::Staggered { .. }
            | Self::Interlocked(_)
            | Self::Backward(_)
            | Self::Runs(_) => false,
        }
    }
}
