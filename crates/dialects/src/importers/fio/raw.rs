//! The members of fio's JSON that are read; all others are passed over without being kept.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, IgnoredAny, MapAccess};
use serde::{Deserialize, Deserializer};

use super::document::Document;
use super::number::Number;
use crate::importers::error::Error;

#[derive(Deserialize)]
#[serde(expecting = "an object, as fio writes it")]
pub(super) struct Root {
    #[serde(rename = "fio version")]
    pub version: Option<String>,
    #[serde(default)]
    pub timestamp: Number,
    #[serde(default)]
    pub timestamp_ms: Number,
    #[serde(default, rename = "global options")]
    pub global: Options,
    pub jobs: Option<Vec<RawJob>>,
    pub client_stats: Option<Vec<RawJob>>,
    /// Of a run of iotax, which prints this shape, too.
    #[serde(default)]
    pub iotax: Option<RawRun>,
}

/// What iotax adds to the shape: which jobs are of which phase.
#[derive(Deserialize)]
#[serde(expecting = "what iotax adds")]
pub(super) struct RawRun {
    #[serde(default)]
    pub id: Option<String>,
    #[serde(default)]
    pub workload: String,
    #[serde(default)]
    pub arms: Vec<RawArm>,
    #[serde(default)]
    pub phases: Vec<RawRun>,
}

#[derive(Deserialize)]
#[serde(expecting = "an arm")]
pub(super) struct RawArm {
    #[serde(default)]
    pub other_jobs: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(expecting = "a job")]
pub(super) struct RawJob {
    #[serde(default)]
    pub jobname: String,
    #[serde(default)]
    pub groupid: Number,
    #[serde(default)]
    pub error: Number,
    #[serde(default)]
    pub total_err: Number,
    #[serde(default)]
    pub elapsed: Number,
    #[serde(default)]
    pub job_start: Number,
    /// Milliseconds, summed over threads.
    #[serde(default)]
    pub job_runtime: Number,
    /// Percent of `job_runtime`.
    #[serde(default)]
    pub usr_cpu: Number,
    #[serde(default)]
    pub sys_cpu: Number,
    #[serde(default)]
    pub ctx: Number,
    #[serde(default)]
    pub majf: Number,
    #[serde(default)]
    pub minf: Number,
    #[serde(default)]
    pub hostname: String,
    #[serde(default, rename = "job options")]
    pub options: Options,
    #[serde(default)]
    pub read: RawDirection,
    #[serde(default)]
    pub write: RawDirection,
    #[serde(default)]
    pub trim: RawDirection,
    #[serde(default)]
    pub sync: RawDirection,
    /// With `unified_rw_reporting`, reads and writes in one.
    #[serde(default)]
    pub mixed: RawDirection,
}

#[derive(Deserialize, Default)]
#[serde(expecting = "the results of one direction")]
pub(super) struct RawDirection {
    #[serde(default)]
    pub io_bytes: Number,
    #[serde(default)]
    pub io_kbytes: Number,
    #[serde(default)]
    pub iops: Number,
    #[serde(default)]
    pub runtime: Number,
    #[serde(default)]
    pub total_ios: Number,
    #[serde(default)]
    pub short_ios: Number,
    pub clat_ns: Option<RawLatency>,
    pub clat: Option<RawLatency>,
    pub lat_ns: Option<RawLatency>,
    pub lat: Option<RawLatency>,
}

#[derive(Deserialize, Default)]
#[serde(expecting = "latencies")]
pub(super) struct RawLatency {
    #[serde(default)]
    pub min: Number,
    #[serde(default)]
    pub max: Number,
    #[serde(default)]
    pub mean: Number,
    #[serde(default)]
    pub stddev: Number,
    #[serde(default, rename = "N")]
    pub samples: Number,
    #[serde(default)]
    pub percentile: Pairs<Number>,
    #[serde(default)]
    pub bins: Pairs<Number>,
}

/// Names and values of options, in their order.
#[derive(Default)]
pub(super) struct Options(pub Vec<(String, String)>);

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Pairs(pairs) = Pairs::<Option<String>>::deserialize(from)?;
        Ok(Self(pairs.into_iter().map(|(k, v)| (k, v.unwrap_or_default())).collect()))
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
