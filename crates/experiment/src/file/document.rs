//! The file with the position of every key and value, so that errors can name the line.

use std::ops::Range;

use iotax_layers::{Error, FilePlace};
use schemars::{Schema, schema_for};
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::workload::WorkloadTable;
use super::written::{DocumentedTable, SpecFile};
use crate::job_options::{INDEX_OPTIONS, JOB_OPTIONS};

/// The part that an error underlines.
#[derive(Clone, Copy, PartialEq)]
enum Underline {
    Key,
    Value,
}

/// A parsed file.
pub(super) struct Document<'a> {
    file: &'a str,
    text: &'a str,
    root: Spanned<DeTable<'a>>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(file: &'a str, text: &'a str) -> Result<Self, Error> {
        let root = DeTable::parse(text).map_err(|error| from_toml(file, text, &error))?;
        Ok(Self { file, text, root })
    }

    /// The file as written, its keys checked.
    pub(super) fn written(&self) -> Result<SpecFile, Error> {
        self.check_keys()?;
        toml::from_str(self.text).map_err(|error| from_toml(self.file, self.text, &error))
    }

    /// Refuses unknown keys before serde does, whose errors do not suggest names.
    fn check_keys(&self) -> Result<(), Error> {
        let job_keys = || std::iter::once("name").chain(JOB_OPTIONS.iter().map(|key| key.name));
        let root = self.root.get_ref();
        self.check_table(&[], root, file_keys())?;
        if let Some(DeValue::Table(documented)) = root.get("documented").map(Spanned::get_ref) {
            self.check_table(&["documented"], documented, documented_keys())?;
        }
        let Some(DeValue::Table(workload)) = root.get("workload").map(Spanned::get_ref) else {
            return Ok(());
        };
        let known = workload_keys().into_iter().chain(["fio", "recording"].map(str::to_owned));
        self.check_table(&["workload"], workload, known)?;
        if let Some(DeValue::Table(index)) = workload.get("index").map(Spanned::get_ref) {
            let known = INDEX_OPTIONS.iter().map(|key| key.name);
            self.check_table(&["workload", "index"], index, known)?;
        }
        let Some(DeValue::Array(jobs)) = workload.get("job").map(Spanned::get_ref) else {
            return Ok(());
        };
        jobs.iter().enumerate().try_for_each(|(i, job)| match job.get_ref() {
            DeValue::Table(job) => {
                self.check_table(&["workload", "job", &i.to_string()], job, job_keys())
            }
            _ => Ok(()),
        })
    }

    fn check_table<S: AsRef<str>>(
        &self,
        path: &[&str],
        table: &DeTable<'_>,
        known: impl IntoIterator<Item = S>,
    ) -> Result<(), Error> {
        let known: Vec<S> = known.into_iter().collect();
        let is_known = |key: &str| known.iter().any(|name| name.as_ref() == key);
        match table.keys().map(Spanned::get_ref).find(|key| !is_known(key)) {
            None => Ok(()),
            Some(key) => {
                let error = Error::unknown("key", key, known.iter().map(AsRef::as_ref));
                let path = path.iter().copied().chain([key.as_ref()]).map(str::to_owned).collect();
                let error = Box::new(error);
                Err(self.place_at(Misplaced { path, error }, Underline::Key))
            }
        }
    }

    /// Adds line and column to an error; the whole file if the key is missing.
    pub(super) fn place(&self, misplaced: Misplaced) -> Error {
        let on_key = matches!(misplaced.error.root(), Error::Unknown { what: "key" | "job", .. });
        self.place_at(misplaced, if on_key { Underline::Key } else { Underline::Value })
    }

    fn place_at(&self, misplaced: Misplaced, underline: Underline) -> Error {
        let Misplaced { path, error } = misplaced;
        // The error is in a file that this one names, and has its own position.
        if matches!(*error, Error::InFile { .. }) {
            return *error;
        }
        let place = match self.find(&path, underline) {
            Some(span) => place_of(self.file, self.text, &span, readable(&path)),
            None => FilePlace { key: readable(&path), ..nowhere(self.file) },
        };
        Error::InFile { source: error, place: Box::new(place) }
    }

    /// The deepest part of `path` that exists.
    fn find(&self, path: &[String], underline: Underline) -> Option<Range<usize>> {
        let mut table = self.root.get_ref();
        let mut found = None;
        let mut segments = path.iter();
        while let Some(segment) = segments.next() {
            let Some((key, value)) = table.get_key_value(segment.as_str()) else { break };
            let is_last = segments.len() == 0;
            let on_key = is_last && underline == Underline::Key;
            let mut value = value;
            // The span of a table may be its header or all of its lines, so the key is more
            // precise.
            let is_table = matches!(value.get_ref(), DeValue::Table(_) | DeValue::Array(_));
            found = Some(if on_key || is_table { key.span() } else { value.span() });
            if let DeValue::Array(entries) = value.get_ref() {
                let entry = segments.next().and_then(|i| entries.get(i.parse::<usize>().ok()?));
                let Some(entry) = entry else { break };
                found = Some(entry.span());
                value = entry;
            }
            let DeValue::Table(inner) = value.get_ref() else { break };
            table = inner;
        }
        found
    }
}

