//! The record of a search for caps: `limits.json`; `probes.jsonl` with a line per probe; and
//! `found.json` with the conclusions.

use iotax_experiment::{Opened, Probe, Search};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::experiment::Site;
use crate::host::HostRecord;
use crate::store::{Reader, Record, Writer};
use crate::trial::LoadRecord;

/// Version of this format that this program writes.
pub const SEARCH_FORMAT: u32 = 3;

const FOUND: &str = "found.json";

/// The head of the record; written before the first probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchHead {
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
    #[serde(rename = "limits")]
    pub search: Search,
    /// The machine; only one.
    pub hosts: Vec<HostRecord>,
    /// The observed targets.
    pub sites: Vec<Site>,
    /// Facts about the targets from opening them.
    pub opened: Opened,
}

/// A probe and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// The probe that was measured.
    pub probe: Probe,
    /// Its start, in nanoseconds after the start of the search.
    pub started_ns: u64,
    /// One per target of the probe.
    pub loads: Vec<ProbeLoad>,
}

/// The result of a probe on one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeLoad {
    /// Measured.
    Done(Box<LoadRecord>),
    /// Nothing was measured, with the reason for users.
    Failed(String),
}

impl Record for SearchHead {
    type Line = ProbeRecord;
    const HEAD: &'static str = "limits.json";
    const LINES: &'static str = "probes.jsonl";
    const LINE: &'static str = "probe";
    const FORMAT: u32 = SEARCH_FORMAT;
}

impl SearchHead {
    pub fn host(&self) -> &HostRecord {
        HostRecord::of(&self.hosts, 0)
    }
}

impl Writer<SearchHead> {
    /// Adds the conclusions. A later version may search in another way, so that it cannot follow
    /// these probes.
    pub fn conclude(&self, found: &impl Serialize) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(found).expect("record types always serialize to JSON");
        self.add(FOUND, text)
    }
}

impl Reader<SearchHead> {
    /// The conclusions of the search, if there are any; `earlier` converts those of an earlier
    /// format.
    pub fn found<T: DeserializeOwned>(
        &self,
        earlier: impl FnOnce(Value) -> Value,
    ) -> Result<Option<T>, Error> {
        self.added(FOUND, |text| serde_json::from_value(earlier(serde_json::from_slice(text)?)))
    }
}
