use crate::agent_error::AgentError;

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

impl Error {
    /// Whether the user stopped it.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Record(_) | Self::SameHost { .. } => false,
            Self::Rig(error) => error.is_interrupted(),
            Self::Load(error) => error.is_interrupted(),
            Self::Agent(error) => error.is_interrupted(),
        }
    }

    /// Whether smaller test files, or more space for them, would help.
    pub fn is_for_want_of_space(&self) -> bool {
        match self {
            Self::Record(_) | Self::Agent(_) | Self::SameHost { .. } => false,
            Self::Rig(error) => error.is_for_want_of_space(),
            Self::Load(error) => error.is_space(),
        }
    }

    /// Whether what was asked for is wrong, as opposed to what the machine allows.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Record(error) => error.is_usage(),
            Self::Rig(error) => error.is_usage(),
            Self::Load(error) => error.is_usage(),
            Self::SameHost { .. } => true,
            Self::Agent(error) => error.is_usage(),
        }
    }
}
