//! Memory, confidential virtual machines, kernel settings.

use serde::{Deserialize, Serialize};

use super::nfs::NfsSeen;

/// Memory, page cache and swap of the whole machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemorySeen {
    /// `MemAvailable` of `/proc/meminfo`.
    pub available_bytes: Option<u64>,
    /// When writers are throttled: `/proc/sys/vm/dirty_*`.
    pub writeback: WritebackSettings,
    /// Bytes waiting to be written: `nr_dirty` of `/proc/vmstat`.
    pub dirty_bytes: Option<u64>,
    /// Bytes being written: `nr_writeback`.
    pub being_written_bytes: Option<u64>,
    /// Dirty bytes from which writers wait: `nr_dirty_threshold`.
    pub dirty_threshold_bytes: Option<u64>,
    /// File pages evicted and read again since boot: `workingset_refault_file`.
    pub file_refaults: Option<u64>,
    /// `/proc/pressure/memory`.
    pub pressure: Option<PressureAverages>,
    /// `/proc/pressure/io`.
    pub io_pressure: Option<PressureAverages>,
    /// `/proc/swaps`.
    pub swaps: Vec<Swap>,
}

/// Shares of time for which tasks waited, in percent, over ten seconds and five minutes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PressureAverages {
    /// `some avg10`.
    pub some_10s_percent: f64,
    /// `some avg300`.
    pub some_300s_percent: f64,
    /// `full avg10`.
    pub full_10s_percent: f64,
    /// `full avg300`.
    pub full_300s_percent: f64,
}

/// `/proc/sys/vm/dirty_*`; if the bytes are 0, the ratio applies.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WritebackSettings {
    /// `dirty_ratio`, in percent of available memory.
    pub dirty_percent: Option<u64>,
    /// `dirty_bytes`.
    pub dirty_bytes: Option<u64>,
    /// `dirty_background_ratio`, in percent of available memory.
    pub background_percent: Option<u64>,
    /// `dirty_background_bytes`.
    pub background_bytes: Option<u64>,
    /// `dirty_expire_centisecs`.
    pub expire_centiseconds: Option<u64>,
}

/// One line of `/proc/swaps`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Swap {
    /// Device or file.
    pub path: String,
    pub size_bytes: u64,
    /// In use.
    pub used_bytes: u64,
}

/// Memory encryption that hides the memory of this machine from its host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Confidential {
    /// `SEV-SNP`, `SEV-ES`, `SEV`, `TDX`; `None` if none was detected.
    pub kind: Option<String>,
    /// Where it was detected: a file or the cloud's metadata.
    pub seen_in: Option<String>,
    /// The pool of bounce buffers.
    pub swiotlb: Option<Swiotlb>,
    /// Lines of the kernel log about bounce buffers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
}

/// `/sys/kernel/debug/swiotlb/`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Swiotlb {
    /// `io_tlb_nslabs` of 2 KiB each, in bytes.
    pub size_bytes: u64,
    /// `io_tlb_used`, in bytes.
    pub used_bytes: u64,
    /// `io_tlb_used_hiwater`, in bytes.
    pub most_used_bytes: Option<u64>,
}

/// Settings of modules: `/sys/module/*/parameters`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelSettings {
    /// `nvme_core/parameters/io_timeout`, in seconds.
    pub nvme_timeout_s: Option<u64>,
    /// `nvme_core/parameters/default_ps_max_latency_us`; 0 is off.
    pub nvme_sleep_latency_us: Option<u64>,
    /// `dm_crypt/parameters/max_read_size`; 0 is the kernel's default.
    pub crypt_max_read_bytes: Option<u64>,
    /// `dm_crypt/parameters/max_write_size`.
    pub crypt_max_write_bytes: Option<u64>,
    /// `/proc/sys/sunrpc/tcp_max_slot_table_entries`: calls in flight on a connection up to NFS
    /// 4.0.
    pub nfs_most_slots: Option<u64>,
    /// `nfs/parameters/max_session_slots`: calls in flight of a session from NFS 4.1 on.
    pub nfs_session_slots: Option<u64>,
    /// Driver that the kernel prefers for `xts(aes)`: `/proc/crypto`.
    pub xts_driver: Option<String>,
}

impl KernelSettings {
    /// Maximum NFS calls in flight on a connection of a mount, and the file with the limit: from
    /// NFS 4.1 on, the slots of a session, which a connection can use fully.
    pub fn nfs_slots(&self, nfs: &NfsSeen) -> Option<(u64, &'static str)> {
        let has_sessions = matches!(nfs.option("vers"), Some("4.1" | "4.2"));
        let (slots, setting) = if has_sessions {
            (self.nfs_session_slots, "/sys/module/nfs/parameters/max_session_slots")
        } else {
            (self.nfs_most_slots, "/proc/sys/sunrpc/tcp_max_slot_table_entries")
        };
        slots.filter(|slots| *slots > 0).map(|slots| (slots, setting))
    }
}

/// Distinguishes old problems from current ones, because counters run from boot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counting {
    /// Seconds since boot: `/proc/uptime`.
    pub up_s: Option<u64>,
    /// How long counters were watched, in milliseconds; `None` if they were read only once.
    pub watched_ms: Option<u64>,
    /// The increase of [`super::MemorySeen::file_refaults`] in that time.
    pub more_file_refaults: Option<u64>,
}

/// The machine an experiment ran on. `None`: not reported by this system.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Environment {
    /// Host name.
    pub host: Option<String>,
    /// Operating system, e.g. `Debian GNU/Linux 12 (bookworm)`.
    pub os: Option<String>,
    /// Kernel release and build.
    pub kernel: Option<String>,
    pub cpu_model: Option<String>,
    /// CPUs online.
    pub cpus: u32,
    /// Whether the CPU has AES instructions.
    pub cpu_aes: Option<bool>,
    /// Frequency governor.
    pub cpu_governor: Option<String>,
    pub memory_bytes: Option<u64>,
    /// Speed of copying memory on one CPU, in bytes per second, measured at the start.
    pub memory_copy_bytes_per_s: Option<f64>,
    /// Virtualisation, e.g. `kvm`.
    pub hypervisor: Option<String>,
    /// Load average over one minute at the start.
    pub load_average: Option<f64>,
    /// CPU limit of this process's cgroup, in CPUs.
    pub cgroup_cpus: Option<f64>,
}
