//! What agents do not do.

use iotax_experiment::{Blame, Fault};

/// What an agent did not do.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// It could not be started.
    #[error("cannot start the agent `{command}`: {source}")]
    Start {
        /// As it was asked for.
        command: String,
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
        fault: Fault,
    },
}

impl Blame for AgentError {
    fn fault(&self) -> Fault {
        match self {
            Self::Version { .. } => Fault::Usage,
            Self::Start { .. } | Self::Lost { .. } | Self::Left { .. } => Fault::Environment,
            Self::Failed { fault, .. } => *fault,
        }
    }
}
