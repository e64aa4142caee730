//! What was run, where, with which seed: `experiment.json`.

use iotax_spec::Spec;
use serde::{Deserialize, Serialize};

use crate::cloud::CloudInstance;
use crate::machine::Machine;

/// Version of the record format that this program writes.
pub const FORMAT: u32 = 1;

/// The head of a record; written before the first trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Version of the record format.
    pub format: u32,
    /// Version of iotax that wrote it.
    pub iotax_version: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// The command line as typed.
    pub command: Vec<String>,
    /// The resolved specification, seed included.
    pub spec: Spec,
    /// The machine.
    pub environment: Environment,
    /// What was seen under the targets that are paths, before the first trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Box<Machine>>,
    /// What each arm's target turned out to be, in the order of the spec's arms.
    pub sites: Vec<Site>,
    /// CPU time the load generator itself needs per I/O, in nanoseconds, measured at the start.
    pub generator_ns_per_io: f64,
    /// The VM, if the cloud's metadata service was asked and told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<CloudInstance>,
}

/// The machine an experiment ran on. `None`: this system does not tell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Environment {
    /// Host name.
    pub host: Option<String>,
    /// Operating system, e.g. `Debian GNU/Linux 12 (bookworm)`.
    pub os: Option<String>,
    /// Kernel release and build.
    pub kernel: Option<String>,
    /// CPU model.
    pub cpu_model: Option<String>,
    /// CPUs online.
    pub cpus: u32,
    /// Whether the CPU has AES instructions.
    pub cpu_aes: Option<bool>,
    /// Frequency governor.
    pub cpu_governor: Option<String>,
    /// Memory in bytes.
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

/// What a target turned out to be on this machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Site {
    /// `directory`, `file`, `block device` or `vdisk`.
    pub kind: String,
    /// The target's text, paths included.
    pub target: String,
    /// File system it lies on, e.g. `ext4`, `tmpfs`.
    pub file_system: Option<String>,
    /// Block device it lies on, e.g. `vda`.
    pub device: Option<String>,
    /// Model or kind of that device.
    pub device_model: Option<String>,
    /// Whether the page cache was bypassed at the bottom; `None` where there is none to bypass.
    pub direct: Option<bool>,
    /// Whether reads of it show up in this process's device-read counter.
    pub has_device: bool,
    /// Arms with the same value share the same storage.
    pub storage_id: String,
    /// Facts worth a line, for people.
    pub notes: Vec<String>,
    /// Caches of its layers that could answer instead of what is below them, for people.
    #[serde(default)]
    pub caches: Vec<String>,
}
