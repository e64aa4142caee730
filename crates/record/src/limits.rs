//! The record of a search for caps: `limits.json`; one line per probe, `probes.jsonl`; and what was
//! concluded, `found.json`.

use std::fs::File;
use std::io::Write as _;

use iotax_spec::{Limits, Probe};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cloud::CloudInstance;
use crate::error::Error;
use crate::experiment::{Environment, Site};
use crate::gap::{Gap, gap};
use crate::location::Location;
use crate::machine::Machine;
use crate::store::{
    End, appended, read_json, read_json_if_there, read_lines, write_head, write_json,
};
use crate::trial::LoadRecord;

/// Version of this format that this program writes.
pub const LIMITS_FORMAT: u32 = 1;

const HEAD: &str = "limits.json";
const PROBES: &str = "probes.jsonl";
const FOUND: &str = "found.json";
const END: &str = "end.json";

/// The head of the record; written before the first probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitsHead {
    /// Version of the format.
    pub format: u32,
    /// Version of iotax that wrote it.
    pub iotax_version: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// The command line as typed.
    pub command: Vec<String>,
    /// What was asked.
    pub limits: Limits,
    /// The machine.
    pub environment: Environment,
    /// What was seen under the targets that are paths, before the first probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// What each target turned out to be.
    pub sites: Vec<Site>,
    /// The VM, if the cloud's metadata service was asked and told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<CloudInstance>,
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

/// Writes the record. Each probe is on disk when [`LimitsWriter::append`] returns.
#[derive(Debug)]
pub struct LimitsWriter {
    dir: Location,
    probes: File,
}

impl LimitsWriter {
    /// Starts a record in `dir`, which is created and must not hold one already.
    pub fn create(dir: impl Into<Location>, head: &LimitsHead) -> Result<Self, Error> {
        let dir = dir.into();
        write_head(&dir.join(HEAD), head)?;
        let probes = appended(&dir.join(PROBES))?;
        Ok(Self { dir, probes })
    }

    /// Adds one probe.
    pub fn append(&mut self, probe: &ProbeRecord) -> Result<(), Error> {
        let mut line = serde_json::to_vec(probe).expect("a probe is always JSON");
        line.push(b'\n');
        self.probes
            .write_all(&line)
            .and_then(|()| self.probes.sync_data())
            .map_err(|source| Error::write(self.dir.join(PROBES).shown(), source))
    }

    /// Adds what was concluded: later versions may search in another way, and cannot follow these
    /// probes then.
    pub fn conclude(&self, found: &impl Serialize) -> Result<(), Error> {
        write_json(&self.dir.join(FOUND), found)
    }

    /// Marks the record as complete.
    pub fn finish(&self, end: &End) -> Result<(), Error> {
        write_json(&self.dir.join(END), end)
    }
}

/// A record opened for reading.
#[derive(Debug)]
pub struct LimitsReader {
    /// What was asked, and where.
    pub head: LimitsHead,
    /// How it ended; `None` if it was cut off.
    pub end: Option<End>,
    dir: Location,
}

impl LimitsReader {
    /// Whether `dir` holds a search for caps.
    pub fn is_in(dir: impl Into<Location>) -> bool {
        dir.into().join(HEAD).at().is_file()
    }

    /// Opens the record in `dir`.
    pub fn open(dir: impl Into<Location>) -> Result<Self, Error> {
        let dir = dir.into();
        let head: LimitsHead = read_json(&dir.join(HEAD))?;
        if head.format > LIMITS_FORMAT {
            let path = dir.join(HEAD).shown().to_owned();
            return Err(Error::Newer { path, format: head.format, known: LIMITS_FORMAT });
        }
        let end = read_json_if_there(&dir.join(END))?;
        Ok(Self { head, end, dir })
    }

    /// What was concluded when it was made, if it came to that.
    pub fn found<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        read_json_if_there(&self.dir.join(FOUND))
    }

    /// What it lacks of what was measured.
    ///
    /// # Errors
    /// If its probes cannot be read.
    pub fn gap(&self) -> Result<Option<Gap>, Error> {
        gap(&self.dir.join(PROBES), self.end.as_ref(), "probe")
    }

    /// The probes in the order in which they were made.
    pub fn probes(
        &self,
    ) -> Result<impl Iterator<Item = Result<ProbeRecord, Error>> + use<>, Error> {
        read_lines(&self.dir.join(PROBES))
    }
}
