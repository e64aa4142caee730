//! Control groups of the process.

use serde::{Deserialize, Serialize};

use super::system::PressureAverages;

/// The cgroups of the observing process, and those above.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ControlGroups {
    /// `v1` or `v2`.
    pub version: Option<String>,
    /// I/O limits on disks under the paths.
    pub io: Vec<GroupIoLimits>,
    /// CPU quota and its effect, for the cgroup with the tightest quota.
    pub cpu: Option<CpuThrottling>,
    /// Memory limits, for the cgroup with the tightest limit.
    pub memory: Option<GroupMemory>,
    /// `io.pressure` of the process's own cgroup.
    pub io_pressure: Option<PressureAverages>,
}

/// Limits of one cgroup on a disk, per second: `io.max`, or `blkio.throttle.*`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupIoLimits {
    /// The cgroup: `/system.slice/db.service`.
    pub group: String,
    /// The file with the limit.
    pub file: String,
    /// The path that it applies to, from [`super::Machine::paths`].
    pub path: String,
    pub read_iops: Option<f64>,
    pub write_iops: Option<f64>,
    pub read_bw_bytes: Option<f64>,
    pub write_bw_bytes: Option<f64>,
}

/// A CPU quota: `cpu.max` and `cpu.stat`, or `cpu.cfs_quota_us` and `cpu.stat`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuThrottling {
    pub group: String,
    /// The file with the counters.
    pub file: String,
    /// Allowed CPU time, in CPUs.
    pub cpus: Option<f64>,
    /// Periods in which the cgroup ran.
    pub periods: u64,
    /// Periods in which it used up its quota.
    pub throttled_periods: u64,
    /// Time for which it was throttled.
    pub throttled_us: u64,
}

/// Memory of a cgroup: `memory.max`, `memory.high`, `memory.current`, `memory.stat`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupMemory {
    pub group: String,
    pub directory: String,
    /// `memory.max`, or `memory.limit_in_bytes`.
    pub max_bytes: Option<u64>,
    /// `memory.high`.
    pub high_bytes: Option<u64>,
    /// `memory.current`, or `memory.usage_in_bytes`.
    pub current_bytes: Option<u64>,
    /// `file` in `memory.stat`: page cache that counts towards the limit.
    pub page_cache_bytes: Option<u64>,
    /// `workingset_refault_file`: file pages that were evicted and read again.
    pub file_refaults: Option<u64>,
    /// `memory.pressure`.
    pub pressure: Option<PressureAverages>,
}
