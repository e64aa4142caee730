//! The members of fio's JSON that are read; all others are passed over without being kept.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, IgnoredAny, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};

use super::document::Document;
use crate::importers::error::Error;
use crate::importers::number::Number;

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object, as fio writes it")]
pub(super) struct Root {
    #[serde(rename = "fio version")]
    pub version: Option<String>,
    pub timestamp: Number,
    pub timestamp_ms: Number,
    #[serde(rename = "global options")]
    pub global: Global,
    pub jobs: Option<Vec<RawJob>>,
    pub client_stats: Option<Vec<RawJob>>,
    /// Of a run of iotax, which prints this shape, too.
    pub iotax: Option<RawRun>,
}

impl RawRun {
    /// Which run it is: its own identifier, or that of a phase.
    pub(super) fn any_id(&self) -> Option<String> {
        let of_phase = || self.phases.iter().find_map(|phase| phase.id.clone());
        self.id.clone().or_else(of_phase)
    }
}

/// What iotax adds to the shape: which jobs are of which phase.
#[derive(Deserialize, Default)]
#[serde(default, expecting = "what iotax adds")]
pub(super) struct RawRun {
    pub id: Option<String>,
    pub workload: String,
    pub arms: Vec<RawArm>,
    pub phases: Vec<RawRun>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an arm")]
pub(super) struct RawArm {
    pub other_jobs: Vec<IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "a job")]
pub(super) struct RawJob {
    pub jobname: String,
    pub groupid: Number,
    pub error: Number,
    pub total_err: Number,
    pub elapsed: Number,
    pub job_start: Number,
    /// Milliseconds, summed over threads.
    pub job_runtime: Number,
    /// Percent of `job_runtime`.
    pub usr_cpu: Number,
    pub sys_cpu: Number,
    pub ctx: Number,
    pub majf: Number,
    pub minf: Number,
    pub hostname: String,
    pub port: Number,
    #[serde(rename = "job options")]
    pub options: Options,
    pub read: RawDirection,
    pub write: RawDirection,
    pub trim: RawDirection,
    pub sync: RawDirection,
    /// With `unified_rw_reporting`, reads and writes in one.
    pub mixed: RawDirection,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "the results of one direction")]
pub(super) struct RawDirection {
    pub io_bytes: Number,
    pub io_kbytes: Number,
    pub iops: Number,
    pub runtime: Number,
    pub total_ios: Number,
    pub short_ios: Number,
    pub clat_ns: Option<RawLatency>,
    pub clat: Option<RawLatency>,
    pub lat_ns: Option<RawLatency>,
    pub lat: Option<RawLatency>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "latencies")]
pub(super) struct RawLatency {
    pub min: Number,
    pub max: Number,
    pub mean: Number,
    pub stddev: Number,
    #[serde(rename = "N")]
    pub samples: Number,
    pub percentile: Pairs<Number>,
    pub bins: Pairs<Number>,
}

/// Options that all jobs have: of one fio, or from 3.39 on of each server of a client.
#[derive(Default)]
pub(super) struct Global(Vec<Options>);

impl Global {
    /// Those of the server that a job ran on.
    pub(super) fn of(&self, job: &RawJob) -> &[(String, String)] {
        let is_its_own = |options: &&Options| {
            let says = |name: &str, value: &str| {
                options.0.iter().all(|(key, known)| key != name || known == value)
            };
            let port = job.port.whole().map(|port| port.to_string());
            says("hostname", &job.hostname) && port.is_none_or(|port| says("port", &port))
        };
        let all = &self.0;
        let found = all.iter().find(is_its_own).or(if all.len() == 1 { all.first() } else { None });
        found.map_or(&[], |options| &options.0)
    }
}

struct GlobalVisitor;

impl<'de> de::Visitor<'de> for GlobalVisitor {
    type Value = Global;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the options of all jobs")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Global, A::Error> {
        let one = Options::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(Global(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut servers: A) -> Result<Global, A::Error> {
        let mut all = Vec::new();
        while let Some(options) = servers.next_element()? {
            all.push(options);
        }
        Ok(Global(all))
    }
}

impl<'de> Deserialize<'de> for Global {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(GlobalVisitor)
    }
}

/// Names and values of options, in their order.
#[derive(Default)]
pub(super) struct Options(pub Vec<(String, String)>);

/// A value of an option: fio writes texts, and a number for a server's port.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(match Scalar::deserialize(from)? {
            Scalar::Text(text) => text,
            Scalar::Number(number) => number.to_string(),
            Scalar::Switch(switch) => u8::from(switch).to_string(),
            Scalar::Nothing => String::new(),
        }))
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a number")]
enum Scalar {
    Text(String),
    Number(serde_json::Number),
    Switch(bool),
    Nothing,
}

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Pairs(pairs) = Pairs::<Text>::deserialize(from)?;
        Ok(Self(pairs.into_iter().map(|(name, Text(value))| (name, value)).collect()))
    }
}

/// An object as it is written: fio repeats keys (`"0.00"` in unused places of `percentile`).
pub(super) struct Pairs<T>(pub Vec<(String, T)>);

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

struct PairsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(PairsVisitor(PhantomData))
    }
}

pub(super) fn parse(document: &Document<'_>) -> Result<Root, Error> {
    serde_json::from_str(&document.json).map_err(|error| {
        let said = error.to_string();
        // The parser counts lines from the start of the document and says so at the end.
        let why = said.rsplit_once(" at line ").map_or(said.as_str(), |(why, _)| why);
        let line = document.line + error.line().saturating_sub(1);
        Error::Json { line, column: error.column(), why: why.to_owned() }
    })
}
