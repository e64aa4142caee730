//! What of a workload yields where its test files find no room, and what became of it.

use serde::{Deserialize, Serialize};

/// What gives way where test files find no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Yields {
    /// The sizes of its largest files; those of others, and all times, stay.
    Spans,
    /// All of it, as with [`Workload::scale`](crate::Workload::scale), because its jobs have to
    /// keep their proportions.
    Scale {
        /// The length of the measured window is a default, too.
        time: bool,
        /// The length of the discarded start is a default, too.
        ramp: bool,
    },
}

/// How test files were fitted to the room there is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// The arm with the least room.
    pub arm: usize,
    /// What it has for test files.
    pub free_bytes: u64,
    /// What they would have taken.
    pub from_bytes: u64,
    /// What they take.
    pub to_bytes: u64,
    /// The factor on all sizes, and on times that were not asked for; without one, only the
    /// largest files are smaller.
    pub scale: Option<f64>,
}
