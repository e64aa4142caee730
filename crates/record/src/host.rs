//! The machines that took part in an experiment.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::cloud::CloudInstance;
use crate::machine::Environment;
use crate::machine::Machine;
use crate::stable_id::stable_id;

/// A machine that took part.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HostRecord {
    /// The same in every record of this machine ([`crate::stable_id`]); `None` if nothing tells it
    /// from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How its trials were performed.
    pub role: HostRole,
    pub environment: Environment,
    /// CPU time the load generator itself needs per I/O, in nanoseconds, measured at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_ns_per_io: Option<f64>,
    /// Whether `io_uring` may be used there: sandboxes forbid it, and direct I/O is driven with
    /// `libaio` then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_uring: Option<bool>,
    /// What was seen under the targets that are paths, before the first trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Box<Machine>>,
    /// The VM, if the cloud's metadata service was asked and told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<CloudInstance>,
}

impl HostRecord {
    /// Of those that took part, the one at this place; of records that say nothing of it, the first.
    pub(crate) fn of(hosts: &[Self], place: usize) -> &Self {
        static UNKNOWN: LazyLock<HostRecord> = LazyLock::new(HostRecord::default);
        hosts.get(place).or(hosts.first()).unwrap_or(&UNKNOWN)
    }
}

/// The identifier of what these hosts began at this time.
pub fn record_id(hosts: &[HostRecord], started: &str) -> String {
    let hosts = hosts.iter().map(|host| host.id.as_deref().unwrap_or_default());
    stable_id("record", &hosts.chain([started]).collect::<Vec<_>>())
}

/// How the trials of a host were performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostRole {
    /// By the iotax that wrote the record.
    #[default]
    Local,
    /// By an agent that it spoke to.
    Agent,
}
