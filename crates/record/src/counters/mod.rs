//! Kernel counters during a trial, sampled once per second: devices, CPUs, pressure, memory, NFS,
//! network interfaces.
//!
//! Counters are stored raw, as the kernel shows them, so that all iostat figures can be computed
//! later for any part of the trial. A record may have thousands of trials, so a column is stored as
//! its first value and the differences between samples.

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
/// Modes in the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal,
/// guest, `guest_nice`; the last two are included in the first two.
pub const CPU_MODES: usize = 10;
/// Counters of one operation in `/proc/self/mountstats`: operations, transmissions, major timeouts,
/// bytes sent, bytes received, milliseconds queued, milliseconds until the reply, total
/// milliseconds, errors.
pub const NFS_COUNTERS: usize = 9;
/// Counters of one connection to an NFS server, lines `xprt:` of the same file: connects, calls
/// sent, replies, replies without a call; and, summed over the calls sent, the number of unanswered
/// calls, calls in the backlog, calls waiting to be sent, and calls waiting for their reply.
pub const NFS_TRANSPORT_COUNTERS: usize = 8;

/// Samples of the kernel's counters over one trial, ramp included.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Time of each sample, in nanoseconds since the trial's `started_ns`. One per second; if the
    /// load driver reports it, also one at each edge of the measured window.
    pub at_ns: Vec<u64>,
    /// Start and end of the measured window, on the same clock. `None`: there was no window.
    pub window_ns: Option<[u64; 2]>,
    /// Devices under the target, each before those it is stacked on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceCounters>,
    /// CPU time of the whole machine by mode, in ticks; [`CPU_MODES`] has the order.
    pub cpu_ticks: Option<Box<[Series; CPU_MODES]>>,
    /// Ticks of `cpu_ticks` per second of one CPU.
    pub ticks_per_s: u32,
    /// Pressure stall information; absent if the kernel does not provide it.
    pub pressure: Pressure,
    /// Page faults and page cache; absent if `/proc/vmstat` cannot be read.
    pub memory: Option<MemoryCounters>,
    /// NFS mounts under the target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nfs: Vec<NfsCounters>,
    /// All NFS mounts of this machine together; only if one is under the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nfs_client: Option<NfsClientCounters>,
    /// CPU time used for sampling, in nanoseconds.
    pub sampler_cpu_ns: u64,
    /// Time for which the CPU quota of this process's cgroup was used up, in microseconds, a
    /// counter; absent without a quota.
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
    /// Its kind, e.g. `device mapper CRYPT (x)`, if the kernel reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// For a trial with several targets: their names, if they are on this device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// The counters of `/proc/diskstats` in their order; missing while the device does not exist.
    pub counters: Box<[Series; DISK_COUNTERS]>,
}

/// Time for which tasks waited for a resource, from `/proc/pressure`.
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

/// Totals for one resource, in microseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Stalls {
    /// At least one task waited.
    pub some_us: Series,
    /// All non-idle tasks waited.
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
    /// Number of dirty pages from which writers must wait (`nr_dirty_threshold`).
    #[serde(default)]
    pub dirty_threshold_pages: Series,
    /// File pages that were evicted and soon read again (`workingset_refault_file`), a counter.
    #[serde(default)]
    pub file_refaults: Series,
}

/// One NFS mount.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NfsCounters {
    pub mount_point: String,
    /// The mounted export: `server:/export`.
    pub source: String,
    /// The options that client and server agreed on.
    #[serde(default)]
    pub granted: NfsGranted,
    /// Connections to the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transports: Vec<NfsTransportCounters>,
    /// Operations that were used.
    pub operations: Vec<NfsOperation>,
}

/// Active options of an NFS mount that affect its cost; absent if the kernel does not show them.
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
    /// Configured number of connections; not shown if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nconnect: Option<u32>,
}

impl NfsGranted {
    /// Reads options as shown by the kernel: `rw,vers=4.1,rsize=65536,sec=krb5`.
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
    /// Credential lookups: one per call, and one more if a server rejects a credential, for example
    /// after losing a Kerberos context.
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
