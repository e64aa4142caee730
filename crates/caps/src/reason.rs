//! Why a cap is taken to be what it is.

use iotax_experiment::documented::LimitBy;
use serde::{Deserialize, Serialize};

/// Why a cap is taken to be of its kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapReason {
    pub sign: CapSign,
    /// What speaks against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<CapDoubt>,
}

impl From<CapSign> for CapReason {
    fn from(sign: CapSign) -> Self {
        Self { sign, doubts: Vec::new() }
    }
}

/// What a cap looks like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapSign {
    /// Throughput over block size was not measured.
    SizesUnmeasured,
    /// Throughput still changes with depth: the slope of their logarithms.
    NoPlateau { slope: f64 },
    /// The same with the number of flows.
    NoPlateauOfFlows,
    /// This machine's CPUs set the rate of I/Os of this size, and something else that of others.
    SizesComputed,
    /// A limiter's two caps, off by so much (a share), and a device's curve by so much.
    Kink { off: f64, curve_off: f64 },
    /// A device's time per I/O and per byte.
    Curve { off: f64, kink_off: f64 },
    /// Neither is clearly right.
    Neither { kink_off: f64, curve_off: f64 },
    /// Only I/Os count, or only bytes; `only` with these sizes, if CPUs were busy with others.
    OneLine { is_bytes: bool, slope: f64, only: Option<[u32; 2]>, are_larger_several: bool },
    /// A burst's credits come back in pauses at the rate of the cap.
    Refill,
    /// It is as much as this limit.
    Limit { by: LimitBy, of: String },
    /// This machine's CPUs, or those of the peer.
    Busy(BusySign),
    /// One flow carries the same every time, and several carry more.
    OneFlowHeld,
    /// More flows carry no more, each time the same.
    FlowsHeld,
    /// It was not the same twice: the logarithm of the most over the least.
    NotTwice { spread: f64 },
    /// In the words of a record of format 1.
    Said(String),
}

/// What speaks against a sign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapDoubt {
    /// A limiter holds its rate, and the interval of this one spans such a share.
    Spread(f64),
    /// Throughput still changes with depth.
    SlopeLeft(f64),
    Busy(BusySign),
    /// Other measurements of the search scatter around it.
    Scatters,
}

/// Whose CPUs were busy: shares of their time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BusySign {
    /// The load's thread computed.
    Thread { share: f64 },
    /// The load's thread and those of the kernel that work for it in turn: of one CPU.
    InTurn { share: f64 },
    /// All CPUs, and the part of that which was this load's.
    AllCpus { share: f64, ours: f64 },
    /// This load, of the CPUs that it may use.
    Allowed { share: f64, cpus: f64 },
    /// The peer's thread computed.
    Peer { share: f64 },
    /// The load's threads waited for a CPU.
    Waited { share: f64 },
    /// All CPUs, whoever had them.
    Taken { share: f64 },
    /// All CPUs, with other work.
    OtherWork { share: f64 },
    /// In the words of a record of format 1.
    Said(String),
}
