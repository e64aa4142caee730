//! In which order a job visits the places of its span.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Order of offsets within the span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Uniformly random, aligned to the smallest block size.
    Random,
    /// Random, but every block once before any comes again (fio's default, `norandommap=0`).
    Shuffled,
    /// Some blocks far more often than others.
    Skewed(Skew),
    /// The same, and which block is the most frequent is chosen, as fio chooses it.
    Centred {
        /// How far more often.
        skew: Skew,
        /// Where the first rank is, from 0 at the start of the span to 1 at its end.
        centre: f64,
    },
    /// Random within parts of the span that get shares of their own; every [`Zone`] begins where the
    /// one before it ends.
    Zoned(Vec<Zone>),
    /// Ascending, wrapping at the end of the span.
    Sequential,
    /// Ascending by this many bytes from the start of one I/O to the start of the next.
    Strided(u64),
    /// The same for each thread, which begins further behind the start of the span than the one before
    /// it (`-T` of `DiskSpd`).
    Staggered {
        /// Bytes from the start of one I/O of a thread to the start of the next.
        step_bytes: u64,
        /// Bytes from where a thread begins to where the next one does.
        apart_bytes: u64,
    },
    /// Ascending by this many bytes, in one sequence from which all threads of the job take their
    /// offsets (`-si` of `DiskSpd`).
    Interlocked(u64),
    /// Descending by this many bytes from the start of one I/O to the start of the next, from the
    /// end of the span again when its start is reached (fio: `read:-8k`).
    Backward(u64),
    /// Sequential runs from random places: so many I/Os each.
    Runs(RunLength),
    /// Each I/O random with this probability in percent, else next to the last one.
    Mixed {
        /// Percentage of random offsets.
        random_percent: u8,
    },
}

/// Stretches of the span with gaps between them, one after the other (fio: `zonemode=strided`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretches {
    /// Bytes moved in one before the next.
    pub bytes: u64,
    /// How long each is (fio: `zonerange`).
    pub range_bytes: u64,
    /// From the end of one to the start of the next (fio: `zoneskip`).
    pub skip_bytes: u64,
}

/// How accesses are spread over blocks, as fio draws them: by rank, and the ranks scattered over
/// the span by a hash, so that the frequent blocks do not lie side by side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skew {
    /// Zipf's law with this exponent (fio: `zipf:1.2`).
    Zipf(f64),
    /// Pareto with this power, below 1 (fio: `pareto:0.2`).
    Pareto(f64),
    /// What fio calls normal: around the middle rank, with this deviation in percent of the span.
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

/// A part of the span, and how many of the accesses go there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// Percent of all accesses; 0 for a gap.
    pub accesses_percent: u8,
    pub extent: Extent,
}

/// How long a part of the span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// A share of the span, in percent.
    Percent(u8),
    /// So many bytes, or what is left of the span if that is less.
    Bytes(u64),
    /// All that the zones before it leave.
    Rest,
}

/// How long sequential runs are, in I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunLength {
    /// Always the same (fio: `randread:8`).
    Fixed(u32),
    /// Geometric with this mean, and each run is all reads or all writes (`-rs` of `DiskSpd`).
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

    /// Whether some places come more often than others.
    pub const fn has_hot_places(&self) -> bool {
        matches!(self, Self::Skewed(_) | Self::Centred { .. } | Self::Zoned(_))
    }

    /// How its accesses are spread over blocks by rank, and where the first rank is if that is chosen.
    pub const fn skew(&self) -> Option<(Skew, Option<f64>)> {
        match self {
            Self::Skewed(skew) => Some((*skew, None)),
            Self::Centred { skew, centre } => Some((*skew, Some(*centre))),
            _ => None,
        }
    }

    /// Bytes from the start of one I/O to the start of the next, where these are fixed.
    pub const fn step_bytes(&self) -> Option<u64> {
        match self {
            Self::Strided(step)
            | Self::Staggered { step_bytes: step, .. }
            | Self::Interlocked(step)
            | Self::Backward(step) => Some(*step),
            _ => None,
        }
    }

    /// Whether most offsets do not follow from the one before.
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
