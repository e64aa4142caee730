use iotax_experiment::{Blame, Fault};

/// Why a run ended before its time, or a trial did not take place. What was measured until then is
/// on disk.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Results could not be written.
    #[error(transparent)]
    Record(#[from] iotax_record::Error),
    /// An arm could not be brought up, or taken down.
    #[error(transparent)]
    Rig(#[from] iotax_rig::Error),
    /// A load could not be driven.
    #[error(transparent)]
    Load(#[from] iotax_load::Error),
    /// An agent did not do what was asked.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// Load at the same time on arms that one host has.
    #[error(
        "{first} and {second} are on the same host, which performs one trial at a time: put each on a host of \
         its own (`--agent ARM=COMMAND`)"
    )]
    SameHost {
        /// The target of an arm.
        first: String,
        /// That of another.
        second: String,
    },
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Record(error) => error.fault(),
            Self::Rig(error) => error.fault(),
            Self::Load(error) => error.fault(),
            Self::Agent(error) => error.fault(),
            Self::SameHost { .. } => Fault::Usage,
        }
    }

    fn wants_space(&self) -> bool {
        match self {
            Self::Record(_) | Self::Agent(_) | Self::SameHost { .. } => false,
            Self::Rig(error) => error.wants_space(),
            Self::Load(error) => error.wants_space(),
        }
    }
}

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
