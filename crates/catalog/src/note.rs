//! Documented facts other than figures: properties, and notes on what a figure does not include.

use serde::{Deserialize, Serialize};

use crate::limit::{Scope, Source};

/// A note on a figure, a size or a disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// AWS: the maximum rates of an instance.
    HalfAnHourADay,
    /// AWS: I/O sizes at which limits of instances are stated.
    StatedAt {
        iops_kib: u64,
        throughput_kib: u64,
    },
    NetworkFromCredits,
    /// AWS: limit of one flow, unless both ends are in a cluster placement group.
    OneFlow {
        bytes_per_s: f64,
    },
    /// AWS: different values in the user guide of 2023-05-11, baseline and maximum.
    UserGuide {
        figures: String,
    },
    WhileIoCredits,
    /// AWS: computed from I/Os of this size at the baseline.
    ThroughputWithoutCredits {
        io_kib: u64,
    },
    IopsAreProvisioned,
    RatesAreProvisioned,
    NeedsSize,
    /// For values that were not given.
    MostProvisionable,
    IopsRule(String),
    ThroughputRule(String),
    /// Azure: outgoing traffic is metered, incoming traffic is not.
    MeteredOneWay,
    NetworkEgress,
    NoPersistentDiskLimits,
    NoLimitFor {
        kind: String,
    },
    /// Facts that sums over cached disks do not include.
    CachedDisks,
    OnDemandOff {
        disk: String,
    },
    /// Azure: disks for which the VM has separate limits.
    FastBesideOthers,
    BurstUnknown {
        of: String,
        scope: Scope,
    },
    /// Text from a table. Records of earlier versions have all notes in this form.
    #[serde(untagged)]
    Tabled(String),
}

/// A documented property that is not a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    pub property: Property,
    /// Its source.
    pub source: Source,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    // For Azure sizes.
    TemporaryDiskGib(f64),
    LocalNvmeGib(f64),
    LocalNvmeDisks(u32),
    DiskControllers(String),
    EphemeralOsDiskOn(String),
    UltraDisks(bool),
    ConfidentialType(String),
    ConstrainedFrom(String),
    Retires(String),
    /// Also for Google Cloud.
    Family(String),
    // For AWS instances.
    InstanceStore(bool),
    Hypervisor(String),
    BareMetal(bool),
    // For Google Cloud machine types.
    SharedCpu,
    PersistentDiskGb(u64),
    // For Azure disks.
    DiskType(String),
    MostShares(u32),
    // For AWS volumes.
    Variant(String),
    SizesGib {
        least: f64,
        most: f64,
    },
    IopsRule(String),
    ThroughputRule(String),
    Promised(String),
    // For Google Cloud disks.
    BaselineIops(f64),
    BaselineMib(f64),
    ReadIopsPerGib(f64),
    WriteIopsPerGib(f64),
    MibPerGib(f64),
    MostIops(f64),
    MostMib(f64),
    ConsoleIops(f64),
    /// The source gives no unit.
    ConsoleThroughput(f64),
}

impl Fact {
    /// The known ones of these.
    pub(crate) fn all(
        properties: impl IntoIterator<Item = Option<Property>>,
        source: &Source,
    ) -> Vec<Self> {
        let fact = |property| Self { property, source: source.clone() };
        properties.into_iter().flatten().map(fact).collect()
    }
}

/// Parts of a column, separated by semicolons.
pub(crate) fn tabled(text: &str) -> Vec<Note> {
    let parts = text.split("; ").filter(|part| !part.is_empty());
    parts.map(|part| Note::Tabled(part.to_owned())).collect()
}
