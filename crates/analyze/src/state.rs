//! What became of a trial, an arm, a comparison.

use serde::Serialize;

/// Which part of a run figures are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Regime {
    /// Burst credits were spent.
    Sustained,
    /// They were not, or came back.
    Burst,
    /// The effect changed: the blocks since.
    #[serde(rename = "after the change")]
    AfterChange,
}

/// What became of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    Completed,
    Degraded,
    /// The primary job completed nothing.
    Stalled,
    /// The load generator itself was held up.
    Paused,
    Failed,
    Interrupted,
}

impl TrialOutcome {
    /// In records, JSON and tables.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Degraded => "degraded",
            Self::Stalled => "stalled",
            Self::Paused => "paused",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Why an arm was not preconditioned as was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotPreconditioned {
    /// Its jobs have no span that could be written.
    NoSpan,
    InMemory,
    /// In the words of what failed.
    Failed(String),
    /// The load generator was paused for so long.
    Paused(u64),
    /// It was ended after so many passes.
    Passes(u32),
    OnlyReads,
    /// It was ended after so many rounds.
    Rounds(u32),
}
