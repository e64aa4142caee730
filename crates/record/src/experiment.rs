//! The head of a record: what was run, where, with which seed (`experiment.json`).

use iotax_experiment::{CloudChoice, KnownLimit, Spec};
use serde::{Deserialize, Serialize};

use crate::host::HostRecord;
use crate::placed::Placed;
use crate::store::Record;
use crate::trial::{FioLatency, Trial};

/// Version of the record format that this program writes.
pub const FORMAT: u32 = 3;

/// The head of a record; written before the first trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentHead {
    /// Version of the record format.
    pub format: u32,
    /// Unique identifier ([`crate::stable_id`]); records of format 1 have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Version of iotax that wrote it.
    pub iotax_version: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// The command line as typed.
    pub command: Vec<String>,
    /// The resolved specification, seed included.
    pub spec: Spec,
    /// The machines that took part; unknown for results of other tools.
    pub hosts: Vec<HostRecord>,
    /// The observed target of each arm, in the order of the spec's arms.
    pub sites: Vec<Site>,
    /// The cloud according to the spec and to its metadata service.
    #[serde(default, skip_serializing_if = "CloudChoice::is_empty")]
    pub cloud: CloudChoice,
}

impl Record for ExperimentHead {
    type Line = Trial;
    const HEAD: &'static str = "experiment.json";
    const LINES: &'static str = "trials.jsonl";
    const LINE: &'static str = "trial";
    const FORMAT: u32 = FORMAT;
}

impl ExperimentHead {
    /// The machine on which an arm was measured; the first one if the record does not say.
    pub fn host(&self, arm: usize) -> &HostRecord {
        HostRecord::of(&self.hosts, self.sites.get(arm).map_or(0, |site| site.host))
    }
}

/// The observed target on this machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Site {
    /// `directory`, `file`, `block device` or `vdisk`.
    pub kind: String,
    /// Index in the list of hosts.
    #[serde(default)]
    pub host: usize,
    /// The target's text, paths included.
    pub target: String,
    /// Its file system, e.g. `ext4`, `tmpfs`.
    pub file_system: Option<String>,
    /// Its block device, e.g. `vda`.
    pub device: Option<String>,
    /// Model or kind of that device.
    pub device_model: Option<String>,
    /// Whether the page cache was bypassed at the bottom; `None` if there is none.
    pub direct: Option<bool>,
    /// Whether its reads are in this process's counter of device reads.
    pub has_device: bool,
    /// The smallest supported I/O that bypasses the page cache, in bytes, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_io_bytes: Option<u32>,
    /// Arms with the same value share the same storage.
    pub storage_id: String,
    /// Identifier of its device, the same in every record ([`crate::stable_id`] of its serial
    /// number or of its file system's UUID); `None` if there is neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
    /// Its location in Kubernetes, if it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placed: Option<Placed>,
    /// For saved results: the kind of their mean latencies, if it is the same for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_latency: Option<FioLatency>,
    /// Facts for users, one line each.
    pub notes: Vec<String>,
    /// Caches of its layers that could answer instead of the layers below, for users.
    #[serde(default)]
    pub caches: Vec<String>,
    /// Limits that were read on the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownLimit>,
    /// For an arm with several targets: each of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<NamedSite>,
}

/// One of several targets of an arm.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NamedSite {
    /// Its name in the jobs.
    pub name: String,
    /// The observed target.
    pub site: Site,
}
