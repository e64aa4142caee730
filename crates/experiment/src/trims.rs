//! Trims: jobs that give space back. A trim destroys data, so whoever asks whether such a job writes
//! is told that it does.

use serde::{Deserialize, Serialize};

/// What a job trims: ranges of files become holes, ranges of block devices are discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trims {
    /// It trims instead of writing (fio: `rw=trim`).
    Only,
    /// It trims each place before it writes there (fio: `rw=trimwrite`).
    First,
}

impl Trims {
    /// As written in files and overrides.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Only => "only",
            Self::First => "first",
        }
    }
}
