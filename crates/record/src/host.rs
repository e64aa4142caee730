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
    /// Identifier, the same in every record of this machine ([`crate::stable_id`]); `None` if the
    /// machine has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How its trials were run.
    pub role: HostRole,
    pub environment: Environment,
    /// CPU time that the load generator itself needs per I/O, in nanoseconds, measured at the
    /// start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_ns_per_io: Option<f64>,
    /// Whether `io_uring` is allowed there. Sandboxes forbid it, and iotax then uses `libaio` for
    /// direct I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_uring: Option<bool>,
    /// The layers under targets that are paths, observed before the first trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Box<Machine>>,
    /// The VM, if the cloud's metadata service was asked and answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<CloudInstance>,
}

impl HostRecord {
    /// The host at this index; the first one if a record does not say.
    pub(crate) fn of(hosts: &[Self], place: usize) -> &Self {
        static UNKNOWN: LazyLock<HostRecord> = LazyLock::new(HostRecord::default);
        hosts.get(place).or(hosts.first()).unwrap_or(&UNKNOWN)
    }
}

/// Identifier of a record that these hosts started at this time.
pub fn record_id(hosts: &[HostRecord], started: &str) -> String {
    let hosts = hosts.iter().map(|host| host.id.as_deref().unwrap_or_default());
    stable_id("record", &hosts.chain([started]).collect::<Vec<_>>())
}

/// How the trials of a host were run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostRole {
    /// By the iotax that wrote the record.
    #[default]
    Local,
    /// By an agent.
    Agent,
}
