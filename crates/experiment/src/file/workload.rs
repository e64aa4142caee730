//! `workload = "name"`, `workload.fio = "job.fio"`, `workload.recording = "app.iotx"` or a
//! `[workload]` table.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::schema;
use super::written::Scalar;

/// The name of a built-in workload, a fio workload, a recording, or a workload described in the
/// file.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub(super) enum WorkloadEntry {
    /// `workload = "randread-4k"`.
    Preset(String),
    /// `workload.fio = "job.fio"`.
    Fio(FioWorkload),
    /// `workload.recording = "app.iotx"`.
    Recording(RecordingWorkload),
    /// `[workload]`.
    Table(WorkloadTable),
}

/// A fio workload. Its phases run one after the other on each arm.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FioWorkload {
    /// A job file, relative to this file; or a command line that starts with `fio `.
    pub fio: String,
}

/// The recorded I/O of an application, which is replayed.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RecordingWorkload {
    /// A recording made by `iotax capture`, relative to this file. It is replayed as it was
    /// recorded: leave out `ramp`, `scale` and the job keys in `set`.
    pub recording: String,
}

/// A workload in another file, which the caller reads.
#[derive(Debug, Clone, Copy)]
pub enum WorkloadElsewhere<'a> {
    Fio(&'a FioWorkload),
    Recording(&'a RecordingWorkload),
}

impl FioWorkload {
    /// Whether it is a command line that runs fio with options, possibly after other programs or a
    /// prompt.
    pub fn is_command(&self) -> bool {
        let words: Vec<&str> = self.fio.split_whitespace().collect();
        let is_fio = |word: &&str| {
            let name = word.trim_matches(['"', '\'']).rsplit(['/', '\\']).next();
            name.is_some_and(|name| matches!(name, "fio" | "fio.exe"))
        };
        let behind = words.iter().position(is_fio).map(|at| (at, &words[at + 1..]));
        behind.is_some_and(|(at, behind)| {
            // A path may contain spaces.
            let has_options =
                behind.iter().any(|word| word.starts_with(['-', '\u{2013}', '\u{2014}']));
            !behind.is_empty() && (at == 0 || has_options)
        })
    }
}

/// A workload described in the file. Its times are the file's `time` and `ramp`.
#[derive(Debug, Clone, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WorkloadTable {
    /// Name shown in all output.
    pub name: String,
    /// Description in one paragraph.
    #[serde(default)]
    pub about: String,
    /// Name of the job whose throughput is compared; by default the first one.
    pub primary: Option<String>,
    /// The jobs, which all start together.
    pub job: Vec<JobTable>,
    /// Publishes and loads an index while the jobs run. Omitted keys have the same values as in
    /// `driver-searcher`.
    #[schemars(schema_with = "super::schema::index")]
    pub index: Option<IndexMap<String, Scalar>>,
}

/// One `[[workload.job]]`: its name, and the same keys as in overrides. Keys left out have the
/// defaults of fio: sequential 4 KiB reads, buffered, one thread.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(transparent)]
pub(super) struct JobTable {
    /// `name` and the other keys; they are checked later, when positions are known.
    pub keys: IndexMap<String, Scalar>,
}

impl JobTable {
    /// The name of the job, if it has one.
    pub(super) fn name(&self) -> Option<String> {
        self.keys.get("name").map(Scalar::to_string)
    }
}

impl JsonSchema for JobTable {
    fn schema_name() -> Cow<'static, str> {
        "JobTable".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema::job()
    }
}

impl<'de> Deserialize<'de> for WorkloadEntry {
    /// By hand, because an untagged enum would hide errors in the table.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entry;

        impl<'de> Visitor<'de> for Entry {
            type Value = WorkloadEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a workload, or a [workload] table")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<WorkloadEntry, E> {
                Ok(WorkloadEntry::Preset(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WorkloadEntry, A::Error> {
                AnyTable::deserialize(MapAccessDeserializer::new(map))?.entry()
            }
        }

        deserializer.deserialize_any(Entry)
    }
}

/// A `[workload]` table of a kind that is not known yet.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct AnyTable {
    fio: Option<String>,
    recording: Option<String>,
    name: Option<String>,
    about: Option<String>,
    primary: Option<String>,
    job: Option<Vec<JobTable>>,
    index: Option<IndexMap<String, Scalar>>,
}

impl AnyTable {
    fn entry<E: serde::de::Error>(self) -> Result<WorkloadEntry, E> {
        let Self { fio, recording, name, about, primary, job, index } = self;
        let keys = [
            ("fio", fio.is_some()),
            ("recording", recording.is_some()),
            ("name", name.is_some()),
            ("about", about.is_some()),
            ("primary", primary.is_some()),
            ("job", job.is_some()),
            ("index", index.is_some()),
        ];
        let alone = |key: &str, advice: &str| {
            let other = keys.iter().find(|(other, given)| *given && *other != key);
            other.map_or(Ok(()), |(other, _)| {
                Err(E::custom(format_args!(
                    "`{key}` describes the whole workload; leave out `{other}`{advice}"
                )))
            })
        };
        match (fio, recording) {
            (Some(fio), _) => {
                alone("fio", ", or change it in [set]")?;
                Ok(WorkloadEntry::Fio(FioWorkload { fio }))
            }
            (None, Some(recording)) => {
                alone("recording", "")?;
                Ok(WorkloadEntry::Recording(RecordingWorkload { recording }))
            }
            (None, None) => Ok(WorkloadEntry::Table(WorkloadTable {
                name: name.ok_or_else(|| E::missing_field("name"))?,
                about: about.unwrap_or_default(),
                primary,
                job: job.ok_or_else(|| E::missing_field("job"))?,
                index,
            })),
        }
    }
}