/// `workload.job[0].size`.
fn readable(path: &[String]) -> String {
    let mut text = String::new();
    for segment in path {
        if segment.bytes().all(|byte| byte.is_ascii_digit()) && !segment.is_empty() {
            text.extend(["[", segment, "]"]);
        } else {
            text.extend([if text.is_empty() { "" } else { "." }, segment]);
        }
    }
    text
}

fn from_toml(file: &str, text: &str, error: &toml::de::Error) -> Error {
    let place = match error.span() {
        Some(span) => place_of(file, text, &span, String::new()),
        None => nowhere(file),
    };
    // The message may have several lines; the first says what is wrong, the others what was
    // expected.
    let (problem, advice) = error.message().split_once('\n').unwrap_or((error.message(), ""));
    let source = Box::new(Error::syntax(problem, advice));
    Error::InFile { source, place: Box::new(place) }
}

fn nowhere(file: &str) -> FilePlace {
    let (line_text, key) = (String::new(), String::new());
    FilePlace { file: file.to_owned(), line: 0, column: 1, width: 0, line_text, key }
}

/// Line and column of a span, truncated at the end of its first line.
fn place_of(file: &str, text: &str, span: &Range<usize>, key: String) -> FilePlace {
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let end = text.floor_char_boundary(span.end.clamp(start, line_end));
    FilePlace {
        file: file.to_owned(),
        line: text[..line_start].matches('\n').count() + 1,
        column: text[line_start..start].chars().count() + 1,
        width: text[start..end].chars().count().max(1),
        line_text: text[line_start..line_end].trim_end().to_owned(),
        key,
    }
}

/// An error, with the key that it is about: `["workload", "job", "0", "size"]`.
pub(super) struct Misplaced {
    pub path: Vec<String>,
    pub error: Box<Error>,
}

pub(super) type Placed<T> = Result<T, Misplaced>;

/// Adds the key that an error is about.
pub(super) trait At<T> {
    fn at(self, path: &[&str]) -> Placed<T>;
}

impl<T> At<T> for Result<T, Error> {
    fn at(self, path: &[&str]) -> Placed<T> {
        let path = || path.iter().map(|segment| (*segment).to_owned()).collect();
        self.map_err(|error| Misplaced { path: path(), error: Box::new(error) })
    }
}

/// JSON Schema of the experiment file.
pub(super) fn experiment_schema() -> Schema {
    schema_for!(SpecFile)
}

/// Top-level keys of the file.
pub(super) fn file_keys() -> Vec<String> {
    property_names(&experiment_schema())
}

/// Keys of `[workload]`.
pub(super) fn workload_keys() -> Vec<String> {
    property_names(&schema_for!(WorkloadTable))
}

/// Keys of `[documented]`.
pub(super) fn documented_keys() -> Vec<String> {
    property_names(&schema_for!(DocumentedTable))
}

fn property_names(schema: &Schema) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.map(|map| map.keys().cloned().collect()).unwrap_or_default()
}

#[cfg(test)]
mod keys_tests {
    use super::*;

    const PATH: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/experiment.schema.json");

    #[test]
    fn schema_is_current() {
        let current = serde_json::to_string_pretty(&experiment_schema()).unwrap() + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(PATH, &current).unwrap();
        }
        let checked_in = std::fs::read_to_string(PATH).unwrap_or_default();
        assert!(
            checked_in == current,
            "docs/schema/experiment.schema.json is out of date; run\n  \
             UPDATE_SCHEMA=1 cargo test -p iotax-experiment schema"
        );
    }

    #[test]
    fn all_keys_are_described() {
        assert!(file_keys().contains(&"max-blocks".to_owned()));
        assert!(workload_keys().contains(&"job".to_owned()));
    }
}
