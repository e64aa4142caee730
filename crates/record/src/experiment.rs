//! What was run, where, with which seed: `experiment.json`.

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
    /// Its own in all records ([`crate::stable_id`]); those of format 1 have none.
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
    /// The machines that took part; none of those of other tools' results is known.
    pub hosts: Vec<HostRecord>,
    /// What each arm's target turned out to be, in the order of the spec's arms.
    pub sites: Vec<Site>,
    /// What the spec says of the cloud, and what the cloud tells of it.
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
    /// The machine on which an arm was measured; of an arm that the record does not know, the first.
    pub fn host(&self, arm: usize) -> &HostRecord {
        HostRecord::of(&self.hosts, self.sites.get(arm).map_or(0, |site| site.host))
    }
}

/// What a target turned out to be on this machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Site {
    /// `directory`, `file`, `block device` or `vdisk`.
    pub kind: String,
    /// Its place in the list of hosts.
    #[serde(default)]
    pub host: usize,
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
    /// The smallest I/O past the page cache that it takes, in bytes, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_io_bytes: Option<u32>,
    /// Arms with the same value share the same storage.
    pub storage_id: String,
    /// The device that it lies on, the same in every record of it ([`crate::stable_id`] of its serial
    /// number or of its file system's UUID); `None` if nothing tells it from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
    /// Where in Kubernetes it is, if it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placed: Option<Placed>,
    /// Of saved results: what their mean latencies are, where all say the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_latency: Option<FioLatency>,
    /// Facts worth a line, for people.
    pub notes: Vec<String>,
    /// Caches of its layers that could answer instead of what is below them, for people.
    #[serde(default)]
    pub caches: Vec<String>,
    /// Limits on it that were read on the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownLimit>,
    /// Of an arm with several targets: each of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<NamedSite>,
}

/// One of several targets of an arm.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NamedSite {
    /// What jobs call it.
    pub name: String,
    /// What it turned out to be.
    pub site: Site,
}
