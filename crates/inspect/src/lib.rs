//! Reads this machine: CPU, memory, kernel, the device under a path.
//!
//! This crate changes nothing. It opens files for reading only. Its one measurement
//! ([`memory_copy_bytes_per_s`]) stays in this process's memory, and the only server that it asks
//! ([`cloud_instance`]) is the cloud's metadata service. Facts that a system does not report are
//! `None`, never a guess. Functions that take `&str` parse the text of `/proc` and `/sys`, so every
//! parser is tested on fixtures of other machines.
//!
//! | module | reads |
//! |---|---|
//! | `machine` | host, operating system, CPU, hypervisor: the record's `Environment` |
//! | `cgroup` | the control groups of this process, and how many CPUs it may use |
//! | `cloud` | which VM of which cloud this is |
//! | `mounts` | which file system covers a path |
//! | `block` | a block device: model, size, users |
//! | `site` | all of the above for one path |
//! | `stack` | the layers under a path, all the way down: mounts and devices |
//! | `root` | another root directory, and the names of paths there |
//! | `probe` | everything that `iotax doctor` uses: the record's `Machine` |
//! | `programs` | which programs use CPU and I/O |
//! | `counters` | kernel counters: devices, CPUs, pressure, memory, NFS, network interfaces |
#![deny(unsafe_code)]

mod block;
mod cgroup;
mod cloud;
mod counters;
mod deadline;
mod error;
mod interfaces;
mod machine;
mod mounts;
mod probe;
mod programs;
mod root;
mod secrets;
mod site;
mod stack;

pub use crate::cgroup::io_limits;
pub use block::{BlockDevice, DeviceNumber};
pub use cgroup::{CgroupVersion, Hierarchy, hierarchy};
pub use cloud::{DISK_LINKS, METADATA_ADDRESS, cloud_disk, cloud_instance, cloud_instance_at};
pub use counters::{
    InterfaceMeter, InterfaceStats, Memory, Meters, NfsClient, NfsMount, NfsTransportStats,
    QdiscStats, Reading, Stall, cpu_ticks, disk_counters, memory, nfs_client, nfs_mounts, stall,
};
pub use error::Error;
pub use interfaces::encrypting_interfaces;

pub use machine::{
    MachineSize, available_memory_bytes, environment, kernel_release, machine_size,
    memory_copy_bytes_per_s,
};
pub use mounts::{Mount, mounts, parse_mountinfo};
pub use probe::{NetworkSubject, ProbeOptions, listening, machine, vdevs};
pub use programs::Programs;
pub use root::enter;

pub use site::{Facts, SiteKind, disk_id, host_id, site};
pub use stack::{Storage, UnderlyingDevice, storage};
