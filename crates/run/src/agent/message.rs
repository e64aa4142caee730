//! What the two sides say.

use std::net::SocketAddr;
use std::path::PathBuf;

use iotax_experiment::{Blame as _, Driver, Fault, Spec, Workload};
use iotax_load::PeerSecrets;
use iotax_record::{HostRecord, Machine, Site};
use iotax_rig::GivenUp;
use serde::{Deserialize, Serialize};

use super::frame::{HISTOGRAM_BYTES, Limit};
use super::secrets;
use crate::error::Error;
use crate::host::{Measured, TrialRequest};

/// Version of what is said here; it changes with every change of these types or of those in them.
pub(crate) const PROTOCOL: u32 = 7;

/// To the agent. Each is answered, but for `Stop`, before the next is sent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Command {
    Hello {
        protocol: u32,
    },
    /// Remove what dead runs left on this host.
    Undo,
    /// Look at what lies under paths, and do nothing to them.
    Look(Look),
    /// Make ready to bring these arms up.
    Open(Box<Open>),
    /// Wait until the peer of an arm answers, as long as this, and say how it is reached.
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
    /// Perform a trial, which has this number among those of whoever asks.
    Trial {
        number: u64,
        request: Box<TrialRequest>,
    },
    /// Say what that trial came to, which an agent performed that was lost meanwhile; wait for its end, so
    /// long at most.
    Fetch {
        number: u64,
        patience_ns: u64,
    },
    /// Take all arms down.
    Down,
    /// Break off what is under way; it is answered all the same.
    Stop,
}

impl Command {
    /// What its answer may come to: samples of each second, and histograms of each job.
    pub(crate) fn limit(&self) -> Limit {
        let (seconds, jobs) = match self {
            Self::Trial { request, .. } => {
                let asked_ns = request.ramp_ns.saturating_add(request.time_ns);
                (asked_ns / 1_000_000_000, request.task.jobs() as u64)
            }
            // Whatever the trial was, an agent of ours has kept it.
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

    /// Whether it has the agent remove what was made, which is not broken off.
    pub(crate) fn removes(&self) -> bool {
        matches!(self, Self::Undo | Self::Down)
    }
}

/// What an agent looks at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// As they are called where it is started.
    pub paths: Vec<PathBuf>,
    /// Where the root directory of the machine that its container is on is mounted, if it is to look
    /// from there; then it stays there.
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
    /// What is known of peers. It goes over the streams, and into no record.
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
    /// A sign of life, at any time: I/Os and bytes done since the agent started.
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
    /// What was seen.
    Looked(Box<Machine>),
    /// The arms are known.
    Opened {
        /// One per arm.
        sites: Vec<Site>,
        /// Of each arm, whether it is made anew for its turns.
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
    /// What came of a trial.
    Measured(Box<Measured>),
    /// It is not known what came of it.
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
    /// A failure as it is told.
    pub(crate) fn failed(error: &Error) -> Self {
        Self::Failed { error: error.to_string(), fault: error.fault() }
    }
}
