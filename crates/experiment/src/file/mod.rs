//! The experiment file: from TOML (`SpecFile`) to its meaning ([`Draft`]).
//!
//! ```toml
//! workload = "randread-4k"      # or { fio = "job.fio" }, { recording = "app.iotx" }, a table
//! mode = "quick"
//! time = "5s"
//!
//! [set]
//! depth = 8
//!
//! [arms]
//! base = "/mnt/a"
//! slow = "mem(size=64M) + delay(latency=260us)"
//! ```

mod caps;
mod document;
mod resolve;
mod schema;
mod workload;
mod written;

use iotax_layers::Error;

use crate::spec::Draft;
use document::{Document, Misplaced};
pub use resolve::WorkloadReader;
pub use workload::{FioWorkload, RecordingWorkload, WorkloadElsewhere};

impl Draft {
    /// Reads an experiment file. `file` is its name for errors; relative paths stay relative (see
    /// [`Draft::resolve_paths`]). `read` reads workloads in other files: fio jobs and recordings.
    pub fn from_toml(file: &str, text: &str, read: WorkloadReader<'_>) -> Result<Self, Error> {
        let document = Document::parse(file, text)?;
        let written = document.written()?;
        resolve::resolve(&written, read).map_err(|misplaced| document.place(misplaced))
    }
}

/// An error with its line, for a key whose value turned out to be wrong later. `key`: its path, as
/// in `["documented", "vm"]`.
pub fn refused_key(file: &str, text: &str, key: &[&str], problem: &str) -> Error {
    let error = Box::new(Error::syntax(problem, ""));
    let path = key.iter().map(|segment| (*segment).to_owned()).collect();
    match Document::parse(file, text) {
        Ok(document) => document.place(Misplaced { path, error }),
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests;
