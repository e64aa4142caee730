//! The members of fio's JSON that are read; all others are passed over without being kept.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Error as _, IgnoredAny, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::document::Document;
use crate::importers::error::Error;
use crate::importers::json;
use crate::importers::number::Number;
use crate::importers::options::Options;

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
    /// Those of the server that a job ran on, and the job's own behind them.
    pub(super) fn with(&self, job: &RawJob) -> Options {
        let is_its_own = |options: &&Options| {
            let says = |name: &str, value: &str| {
                options.0.iter().all(|(key, known)| key != name || known == value)
            };
            let port = job.port.whole().map(|port| port.to_string());
            says("hostname", &job.hostname) && port.is_none_or(|port| says("port", &port))
        };
        let all = &self.0;
        let found = all.iter().find(is_its_own).or(if all.len() == 1 { all.first() } else { None });
        let of_server = found.into_iter().flat_map(|options| &options.0);
        of_server.chain(&job.options.0).cloned().collect()
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

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // fio writes texts, and a number for a server's port.
        let text = |value| match value {
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(switch) => Ok(u8::from(switch).to_string()),
            Value::Null => Ok(String::new()),
            Value::Array(_) | Value::Object(_) => Err(D::Error::custom("a text or a number")),
        };
        let Pairs(pairs) = Pairs::<Value>::deserialize(from)?;
        let texts = pairs.into_iter().map(|(name, value)| Ok((name, text(value)?)));
        Ok(Self(texts.collect::<Result<_, _>>()?))
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
    serde_json::from_str(&document.json).map_err(|error| json::broken(&error, document.line))
}
