//! The messages between the two sides.

use std::net::SocketAddr;
use std::path::PathBuf;

use iotax_experiment::{Blame as _, Driver, Fault, Spec, Workload};
use iotax_load::PeerSecrets;
use iotax_record::{HostRecord, Machine, Site};
use iotax_rig::GivenUp;
use serde::{Deserialize, Serialize};

use super::contents::Piece;
use super::frame::{HISTOGRAM_BYTES, Limit};
use super::secrets;
use crate::error::Error;
use crate::host::{Measured, TrialRequest};

/// Version of the protocol. It changes with every change of these types or of types in them.
pub(crate) const PROTOCOL: u32 = 8;

/// Messages to the agent. Each is answered before the next is sent, except `Stop`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Command {
    Hello {
        protocol: u32,
    },
    /// Remove what dead runs left on this host.
    Undo,
    /// Examine the storage under paths without changing anything.
    Look(Look),
    /// Keep a piece of a recording that arms replay.
    Keep(Piece),
    /// Make ready to bring these arms up.
    Open(Box<Open>),
    /// Wait at most this long until the peer of an arm answers, and report how it is reached.
    Reach {
        arm: usize,
        patience_ns: u64,
    },
    /// Bring an arm up.
    Up {
        arm: usize,
    },
    /// Lay out files.
    Prepare {
        arm: usize,
        driver: Driver,
        workloads: Vec<Workload>,
    },
    /// Perform a trial, which has this number at the client.
    Trial {
        number: u64,
        request: Box<TrialRequest>,
    },
    /// Return the result of a trial of an agent that was lost in the meantime; wait at most this
    /// long for its end.
    Fetch {
        number: u64,
        patience_ns: u64,
    },
    /// Take all arms down.
    Down,
    /// Stop the present command; it is answered nevertheless.
    Stop,
}

impl Command {
    /// The size limit of its answer, with samples of each second and histograms of each job.
    pub(crate) fn limit(&self) -> Limit {
        let (seconds, jobs) = match self {
            Self::Trial { request, .. } => {
                let asked_ns = request.ramp_ns.saturating_add(request.time_ns);
                (asked_ns / 1_000_000_000, request.task.jobs() as u64)
            }
            // A kept result may be of any trial.
            Self::Fetch { .. } => return Limit::KEPT,
            _ => return Limit::PLAIN,
        };
        let of = |of_second: u64, of_job: u64| {
            seconds.saturating_mul(of_second).saturating_add(jobs.saturating_mul(of_job))
        };
        let bytes = u64::from(Limit::PLAIN.bytes).saturating_add(of(64 << 10, 1 << 20));
        let memory_bytes =
            Limit::PLAIN.memory_bytes.saturating_add(of(512 << 10, 16 * HISTOGRAM_BYTES));
        Limit {
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX).min(Limit::KEPT.bytes),
            memory_bytes: memory_bytes.min(Limit::KEPT.memory_bytes),
        }
    }

    /// Whether the agent then removes what it made, which must not be interrupted.
    pub(crate) fn removes(&self) -> bool {
        matches!(self, Self::Undo | Self::Down)
    }
}

/// What an agent examines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// As they are named where the agent is started.
    pub paths: Vec<PathBuf>,
    /// The mount point of the host's root directory in its container, if the agent should move
    /// there to examine the host.
    pub root: Option<PathBuf>,
}

/// What an agent works on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Open {
    /// Its arms are those of this host.
    pub(crate) spec: Spec,
    /// Where files without a path go.
    pub(crate) work_dir: PathBuf,
    /// Block devices that the user gave up to be overwritten.
    pub(crate) given_up: GivenUp,
    /// Secrets of peers. They are sent over the streams, but never recorded.
    #[serde(with = "secrets")]
    pub(crate) secrets: PeerSecrets,
}

/// How a peer is reached from an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// The near end's own address.
    pub near: SocketAddr,
    /// The same as the far end sees it.
    pub near_seen: SocketAddr,
    /// Where the near end connects to.
    pub far: SocketAddr,
    /// The address of the far end's own that connections come to.
    pub far_own: SocketAddr,
    /// The path's MTU as the near end's kernel knows it.
    pub mtu_bytes: Option<u32>,
    /// How long it took to find the address by a name, if it has one, in nanoseconds.
    pub resolved_ns: Option<u64>,
    /// Interfaces of the near end's network namespace that encrypt.
    pub encrypting: Vec<String>,
}

/// From the agent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Hello {
        protocol: u32,
        iotax_version: String,
    },
    /// A heartbeat, at any time: I/Os and bytes done since the agent started.
    Alive {
        ios: u64,
        bytes: u64,
    },
    /// How far the laying out of files is, in bytes.
    LayingOut {
        done: u64,
        total: u64,
    },
    /// What could not be removed.
    Undone {
        problems: Vec<String>,
    },
    /// The facts.
    Looked(Box<Machine>),
    /// The piece is kept.
    Kept,
    /// The arms are known.
    Opened {
        /// One per arm.
        sites: Vec<Site>,
        /// For each arm, whether it is rebuilt for each of its turns.
        made_anew: Vec<bool>,
        host: Box<HostRecord>,
    },
    /// The peer answers.
    Reached(Box<Reached>),
    /// The arm is up.
    Up {
        site: Box<Site>,
        directory: Option<PathBuf>,
    },
    /// The files are there.
    Prepared,
    /// The result of a trial.
    Measured(Box<Measured>),
    /// The result is unknown.
    NotKept,
    /// All arms are down.
    Down,
    /// It could not be done.
    Failed {
        error: String,
        fault: Fault,
    },
}

impl Reply {
    /// A failure as a message.
    pub(crate) fn failed(error: &Error) -> Self {
        Self::Failed { error: error.to_string(), fault: error.fault() }
    }
}
