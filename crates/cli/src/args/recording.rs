//! Options for workloads that are recordings.

use clap::{Args, ValueEnum, value_parser};

/// How a recording is replayed.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RecordingArgs {
    /// Replay N copies of a recording at the same time, for more load
    ///
    /// Each copy has its own threads and files. The copies start one after the other, within a
    /// tenth of the recording, so that their bursts do not coincide. The results count all copies
    /// together. iotax never replays a recording faster than it was recorded, because threads would
    /// then wait for each other differently.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1024), help_heading = "Recordings")]
    pub copies: Option<u32>,
    /// What determines when requests arrive from clients that were not recorded [default: answers]
    ///
    /// A recording shows that a thread waited, but not whether its client sends the next request
    /// only after an answer. If the two settings give different results, find out which one
    /// describes your clients.
    #[arg(long, value_enum, value_name = "BY", help_heading = "Recordings")]
    pub arrivals: Option<ArrivalsBy>,
    /// Replay a recording that lost more than 0.1 % of its events
    ///
    /// A replay omits lost operations, and does not wait where the recording lost a wake-up. The
    /// load can therefore be too low or too high.
    #[arg(long, help_heading = "Recordings")]
    pub allow_loss: bool,
}

/// What determines when requests arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsBy {
    /// A client thinks for the recorded time after each answer, so faster storage gets more load
    /// (closed loop)
    Answers,
    /// Requests arrive at the recorded times, however slow the storage is (open loop)
    Clock,
}

impl RecordingArgs {
    /// The first option that is set.
    pub(crate) const fn given(&self) -> Option<&'static str> {
        match self {
            Self { copies: Some(_), .. } => Some("--copies"),
            Self { arrivals: Some(_), .. } => Some("--arrivals"),
            Self { allow_loss: true, .. } => Some("--allow-loss"),
            _ => None,
        }
    }
}
