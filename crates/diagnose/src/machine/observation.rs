//! Facts that were seen: where, of what, and the value. Text that comes from files, programs and
//! clouds is kept as it is; what iotax itself would say of them is a variant.

use iotax_catalog::{Bound, Direction, Disk, Effective, Limit, Rate, Scope};
use iotax_record::machine::{Device, Interface, MountSeen};
use serde::Serialize;

/// One fact: a file, a field of it, and its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Observation {
    pub source: Source,
    /// Field of it; `None` where the source is the value.
    pub field: Option<Field>,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    // File, or the program and question that told.
    File(String),
    // An object of a cluster: its kind as `kubectl` has it, and its name.
    Object { kind: &'static str, name: String },
    // The cloud's metadata about the instance.
    Metadata,
    // The user.
    Told,
    // What the user says that a path is.
    ToldOfPath,
    // The documents of the cloud.
    Documented,
    KernelLog,
    NvmeLogPage,
    // Datagrams that were sent to the peer.
    Datagrams,
    // What the kernel knew of the way after they were sent.
    MtuAfterwards,
    RoundTrip,
    TunnelHeaders,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    Raw(String),
    // Of one of several things in a file.
    Of { of: String, what: String },
    // An option that an NFS mount has, by `/proc/self/mountstats`.
    NfsOption { mount: String, option: String },
    NfsMostSlots(String),
    NfsTransmissions(String),
    NfsMajorTimeouts(String),
    ContentsOfDevice(String),
    ListensOn(String),
    XtsDriver,
    CpuFlag(&'static str),
    KernelRelease,
    LargestArrived,
    SmallestLost,
    HostCache,
    Limit { scope: Scope, of: String, direction: Direction },
    VmVariant { vm: String, variant: &'static str },
    // What volumes may do together; or what a VM leaves of it.
    Together { of: Option<String>, counted: Counted, direction: Direction },
    // A disk, and claims that it is under.
    DiskOf { disk: String, claims: Names },
    DefaultAnnotation,
    Condition(String),
    InstanceType,
    VmSize,
    Parameter(String),
    DriversChoice,
    Allocatable(String),
    OfThisClass,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    Raw(String),
    Bytes(u64),
    WholeGib(u64),
    TimeNs(u64),
    Percent(f64),
    Count(u64),
    OfAll { part: u64, all: u64 },
    Rate { counted: Counted, per_s: f64 },
    Peak(PeakLimit),
    Limit(Box<Limit>),
    DiskLimits(Box<Disk>),
    Lowered { counted: Counted, direction: Direction, rate: LoweredRate },
    GroupRates(GroupRates),
    Qdisc(QdiscSeen),
    Member { bytes: u64, kind: MemberKind },
    Vdevs(Vec<(String, u64)>),
    LogDevice(bool),
    Names(Names),
    All(Vec<String>),
    NoneOf(Vec<String>),
    DefaultSince(String),
    PoliciesHold,
    OneDirectory,
    TemporaryDisk,
    SystemDisk,
    NoMultichannel,
}

/// The first of several names, and how many more there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Names {
    pub first: Vec<String>,
    pub more: usize,
}

impl Names {
    /// So many of them.
    pub(crate) fn of(mut names: Vec<String>, most: usize) -> Self {
        let more = names.len().saturating_sub(most);
        names.truncate(most);
        Self { first: names, more }
    }
}

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    Iops,
    Bytes,
}

impl Counted {
    pub const ALL: [Self; 2] = [Self::Iops, Self::Bytes];

    /// What a limit allows of it.
    pub fn rate(self, limit: &Limit) -> Option<&Rate> {
        match self {
            Self::Iops => limit.iops.as_ref(),
            Self::Bytes => limit.bw_bytes.as_ref(),
        }
    }

    /// What several limits leave of it.
    pub fn left(self, effective: &Effective) -> Option<&Bound> {
        match self {
            Self::Iops => effective.iops.as_ref(),
            Self::Bytes => effective.bw_bytes.as_ref(),
        }
    }
}

