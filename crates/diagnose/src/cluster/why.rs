//! Why a finding in a cluster is one.

use iotax_catalog::{Direction, Disk};
use serde::Serialize;

use crate::machine::observation::{BurstFor, Counted, LoweredRate};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClusterWhy {
    // Of a class: volumes are made in one of so many zones.
    Immediate { zones: usize },
    OnNode,
    // Claims that are named like programs that wait for each write.
    OfServer { databases: Vec<String> },
    Encrypts,
    SmallReadAhead,
    // Claims that wait for a volume.
    NoDefault { waiting: usize },
    SeveralDefaults { newest: String, classes: Vec<String> },
    // The disk of the smallest volume, and its size.
    Limit { gib: u64, disk: Box<Disk> },
    Burst { gib: u64, burst: BurstFor },
    // Of a class or volume that is mounted with an option.
    Mounted { option: String, costs: MountCost },
    Encrypted { plugin: String, by: String },
    Trouble { conditions: Vec<String> },
    Cordoned,
    FullOfVolumes { driver: String },
    VmBelowVolumes { vm: String, claims: Vec<String>, lowered: Vec<Lowered> },
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
