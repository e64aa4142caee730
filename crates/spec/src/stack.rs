//! Stacks: layers from bottom to top, `file(size=2G) + aes + aes`.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Layers from bottom (the base, where bytes live) to top (what the load sees).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// Never empty; the first one is a base.
    pub layers: Vec<Layer>,
}

/// One thing in the path that can cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "layer", rename_all = "snake_case")]
pub enum Layer {
    /// Memory.
    Mem {
        /// Size of the disk.
        size_bytes: u64,
    },
    /// A file; without a path an anonymous one in the working directory.
    File {
        /// Where the bytes live.
        path: Option<PathBuf>,
        /// Size of the disk.
        size_bytes: u64,
    },
    /// AES-XTS encryption.
    Aes {
        /// Strength in bits: 256.
        key_bits: u32,
        /// Encryption sector: 512 or 4096.
        sector_bytes: u32,
    },
    /// A hop through a work queue.
    Queue {
        /// Worker threads.
        workers: u32,
    },
    /// Added latency.
    Delay {
        /// Mean.
        latency_ns: u64,
        /// Uniform spread around the mean, plus or minus.
        jitter_ns: u64,
    },
    /// Token buckets.
    Throttle(Throttle),
    /// Read cache, write-through.
    Cache {
        /// Capacity.
        size_bytes: u64,
    },
    /// Deliberate faults.
    Fault(Fault),
}

/// Token-bucket limits; absent means unlimited.
///
/// Each limit with a burst is one bucket: it drains at the burst rate, refills at the sustained
/// rate, and a full one (all start full) holds `(burst - sustained) * credits` tokens. So credits
/// are a *duration*, as providers document theirs ("30 minutes at the maximum burst rate"), and
/// one value serves I/Os and bytes alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Throttle {
    /// Sustained I/Os per second.
    pub iops: Option<f64>,
    /// Sustained bytes per second.
    pub bw_bytes: Option<f64>,
    /// I/Os per second while credits last.
    pub burst_iops: Option<f64>,
    /// Bytes per second while credits last.
    pub burst_bw_bytes: Option<f64>,
    /// How long a full bucket pays for full burst, in nanoseconds. Given exactly when there is a
    /// burst rate.
    pub credits_ns: Option<u64>,
    /// Throttles of one group share one bucket.
    pub group: Option<String>,
}

/// Deliberate faults; probabilities in 0..=1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fault {
    /// Share of I/Os that fail with EIO.
    pub eio: f64,
    /// I/Os that succeed before the first fault of any kind.
    pub after_ios: u64,
    /// Share of reads that return fewer bytes.
    pub short: f64,
    /// Share of I/Os that stall.
    pub stall: f64,
    /// Length of a stall.
    pub stall_ns: u64,
}

impl Layer {
    /// The word that names the layer in stack text.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Mem { .. } => "mem",
            Self::File { .. } => "file",
            Self::Aes { .. } => "aes",
            Self::Queue { .. } => "queue",
            Self::Delay { .. } => "delay",
            Self::Throttle(_) => "throttle",
            Self::Cache { .. } => "cache",
            Self::Fault(_) => "fault",
        }
    }

    /// Whether bytes live in this layer; a base is at the bottom and cannot be taken off.
    pub const fn is_base(&self) -> bool {
        matches!(self, Self::Mem { .. } | Self::File { .. })
    }
}

/// What an arm drives load at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A directory, a file or a block device; which one is found out on the machine.
    Path(PathBuf),
    /// An in-process stack.
    Stack(Stack),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{}", path.display()),
            Self::Stack(stack) => stack.fmt(f),
        }
    }
}
