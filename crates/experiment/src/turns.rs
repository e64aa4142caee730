//! How jobs share a machine: in proportion to each other, by priority, on its nodes.

use serde::{Deserialize, Serialize};

/// I/Os in proportion to those of other threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Weight of each thread of the job: its I/Os are this part of the sum of all weights.
    pub weight: u32,
    /// Threads of one number are held against each other.
    #[serde(default)]
    pub group: u32,
    /// How long a thread that is ahead sleeps, once nothing of it is in flight; 0: it only waits
    /// for its turn.
    #[serde(default)]
    pub sleep_ns: u64,
}

/// Priority of I/Os to the kernel (`ioprio_set(2)`).
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
    /// When nobody else has any.
    Idle,
}

impl PriorityClass {
    pub const ALL: [Self; 3] = [Self::RealTime, Self::BestEffort, Self::Idle];

    /// What users write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RealTime => "rt",
            Self::BestEffort => "be",
            Self::Idle => "idle",
        }
    }

    /// The kernel's number, which is fio's, too.
    pub const fn number(self) -> u8 {
        match self {
            Self::RealTime => 1,
            Self::BestEffort => 2,
            Self::Idle => 3,
        }
    }
}

impl IoPriority {
    /// As the kernel takes it.
    pub const fn value(self) -> u16 {
        (self.class.number() as u16) << 13 | self.level as u16
    }
}

/// Some of a job's I/Os with a priority of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorityShare {
    /// Reads, or else writes.
    pub reads: bool,
    /// Those of this size; of any size if it is `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u32>,
    /// How many of them, in percent.
    pub percent: u8,
    pub priority: IoPriority,
}

/// NUMA nodes of a job's threads and of their buffers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Numa {
    /// Its threads run on the CPUs of these; of any if it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_nodes: Vec<u32>,
    /// Where its memory is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<NumaMemory>,
}

/// Where memory is (`set_mempolicy(2)`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumaMemory {
    /// On the node of whoever touches it first.
    Local,
    /// On this one, while it has some.
    Prefer(u32),
    /// On these and no others.
    Bind(Vec<u32>),
    /// Page by page on one after the other.
    Interleave(Vec<u32>),
}
