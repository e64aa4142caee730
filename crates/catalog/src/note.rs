//! What is documented beside figures: properties, and notes on what a figure leaves out.

use serde::{Deserialize, Serialize};

use crate::limit::{Scope, Source};

/// What is to be known of a figure, a size or a disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// AWS: the highest rates of an instance.
    HalfAnHourADay,
    /// AWS: sizes of I/O that limits of instances are stated at.
    StatedAt {
        iops_kib: u64,
        throughput_kib: u64,
    },
    NetworkFromCredits,
    /// AWS: of one flow, unless both ends are in a cluster placement group.
    OneFlow {
        bytes_per_s: f64,
    },
    /// AWS: what the user guide of 2023-05-11 says instead, baseline and maximum.
    UserGuide {
        figures: String,
    },
    WhileIoCredits,
    /// AWS: taken as I/Os of this size at the baseline.
    ThroughputWithoutCredits {
        io_kib: u64,
    },
    IopsAreProvisioned,
    RatesAreProvisioned,
    NeedsSize,
    /// What was not given.
    MostProvisionable,
    IopsRule(String),
    ThroughputRule(String),
    /// Azure: what leaves is metered, what comes in is not.
    MeteredOneWay,
    NetworkEgress,
    NoPersistentDiskLimits,
    NoLimitFor {
        kind: String,
    },
    /// What sums over cached disks leave out.
    CachedDisks,
    OnDemandOff {
        disk: String,
    },
    /// Azure: disks with limits of the VM of their own.
    FastBesideOthers,
    BurstUnknown {
        of: String,
        scope: Scope,
    },
    /// As a table has it. Records of earlier versions have all notes so.
    #[serde(untagged)]
    Tabled(String),
}

/// A documented property that is no limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    pub property: Property,
    /// Where it was read.
    pub source: Source,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    // Sizes of Azure.
    TemporaryDiskGib(f64),
    LocalNvmeGib(f64),
    LocalNvmeDisks(u32),
    DiskControllers(String),
    EphemeralOsDiskOn(String),
    UltraDisks(bool),
    ConfidentialType(String),
    ConstrainedFrom(String),
    Retires(String),
    /// Of Google Cloud, too.
    Family(String),
    // Instances of AWS.
    InstanceStore(bool),
    Hypervisor(String),
    BareMetal(bool),
    // Machine types of Google Cloud.
    SharedCpu,
    PersistentDiskGb(u64),
    // Disks of Azure.
    DiskType(String),
    MostShares(u32),
    // Volumes of AWS.
    Variant(String),
    SizesGib {
        least: f64,
        most: f64,
    },
    IopsRule(String),
    ThroughputRule(String),
    Promised(String),
    // Disks of Google Cloud.
    BaselineIops(f64),
    BaselineMib(f64),
    ReadIopsPerGib(f64),
    WriteIopsPerGib(f64),
    MibPerGib(f64),
    MostIops(f64),
    MostMib(f64),
    ConsoleIops(f64),
    /// The source names no unit.
    ConsoleThroughput(f64),
}

impl Fact {
    /// Those of these that are known.
    pub(crate) fn all(
        properties: impl IntoIterator<Item = Option<Property>>,
        source: &Source,
    ) -> Vec<Self> {
        let fact = |property| Self { property, source: source.clone() };
        properties.into_iter().flatten().map(fact).collect()
    }
}

/// Parts of a column that are separated by semicolons.
pub(crate) fn tabled(text: &str) -> Vec<Note> {
    let parts = text.split("; ").filter(|part| !part.is_empty());
    parts.map(|part| Note::Tabled(part.to_owned())).collect()
}
