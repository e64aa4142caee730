//! The members of fio's JSON that are read; all others are passed over without being kept.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, IgnoredAny, MapAccess};
use serde::{Deserialize, Deserializer};

use super::document::Document;
use super::number::Number;
use crate::importers::error::Error;

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object, as fio writes it")]
pub(super) struct Root {
    #[serde(rename = "fio version")]
    pub version: Option<String>,
    pub timestamp: Number,
    pub timestamp_ms: Number,
    #[serde(rename = "global options")]
    pub global: Options,
    pub jobs: Option<Vec<RawJob>>,
    pub client_stats: Option<Vec<RawJob>>,
    /// Of a run of iotax, which prints this shape, too.
    pub iotax: Option<RawRun>,
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
