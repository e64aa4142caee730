//! The record of a search for caps: `limits.json`; one line per probe, `probes.jsonl`; and what was
//! concluded, `found.json`.

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
    /// Its own in all records ([`crate::stable_id`]); those of format 1 have none.
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
    /// The machine: one.
    pub hosts: Vec<HostRecord>,
    /// What each target turned out to be.
    pub sites: Vec<Site>,
    /// What is known of the targets since they were opened.
    pub opened: Opened,
}

/// One probe and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// What was measured.
    pub probe: Probe,
    /// Its start, in nanoseconds after the start of the search.
    pub started_ns: u64,
    /// One per place of the probe.
    pub loads: Vec<ProbeLoad>,
}

/// What came of a probe on one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeLoad {
    /// Measured.
    Done(Box<LoadRecord>),
    /// Nothing was measured; why, for people.
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
    /// Adds what was concluded: later versions may search in another way, and cannot follow these
    /// probes then.
    pub fn conclude(&self, found: &impl Serialize) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(found).expect("types of records are always JSON");
        self.add(FOUND, text)
    }
}

impl Reader<SearchHead> {
    /// What was concluded when it was made, if it came to that; `earlier` makes that of an earlier
    /// format one of today's.
    pub fn found<T: DeserializeOwned>(
        &self,
        earlier: impl FnOnce(Value) -> Value,
    ) -> Result<Option<T>, Error> {
        self.added(FOUND, |text| serde_json::from_value(earlier(serde_json::from_slice(text)?)))
    }
}
