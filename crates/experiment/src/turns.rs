//! How jobs share a machine: in proportion to each other, by priority, on NUMA nodes.

use serde::{Deserialize, Serialize};

/// I/Os in proportion to those of other threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Weight of each thread of the job: its share of the sum of all weights.
    pub weight: u32,
    /// Threads with the same number are balanced against each other.
    #[serde(default)]
    pub group: u32,
    /// How long a thread that is ahead sleeps, once it has no I/O in flight; 0: it only waits for
    /// its turn.
    #[serde(default)]
    pub sleep_ns: u64,
}

/// I/O priority in the kernel (`ioprio_set(2)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoPriority {
    pub class: PriorityClass,
    /// 0 (first) to 7 within the class.
    pub level: u8,
}

/// A class of priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorityClass {
    /// Before all others.
    RealTime,
    /// As usual.
    BestEffort,
    /// Only when no other I/O is waiting.
    Idle,
}

impl PriorityClass {
    pub const ALL: [Self; 3] = [Self::RealTime, Self::BestEffort, Self::Idle];

    /// Its name for users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RealTime => "rt",
            Self::BestEffort => "be",
            Self::Idle => "idle",
        }
    }

    /// Its number in the kernel and in fio.
    pub const fn number(self) -> u8 {
        match self {
            Self::RealTime => 1,
            Self::BestEffort => 2,
            Self::Idle => 3,
        }
    }
}

impl IoPriority {
    /// In the kernel's encoding.
    pub const fn value(self) -> u16 {
        (self.class.number() as u16) << 13 | self.level as u16
    }
}

/// Some of a job's I/Os with a different priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorityShare {
    /// Whether for reads, otherwise for writes.
    pub reads: bool,
    /// Only I/Os of this size; `None`: any size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u32>,
    /// Percentage of them.
    pub percent: u8,
    pub priority: IoPriority,
}

/// NUMA nodes of a job's threads and of their buffers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Numa {
    /// Nodes whose CPUs its threads run on; empty: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_nodes: Vec<u32>,
    /// Memory placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<NumaMemory>,
}

/// Memory placement (`set_mempolicy(2)`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumaMemory {
    /// On the node of the first access.
    Local,
    /// On this node, while it has memory.
    Prefer(u32),
    /// Only on these nodes.
    Bind(Vec<u32>),
    /// Page by page on these nodes in turn.
    Interleave(Vec<u32>),
}
