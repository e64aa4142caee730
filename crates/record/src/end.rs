//! How a record ends.

use serde::{Deserialize, Serialize};

/// How an experiment ended; written last. A record without it was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// In words, e.g. `every arm has a verdict`.
    pub reason: String,
    /// Wall time of the experiment in nanoseconds.
    pub wall_ns: u64,
    /// Whether the user interrupted it.
    pub interrupted: bool,
    /// Whether it was given up because an arm kept failing.
    #[serde(default)]
    pub gave_up: bool,
    /// Trials that were run; `None` in records that do not say.
    #[serde(default)]
    pub trials: Option<u32>,
}
