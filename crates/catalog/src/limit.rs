//! Documented limits of one bucket: rates, bursts and sources.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::note::Note;

/// A provider of virtual machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cloud {
    /// Microsoft Azure
    Azure,
    /// Amazon Web Services
    Aws,
    /// Google Cloud
    Gcp,
}

impl fmt::Display for Cloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Azure => "Azure",
            Self::Aws => "AWS",
            Self::Gcp => "Google Cloud",
        })
    }
}

/// Source of a figure.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Source {
    /// Repository, file and commit, or page.
    pub text: String,
    /// Date of that state, `YYYY-MM-DD`, or `undated`.
    pub as_of: String,
}

/// A rate per second: I/Os, or bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The sustained rate.
    pub sustained: f64,
    /// The burst above it.
    pub burst: Option<Burst>,
}

impl Rate {
    /// A rate without bursts.
    pub fn steady(sustained: f64) -> Self {
        Self { sustained, burst: None }
    }

    /// A rate whose burst lasts `full_s` with full credits. Without a burst if it is not faster
    /// than the sustained rate.
    pub(crate) fn with_burst(sustained: f64, burst: Option<Burst>) -> Self {
        Self { sustained, burst: burst.filter(|burst| burst.per_s > sustained) }
    }

    /// The highest rate, however short, without bursts that must be enabled first.
    pub fn peak(&self) -> f64 {
        let burst = self.burst.as_ref().filter(|burst| !burst.opt_in);
        burst.map_or(self.sustained, |burst| burst.per_s)
    }
}

/// A burst above the sustained rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// The rate while it lasts.
    pub per_s: f64,
    /// I/Os or bytes above the sustained rate that a full bucket holds, if documented.
    pub credits: Option<f64>,
    /// Whether it must be enabled first, and is not.
    pub opt_in: bool,
    /// Conditions: on-demand, 30 min per 24 h ...
    pub notes: Vec<Note>,
}

impl Burst {
    /// Seconds that full credits last at the burst rate.
    pub fn full_s(&self, sustained: f64) -> Option<f64> {
        self.lasts_s(sustained, self.per_s)
    }

    /// Seconds that full credits last at `per_s`; infinite if it uses none.
    pub(crate) fn lasts_s(&self, sustained: f64, per_s: f64) -> Option<f64> {
        let drawn_per_s = per_s - sustained;
        if drawn_per_s <= 0.0 {
            return Some(f64::INFINITY);
        }
        self.credits.map(|credits| credits / drawn_per_s)
    }
}

/// The bucket that a limit belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The disk's own.
    Disk,
    /// Of all disks of an Azure VM with host caching. On some sizes, the temporary disk shares it.
    VmCached,
    /// Of all disks of an Azure VM without host caching.
    VmUncached,
    /// The temporary disk of an Azure VM. Unless a note says otherwise, the same bucket as
    /// [`Scope::VmCached`].
    VmTemporary,
    /// Of all local `NVMe` disks of an Azure VM.
    LocalNvme,
    /// Of all volumes of an AWS instance, or of all disks of a kind of a Google Cloud VM.
    Instance,
    /// The network of a VM: reads are incoming, writes are outgoing traffic.
    Network,
    /// A single network flow.
    NetworkFlow,
}

impl Scope {
    pub const ALL: [Self; 8] = [
        Self::Disk,
        Self::VmCached,
        Self::VmUncached,
        Self::VmTemporary,
        Self::LocalNvme,
        Self::Instance,
        Self::Network,
        Self::NetworkFlow,
    ];
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Disk => "disk",
            Self::VmCached => "VM cached",
            Self::VmUncached => "VM uncached",
            Self::VmTemporary => "VM temporary disk",
            Self::LocalNvme => "local NVMe",
            Self::Instance => "instance",
            Self::Network => "network",
            Self::NetworkFlow => "network flow",
        })
    }
}

/// Which I/Os a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Read,
    Write,
    /// Reads and writes.
    Both,
}

impl Direction {
    /// Whether a limit on `self` also counts I/Os of `other`.
    pub fn counts(self, other: Self) -> bool {
        self == Self::Both || other == Self::Both || self == other
    }
}

/// A documented limit. Undocumented values are `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Which bucket.
    pub scope: Scope,
    /// Name of the VM size or disk: `P10`, `Standard_DS1_v2`.
    pub of: String,
    /// Whether disks of its kind share it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pooled: bool,
    /// Kinds of disk that it applies to ([`crate::Disk::kind`]); empty: all.
    pub disk_kinds: Vec<String>,
    /// I/Os per second.
    pub iops: Option<Rate>,
    /// Bytes per second.
    pub bw_bytes: Option<Rate>,
    /// Which I/Os it counts.
    pub direction: Direction,
    /// I/Os larger than this count as several.
    pub io_unit_bytes: Option<u64>,
    /// Source of the figures.
    pub source: Source,
    /// Whether a rate without a burst may still burst, because the sources do not say.
    pub burst_unknown: bool,
    /// Source of the burst figures, if different.
    pub burst_source: Option<Source>,
    /// Notes from the source.
    pub notes: Vec<Note>,
}

/// Kinds that cannot be an OS disk: "Usable as OS Disk? No". Source:
/// `MicrosoftDocs/azure-compute-docs:articles/virtual-machines/disks-types.md@18c531ec`,
/// 2026-08-11.
const DATA_ONLY_KINDS: [&str; 2] = ["premium-v2", "ultra"];

impl Limit {
    /// A limit on reads and writes of all kinds of disk, with figures still unknown.
    pub(crate) fn unknown(scope: Scope, of: &str, source: &Source) -> Self {
        Self {
            scope,
            of: of.to_owned(),
            is_pooled: false,
            disk_kinds: Vec::new(),
            iops: None,
            bw_bytes: None,
            direction: Direction::Both,
            io_unit_bytes: None,
            source: source.clone(),
            burst_unknown: false,
            burst_source: None,
            notes: Vec::new(),
        }
    }

    /// A limit on bytes over the network.
    pub(crate) fn of_network(
        scope: Scope,
        direction: Direction,
        of: &str,
        rate: Rate,
        source: &Source,
    ) -> Self {
        Self { direction, bw_bytes: Some(rate), ..Self::unknown(scope, of, source) }
    }

    /// Whether it applies to this kind of disk.
    pub fn holds_for(&self, kind: &str) -> bool {
        self.disk_kinds.is_empty() || self.disk_kinds.iter().any(|known| known == kind)
    }

    /// Whether it applies to a kind of disk that can be an OS disk.
    pub fn holds_os_disks(&self) -> bool {
        let is_data_only = |kind: &String| DATA_ONLY_KINDS.contains(&kind.as_str());
        self.disk_kinds.is_empty() || !self.disk_kinds.iter().all(is_data_only)
    }
}
