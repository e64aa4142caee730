//! What a provider documents of one bucket: rates, bursts, and where that was read.

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

/// Where a figure was read, and when.
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
    /// What may be had for ever.
    pub sustained: f64,
    /// What may be had for a while.
    pub burst: Option<Burst>,
}

impl Rate {
    /// A rate without bursts.
    pub fn steady(sustained: f64) -> Self {
        Self { sustained, burst: None }
    }

    /// A rate whose burst lasts `full_s` from full credits. A "burst" that is no faster than the
    /// sustained rate is none.
    pub(crate) fn with_burst(sustained: f64, burst: Option<Burst>) -> Self {
        Self { sustained, burst: burst.filter(|burst| burst.per_s > sustained) }
    }

    /// The highest rate, however short; a burst that has to be turned on first is not counted.
    pub fn peak(&self) -> f64 {
        let burst = self.burst.as_ref().filter(|burst| !burst.opt_in);
        burst.map_or(self.sustained, |burst| burst.per_s)
    }
}

/// What may be had above the sustained rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// The rate while it lasts.
    pub per_s: f64,
    /// I/Os or bytes beyond the sustained rate that a full bucket holds, if documented.
    pub credits: Option<f64>,
    /// Whether it has to be turned on first, and is not.
    pub opt_in: bool,
    /// Conditions: on-demand, 30 min per 24 h ...
    pub notes: Vec<Note>,
}

impl Burst {
    /// Seconds that full credits last at the burst rate.
    pub fn full_s(&self, sustained: f64) -> Option<f64> {
        self.lasts_s(sustained, self.per_s)
    }

    /// Seconds that full credits last at `per_s`; infinite if nothing is drawn.
    pub(crate) fn lasts_s(&self, sustained: f64, per_s: f64) -> Option<f64> {
        let drawn_per_s = per_s - sustained;
        if drawn_per_s <= 0.0 {
            return Some(f64::INFINITY);
        }
        self.credits.map(|credits| credits / drawn_per_s)
    }
}

/// Which bucket a limit fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The disk's own.
    Disk,
    /// Of all disks of an Azure VM with host caching on. On sizes that have one, the temporary
    /// disk draws on it too.
    VmCached,
    /// Of all disks of an Azure VM with host caching off.
    VmUncached,
    /// The temporary disk of an Azure VM. Unless a note says otherwise, the same bucket as
    /// [`Scope::VmCached`].
    VmTemporary,
    /// Local `NVMe` disks of an Azure VM, all together.
    LocalNvme,
    /// Of all volumes of an AWS instance, or of all disks of a kind of a Google Cloud VM.
    Instance,
    /// The network of a VM: reads are what comes in, writes what goes out.
    Network,
    /// A single flow over it.
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
    /// Whether a limit on `self` counts I/Os of `other`.
    pub fn counts(self, other: Self) -> bool {
        self == Self::Both || other == Self::Both || self == other
    }
}

/// A documented limit. What is not documented is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Which bucket.
    pub scope: Scope,
    /// Whose: `P10`, `Standard_DS1_v2`.
    pub of: String,
    /// Whether disks of its kind share it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pooled: bool,
    /// Kinds of disk it holds for ([`crate::Disk::kind`]); empty: all.
    pub disk_kinds: Vec<String>,
    /// I/Os per second.
    pub iops: Option<Rate>,
    /// Bytes per second.
    pub bw_bytes: Option<Rate>,
    /// Which I/Os it counts.
    pub direction: Direction,
    /// I/Os larger than this count as several.
    pub io_unit_bytes: Option<u64>,
    /// Where the figures were read.
    pub source: Source,
    /// Whether a rate without a burst may burst all the same: the sources do not tell.
    pub burst_unknown: bool,
    /// Where the burst figures were read, if elsewhere.
    pub burst_source: Option<Source>,
    /// What the source says beside the figures.
    pub notes: Vec<Note>,
}

/// Kinds that cannot be an OS disk: "Usable as OS Disk? No".
/// Source: `MicrosoftDocs/azure-compute-docs:articles/virtual-machines/disks-types.md@18c531ec`,
/// 2026-08-11.
const DATA_ONLY_KINDS: [&str; 2] = ["premium-v2", "ultra"];

impl Limit {
    /// A limit on reads and writes of all kinds of disk, its figures unknown yet.
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

    /// Whether it holds for this kind of disk.
    pub fn holds_for(&self, kind: &str) -> bool {
        self.disk_kinds.is_empty() || self.disk_kinds.iter().any(|known| known == kind)
    }

    /// Whether it holds for a kind of disk that an operating system can be on.
    pub fn holds_os_disks(&self) -> bool {
        let is_data_only = |kind: &String| DATA_ONLY_KINDS.contains(&kind.as_str());
        self.disk_kinds.is_empty() || !self.disk_kinds.iter().all(is_data_only)
    }
}
