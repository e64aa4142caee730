//! Why a finding in a cluster is one.

use iotax_catalog::{Bound, Direction, Disk};
use serde::Serialize;

use crate::machine::why::limits::Counted;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClusterWhy {
    /// Of a class: volumes are made in one of so many zones.
    Immediate {
        zones: usize,
    },
    OnNode,
    /// Claims that are named like programs that wait for each write.
    OfServer {
        databases: Vec<String>,
    },
    Encrypts,
    SmallReadAhead,
    /// Claims that wait for a volume.
    NoDefault {
        waiting: usize,
    },
    SeveralDefaults {
        newest: String,
        classes: Vec<String>,
    },
    /// The disk of the smallest volume, and its size.
    Limit {
        gib: u64,
        disk: Box<Disk>,
    },
    Burst {
        gib: u64,
        burst: BurstFor,
    },
    /// Of a class or volume that is mounted with an option.
    Mounted {
        option: String,
        costs: MountCost,
    },
    Encrypted {
        plugin: String,
        by: String,
    },
    Trouble {
        conditions: Vec<String>,
    },
    Cordoned,
    FullOfVolumes {
        driver: String,
    },
    VmBelowVolumes {
        vm: String,
        claims: Vec<String>,
        lowered: Vec<Lowered>,
    },
}

/// What an option of a mount costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MountCost {
    Sync,
    Discard,
    AccessTime,
    Attributes,
}

/// A rate that the VM holds below that of the volumes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lowered {
    pub counted: Counted,
    pub direction: Direction,
    /// What the volumes may do.
    pub own: LoweredRate,
    pub left: LoweredRate,
}

/// A rate as its cloud writes it: bytes by 10^6 or by 2^20.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoweredRate {
    pub is_decimal: bool,
    pub per_s: f64,
    pub burst: Option<BurstFor>,
}

/// A burst, and how long it lasts where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BurstFor {
    pub per_s: f64,
    pub lasts_s: Option<f64>,
}

impl LoweredRate {
    pub(super) fn of(bound: &Bound, is_decimal: bool) -> Self {
        let burst = bound.burst.as_ref().map(|burst| {
            let lasts_s = burst.lasts_s.filter(|seconds| seconds.is_finite());
            BurstFor { per_s: burst.per_s, lasts_s }
        });
        Self { is_decimal, per_s: bound.sustained, burst }
    }
}
