//! Software RAIDs: `/sys/block/mdN/md/`.

use serde::{Deserialize, Serialize};

/// How an array is doing, and what it does beside the I/O.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RaidSeen {
    /// `raid_disks`.
    pub members: Option<u64>,
    /// `degraded`: members that are missing.
    pub missing: Option<u64>,
    /// `sync_action`: `idle`, `resync`, `recover`, `check`, `repair`, `reshape`.
    pub action: Option<String>,
    /// `bitmap/location`: `none`, `file`, or where on the members it is, such as `+8`.
    pub bitmap: Option<String>,
    /// `consistency_policy`: `bitmap`, `resync`, `journal`, `ppl`.
    pub policy: Option<String>,
    /// `stripe_cache_size`, of parity levels: entries of one page for each member.
    pub stripe_cache: Option<u64>,
    /// `group_thread_cnt`, of parity levels: threads beside the one of the array.
    pub threads: Option<u64>,
}
