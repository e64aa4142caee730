//! A saved machine in its own file, for analysis on another computer.

use std::io::{self, ErrorKind};
use std::path::Path;

use serde_json::Value;

use super::{MACHINE_FORMAT, Machine};
use crate::error::Error;
use crate::json_file::{open_file, write_json};
use crate::stored::Stored as _;

/// Larger than the facts of any machine.
const MOST_BYTES: u64 = 16 << 20;
/// More layers than any path has.
const MOST_NODES: usize = 4096;

impl Machine {
    /// Reads a saved machine.
    ///
    /// # Errors
    /// If the file does not exist, is not a saved machine, or is from a later version.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = open_file(path).map_err(|e| Error::read(path, e))?;
        let bytes = file.metadata().map_err(|e| Error::read(path, e))?.len();
        if bytes > MOST_BYTES {
            return Err(Error::TooLong { path: path.to_owned(), bytes, limit: MOST_BYTES });
        }
        let text = io::read_to_string(file).map_err(|e| Error::read(path, e))?;
        let broken = |source| Error::broken(path, source);
        let value: Value = serde_json::from_str(&text).map_err(broken)?;
        // A later format may have other field types.
        let format = value.get("format").and_then(Value::as_u64).unwrap_or(0);
        // The head of a record also has a format.
        if format == 0 || value.get("nodes").is_none() {
            return Err(Error::NotAMachine { path: path.to_owned() });
        }
        if format > u64::from(MACHINE_FORMAT) {
            return Err(Error::Newer {
                path: path.to_owned(),
                format: u32::try_from(format).unwrap_or(u32::MAX),
                known: MACHINE_FORMAT,
            });
        }
        if let Some((field, value)) = absurd(&value, String::new()) {
            return Err(Error::AbsurdNumber { path: path.to_owned(), field, value });
        }
        // From the text instead of `value`, to get the line of an error.
        let machine = Self::decode(text.as_bytes()).map_err(broken)?;
        if machine.nodes.len() > MOST_NODES {
            return Err(Error::TooManyLayers { path: path.to_owned(), limit: MOST_NODES });
        }
        Ok(machine)
    }

    /// Writes it; never overwrites a file.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        write_json(&path.into(), self.encode_pretty()).map_err(|error| match error {
            Error::Write { path, source } if source.kind() == ErrorKind::AlreadyExists => {
                Error::Occupied { path }
            }
            Error::Write { path, source } => Error::Save { path, source },
            other => other,
        })
    }
}

/// The first number that is out of range for a machine, and its path. Computations with it would
/// give infinite or negative results.
fn absurd(value: &Value, at: String) -> Option<(String, String)> {
    match value {
        Value::Number(number) => {
            let is_possible = number.as_f64().is_some_and(|n| (0.0..=u64::MAX as f64).contains(&n));
            (!is_possible).then(|| (at, number.to_string()))
        }
        Value::Array(items) => {
            let mut each = items.iter().enumerate();
            each.find_map(|(place, item)| absurd(item, format!("{at}[{place}]")))
        }
        Value::Object(fields) => fields.iter().find_map(|(name, field)| {
            absurd(field, if at.is_empty() { name.clone() } else { format!("{at}.{name}") })
        }),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::machine::{Device, Node, SeenLayer};

    #[test]
    fn it_is_read_as_it_was_written_and_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("machine.json");
        let machine = Machine { format: MACHINE_FORMAT, ..Machine::default() };
        machine.write(&file).unwrap();
        assert_eq!(Machine::read(&file).unwrap(), machine);
        let error = machine.write(&file).unwrap_err().to_string();
        assert!(error.ends_with("machine.json already exists; choose another file"), "{error}");
        let error = machine.write(&dir.path().join("no/machine.json")).unwrap_err().to_string();
        assert!(error.contains("cannot write") && !error.contains("--out"), "{error}");
        let node = Node { layer: SeenLayer::Device(Device::default()), below: Vec::new() };
        let many = dir.path().join("many.json");
        Machine { nodes: vec![node; MOST_NODES + 1], ..machine }.write(&many).unwrap();
        let error = Machine::read(&many).unwrap_err().to_string();
        assert!(error.ends_with("more than 4096 layers, the limit for a saved machine"), "{error}");
    }

    #[test]
    fn other_files_are_refused_with_what_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.json");
        let said = |text: &str| {
            fs::write(&file, text).unwrap();
            let error = Machine::read(&file).unwrap_err().to_string();
            error.replace(&dir.path().display().to_string(), "DIR")
        };
        insta::assert_snapshot!(said("{\"a\": 1}"), @"DIR/x.json is not a saved machine; pass a file written by `iotax doctor --save`");
        insta::assert_snapshot!(said("{\"format\": 99, \"nodes\": []}"), @"DIR/x.json has record format 99, but this version of iotax reads formats only up to 1; use a newer version");
        insta::assert_snapshot!(said("{\"format\": 1,\n\"nodes\": 3}"), @"DIR/x.json, line 2: not a valid record: invalid type: integer `3`, expected a sequence at line 2 column 10");
        insta::assert_snapshot!(said(r#"{"format": 1, "nodes": [{"device": {"size_bytes": -1}, "below": []}]}"#), @"DIR/x.json: nodes[0].device.size_bytes is -1, which is out of range; it must be from 0 to 18446744073709551615");
        insta::assert_snapshot!(said(r#"{"format": 1, "nodes": [], "groups": {"cpu": {"cpus": 1e308}}}"#), @"DIR/x.json: groups.cpu.cpus is 1e+308, which is out of range; it must be from 0 to 18446744073709551615");
        insta::assert_snapshot!(said(r#"{"format": 1, "nodes": [], "memory": {"file_refaults": 1e400}}"#), @"DIR/x.json, line 1: not a valid record: number out of range at line 1 column 60");
        insta::assert_snapshot!(said("{\"format\": 1,"), @"DIR/x.json, line 1: not a valid record: EOF while parsing a value at line 1 column 13");
    }
}
