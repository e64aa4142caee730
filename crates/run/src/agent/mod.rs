//! Trials on another host: an agent there performs them, and tells over a pair of streams.
//!
//! | module | idea |
//! |---|---|
//! | `message` | what is said; both sides must speak the same version |
//! | `frame` | how it is carried: length, checksum, JSON |
//! | `serve` | the agent: a rig and load drivers on its machine |
//! | `remote` | the other side: a [`crate::Host`] that may die, and is started again |

mod frame;
mod message;
mod remote;
mod serve;
#[cfg(test)]
mod tests;

pub use remote::{Remote, RemoteOptions};
pub use serve::{AgentOptions, serve};

use std::time::Duration;

/// Between two signs of life.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// An agent that was silent for so long is taken for dead.
const SILENCE: Duration = Duration::from_secs(20);
/// What a load may take beyond all that it was asked to, until its agent is taken to hang.
const GRACE: Duration = Duration::from_mins(2);

/// What an agent did not do.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// It could not be started.
    #[error("cannot start the agent `{command}`: {source}")]
    Start {
        /// As it was asked for.
        command: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is of another version.
    #[error(
        "the agent `{command}` speaks version {theirs} of the protocol, and this iotax version \
         {ours}; have the same iotax on both sides"
    )]
    Version {
        /// As it was asked for.
        command: String,
        /// Of the agent.
        theirs: u32,
        /// Of this side.
        ours: u32,
    },
    /// It is gone, or nothing it says can be relied on.
    #[error("the agent `{command}` was lost: {why}")]
    Lost {
        /// As it was asked for.
        command: String,
        /// Why.
        why: String,
    },
    /// Something of a lost agent's is still there.
    #[error(
        "what a lost agent had made on the host of `{command}` could not be removed; `iotax undo` \
         there tries it again:\n{}",
        problems.join("\n")
    )]
    Left {
        /// As it was asked for.
        command: String,
        /// What, and why.
        problems: Vec<String>,
    },
    /// It could not do what was asked.
    #[error("{error}")]
    Failed {
        /// Why, in its words.
        error: String,
        /// Whose fault it is.
        kind: message::FailureKind,
    },
}

impl AgentError {
    /// Whether the user stopped it.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Failed { kind: message::FailureKind::Interrupted, .. })
    }

    /// Whether what was asked for is wrong, as opposed to what the machine allows.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Failed { kind: message::FailureKind::Usage, .. })
            || matches!(self, Self::Version { .. })
    }
}
