//! A machine in a file of its own: for another computer, or beside a run's results.

use std::io::{self, ErrorKind};
use std::path::Path;

use super::{MACHINE_FORMAT, Machine};
use crate::error::Error;
use crate::store::{open_file, write_json};

/// Its name beside a run's results.
const FILE: &str = "machine.json";

impl Machine {
    /// Reads one that was written.
    ///
    /// # Errors
    /// If there is none, it is no machine, or one of a later version.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text =
            open_file(path).and_then(io::read_to_string).map_err(|e| Error::read(path, e))?;
        let broken = |source: serde_json::Error| Error::Broken {
            path: path.to_owned(),
            line: source.line(),
            source,
        };
        let value: serde_json::Value = serde_json::from_str(&text).map_err(broken)?;
        // A later format may have other types in its fields.
        let format = value.get("format").and_then(serde_json::Value::as_u64).unwrap_or(0);
        if format == 0 {
            return Err(Error::NotAMachine { path: path.to_owned() });
        }
        if format > u64::from(MACHINE_FORMAT) {
            return Err(Error::Newer {
                path: path.to_owned(),
                format: u32::try_from(format).unwrap_or(u32::MAX),
                known: MACHINE_FORMAT,
            });
        }
        // From the text and not from `value`, for the line of what is wrong.
        serde_json::from_str(&text).map_err(broken)
    }

    /// Writes it; what is there is never overwritten.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        write_json(path, self).map_err(|error| match error {
            Error::Write { path, source } if source.kind() == ErrorKind::AlreadyExists => {
                Error::Occupied { path }
            }
            other => other,
        })
    }

    /// The one beside the results in `dir`; `None` if there is none.
    pub fn of_record(dir: &Path) -> Result<Option<Self>, Error> {
        match Self::read(&dir.join(FILE)) {
            Err(Error::Read { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    /// Writes it beside the results in `dir`.
    pub fn write_beside(&self, dir: &Path) -> Result<(), Error> {
        self.write(&dir.join(FILE))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_is_read_as_it_was_written_and_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Machine::of_record(dir.path()).unwrap(), None);
        let machine = Machine { format: MACHINE_FORMAT, ..Machine::default() };
        machine.write_beside(dir.path()).unwrap();
        assert_eq!(Machine::of_record(dir.path()).unwrap(), Some(machine.clone()));
        let error = machine.write_beside(dir.path()).unwrap_err().to_string();
        assert!(error.ends_with("machine.json exists already: name another file"), "{error}");
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
        insta::assert_snapshot!(said("{\"a\": 1}"), @"DIR/x.json is no machine: give a file that `iotax doctor --save` has written");
        insta::assert_snapshot!(said("{\"format\": 99}"), @"DIR/x.json is of record format 99, this iotax reads up to 1: use a newer iotax");
        insta::assert_snapshot!(said("{\"format\": 1,\n\"nodes\": 3}"), @"DIR/x.json, line 2: not a valid record: invalid type: integer `3`, expected a sequence at line 2 column 10");
        insta::assert_snapshot!(said("{\"format\": 1,"), @"DIR/x.json, line 1: not a valid record: EOF while parsing a value at line 1 column 13");
    }
}