/// What a limit lets through, bursts included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PeakLimit {
    pub iops: f64,
    pub bytes_per_s: f64,
}

/// What a group may do each second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct GroupRates {
    pub read_iops: Option<f64>,
    pub read_bw_bytes: Option<f64>,
    pub write_iops: Option<f64>,
    pub write_bw_bytes: Option<f64>,
}

/// A queueing discipline: what it does, and what it has done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QdiscSeen {
    pub bits_per_s: Option<f64>,
    pub delay_ns: Option<f64>,
    pub loss: Option<f64>,
    pub dropped: u64,
    pub overlimits: u64,
}

/// What a member is, as far as its speed may depend on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemberKind {
    /// Whether a network serves it; `None` outside of clouds.
    pub is_local: Option<bool>,
    pub rotates: Option<bool>,
    pub transport: Option<String>,
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
    pub(crate) fn of(bound: &Bound, is_decimal: bool) -> Self {
        let burst = bound.burst.as_ref().map(|burst| {
            let lasts_s = burst.lasts_s.filter(|seconds| seconds.is_finite());
            BurstFor { per_s: burst.per_s, lasts_s }
        });
        Self { is_decimal, per_s: bound.sustained, burst }
    }
}

macro_rules! raw {
    ($($raw:ident in $whole:ident),+) => {$(
        impl From<String> for $whole {
            fn from(text: String) -> Self {
                Self::$raw(text)
            }
        }

        impl From<&str> for $whole {
            fn from(text: &str) -> Self {
                Self::$raw(text.to_owned())
            }
        }
    )+};
}
raw!(File in Source, Raw in Field, Raw in Value);

/// A number as it stands in a file.
impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Raw(number.to_string())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        u64::from(number).into()
    }
}

impl Observation {
    /// A file of a device's queue.
    pub(super) fn queue(device: &Device, file: &str, value: impl Into<Value>) -> Self {
        Self::block(device, &format!("queue/{file}"), value)
    }

    pub(super) fn block(device: &Device, file: &str, value: impl Into<Value>) -> Self {
        Self::file(format!("/sys/block/{}/{file}", device.name), value)
    }

    /// What a disk calls itself.
    pub(super) fn model(disk: &Device) -> Self {
        Self::block(disk, "device/model", disk.model.clone().unwrap_or_default())
    }

    /// What `ip -d -s link` tells of an interface.
    pub(super) fn link(interface: &Interface, field: &str, value: impl Into<Value>) -> Self {
        Self::field(format!("ip -d -s link show {}", interface.name), field, value)
    }

    /// A field of the cloud's metadata about the instance.
    pub(super) fn metadata(field: impl Into<Field>, value: impl Into<Value>) -> Self {
        Self::field(Source::Metadata, field, value)
    }

    /// A fact that the user told.
    pub(crate) fn by_user(fact: &str, value: impl Into<Value>) -> Self {
        Self::field(Source::Told, fact, value)
    }

    pub(crate) fn documented(of: impl Into<Field>, value: impl Into<Value>) -> Self {
        Self::field(Source::Documented, of, value)
    }

    pub(crate) fn object(
        kind: &'static str,
        name: &str,
        field: impl Into<Field>,
        value: impl Into<Value>,
    ) -> Self {
        Self::field(Source::Object { kind, name: name.to_owned() }, field, value)
    }

    /// An option of a mount.
    pub(super) fn mount(mount: &MountSeen, field: &str, value: impl Into<Value>) -> Self {
        let field = Field::Of { of: mount.mount_point.clone(), what: field.to_owned() };
        Self::field("/proc/self/mountinfo", field, value)
    }

    /// A file that holds one value.
    pub(crate) fn file(file: impl Into<Source>, value: impl Into<Value>) -> Self {
        Self { source: file.into(), field: None, value: value.into() }
    }

    /// A field of a file.
    pub(crate) fn field(
        file: impl Into<Source>,
        field: impl Into<Field>,
        value: impl Into<Value>,
    ) -> Self {
        Self { source: file.into(), field: Some(field.into()), value: value.into() }
    }
}
