//! A machine: its processor, memory and system.

use serde::{Deserialize, Serialize};

/// The machine an experiment ran on. `None`: this system does not tell.
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
