use iotax_experiment::{Blame, Fault};

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
