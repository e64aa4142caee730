use iotax_experiment::{Blame, Fault};

/// Why a run ended early, or a trial did not take place. What was measured until then is on disk.
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
    /// An agent failed.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// Simultaneous load on arms of one host.
    #[error(
        "{first} and {second} are on the same host, which can run only one trial at a time; put \
         each on its own host (`--agent ARM=COMMAND`)"
    )]
    SameHost {
        /// The target of an arm.
        first: String,
        /// The target of another arm.
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

/// How an agent failed.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// It could not be started.
    #[error("cannot start the agent `{command}`: {source}")]
    Start {
        /// Its command, as the user wrote it.
        command: String,
        source: std::io::Error,
    },
    /// It is of another version.
    #[error(
        "the agent `{command}` speaks version {theirs} of the protocol, but this iotax speaks \
         version {ours}; install the same version of iotax on both sides"
    )]
    Version {
        /// Its command, as the user wrote it.
        command: String,
        /// Of the agent.
        theirs: u32,
        /// Of this side.
        ours: u32,
    },
    /// It is gone, or its answers cannot be trusted.
    #[error("the agent `{command}` was lost: {why}")]
    Lost {
        /// Its command, as the user wrote it.
        command: String,
        why: String,
    },
    /// Something that a lost agent made still exists.
    #[error(
        "the lost agent `{command}` left things behind on its host, and iotax could not remove \
         them; run `iotax undo` there to try again:\n{}",
        problems.join("\n")
    )]
    Left {
        /// Its command, as the user wrote it.
        command: String,
        /// What, and why.
        problems: Vec<String>,
    },
    /// It could not carry out the command.
    #[error("{error}")]
    Failed {
        /// Its error message.
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
