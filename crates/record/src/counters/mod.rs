//! What the kernel counted during a trial, once a second: devices, CPUs, pressure, memory, NFS, network
//! interfaces.
//!
//! Counters are kept raw, as the kernel shows them, so that every figure of iostat and its kin can
//! be computed later for any stretch of the trial. A record may hold thousands of trials, so a
//! column is written as its first value and the differences from sample to sample.

mod interfaces;
mod series;

use serde::{Deserialize, Serialize};

pub use interfaces::{
    INTERFACE_COUNTERS, InterfaceCounters, PathEnd, QDISC_COUNTERS, QdiscCounters,
};
pub use series::Series;

/// Counters of one device in `/proc/diskstats`, see the kernel's
/// `Documentation/admin-guide/iostats.rst`.
pub const DISK_COUNTERS: usize = 17;
/// Modes of the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal,
/// guest, `guest_nice`; the last two are part of the first two.
pub const CPU_MODES: usize = 10;
/// Counters of one operation in `/proc/self/mountstats`: operations, transmissions, major
/// timeouts, bytes sent, bytes received, milliseconds queued, milliseconds until the reply,
/// milliseconds in all, errors.
pub const NFS_COUNTERS: usize = 9;
/// Counters of one connection to an NFS server, lines `xprt:` of the same file: times connected, calls
/// sent, replies, replies to no call; and sums over the calls sent, of how many were then unanswered,
/// in the backlog, waiting to be sent, and waiting for their reply.
pub const NFS_TRANSPORT_COUNTERS: usize = 8;

/// Samples of the kernel's counters over one trial, ramp included.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// When each sample was taken, in nanoseconds since the trial's `started_ns`. One per second;
    /// where the load driver tells, one exactly at each edge of the measured window as well.
    pub at_ns: Vec<u64>,
    /// When the measured window opened and closed, on the same clock. `None`: there was none.
    pub window_ns: Option<[u64; 2]>,
    /// Devices under the target, each above those it lies on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceCounters>,
    /// CPU time of the whole machine by mode, in ticks; [`CPU_MODES`] has the order.
    pub cpu_ticks: Option<Box<[Series; CPU_MODES]>>,
    /// Ticks of `cpu_ticks` in a second of one CPU.
    pub ticks_per_s: u32,
    /// Pressure stall information; absent where the kernel has none.
    pub pressure: Pressure,
    /// Page faults and page cache; absent where `/proc/vmstat` cannot be read.
    pub memory: Option<MemoryCounters>,
    /// NFS mounts under the target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nfs: Vec<NfsCounters>,
    /// All NFS mounts of this machine together; only where there is one under the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nfs_client: Option<NfsClientCounters>,
    /// CPU time that taking the samples cost, in nanoseconds.
    pub sampler_cpu_ns: u64,
    /// Time in which the control group of this process had used up its CPU quota, in microseconds,
    /// a counter; absent where no quota is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_us: Option<Series>,
    /// Interfaces of a network path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceCounters>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DeviceCounters {
    /// The kernel's name, e.g. `nvme0n1p2`.
    pub name: String,
    /// What it is, e.g. `device mapper CRYPT (x)`, where the kernel says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Of a trial with several targets: what jobs call those that lie on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// The counters of `/proc/diskstats` in their order; missing while the device is gone.
    pub counters: Box<[Series; DISK_COUNTERS]>,
}

/// Time in which work waited for a resource, from `/proc/pressure`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pressure {
    /// Waiting for a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Stalls>,
    /// Waiting for I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io: Option<Stalls>,
    /// Waiting for memory to be reclaimed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Stalls>,
}

/// Totals of one resource, in microseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Stalls {
    /// At least one task waited.
    pub some_us: Series,
    /// All tasks that were not idle waited.
    pub full_us: Series,
}

/// Page faults and page cache of the whole machine, from `/proc/vmstat`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MemoryCounters {
    /// Size of a page.
    pub page_bytes: u32,
    /// Faults that waited for a device (`pgmajfault`), a counter.
    pub major_faults: Series,
    /// Pages waiting to be written (`nr_dirty`).
    pub dirty_pages: Series,
    /// Pages being written (`nr_writeback`).
    pub writeback_pages: Series,
    /// Pages of files and block devices in memory (`nr_file_pages`).
    pub cached_pages: Series,
    /// Pages waiting to be written at which writers must wait (`nr_dirty_threshold`).
    #[serde(default)]
    pub dirty_threshold_pages: Series,
    /// Pages of files that were thrown out of memory and soon read again
    /// (`workingset_refault_file`), a counter.
    #[serde(default)]
    pub file_refaults: Series,
}

/// One NFS mount.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NfsCounters {
    pub mount_point: String,
    /// What is mounted: `server:/export`.
    pub source: String,
    /// What client and server agreed on.
    #[serde(default)]
    pub granted: NfsGranted,
    /// Connections to the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transports: Vec<NfsTransportCounters>,
    /// Operations that were ever used.
    pub operations: Vec<NfsOperation>,
}

/// The options in force on an NFS mount that change what it costs; those that the kernel does not
/// show are absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NfsGranted {
    /// Protocol version, e.g. `4.1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vers: Option<String>,
    /// Security mode, e.g. `krb5p`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sec: Option<String>,
    /// Encryption of the connection, e.g. `tls`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xprtsec: Option<String>,
    /// Bytes per READ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rsize_bytes: Option<u64>,
    /// Bytes per WRITE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wsize_bytes: Option<u64>,
    /// Connections that the client was to make; not shown where that is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nconnect: Option<u32>,
}

impl NfsGranted {
    /// Reads the options as the kernel shows them: `rw,vers=4.1,rsize=65536,sec=krb5`.
    pub fn of(options: &str) -> Self {
        let pairs = || options.split(',').filter_map(|option| option.split_once('='));
        let value = |name: &str| pairs().find_map(|(key, value)| (key == name).then_some(value));
        let bytes = |name: &str| value(name)?.parse().ok();
        Self {
            vers: value("vers").map(str::to_owned),
            sec: value("sec").map(str::to_owned),
            xprtsec: value("xprtsec").map(str::to_owned),
            rsize_bytes: bytes("rsize"),
            wsize_bytes: bytes("wsize"),
            nconnect: value("nconnect").and_then(|count| count.parse().ok()),
        }
    }
}

/// One connection to an NFS server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NfsTransportCounters {
    /// Its protocol, e.g. `tcp`.
    pub protocol: String,
    /// Its counters; [`NFS_TRANSPORT_COUNTERS`] has the order.
    pub counters: Box<[Series; NFS_TRANSPORT_COUNTERS]>,
}

/// The NFS client of this machine, the line `rpc` of `/proc/net/rpc/nfs`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NfsClientCounters {
    pub calls: Series,
    /// Calls sent again.
    pub retransmissions: Series,
    /// Credentials looked at: once for each call, and again where a server refused one, as it does
    /// when it has lost a Kerberos context.
    pub credentials: Series,
}

/// One kind of NFS operation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NfsOperation {
    /// Its name, e.g. `READ`.
    pub name: String,
    /// Its counters; [`NFS_COUNTERS`] has the order.
    pub counters: Box<[Series; NFS_COUNTERS]>,
}
