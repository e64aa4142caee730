//! fio's job files and command lines, as fio 3.33 reads them.
//!
//! Two steps: [`written`] gives sections of settings as they stand there, `meaning` makes phases of
//! jobs of them. What only fio can do is kept in [`Job::fio`](iotax_experiment::Job::fio) and refused by
//! [`require_native`].

mod beyond;
mod meaning;
pub mod options;
pub mod reach;
mod section;
pub mod values;
pub mod written;

use iotax_experiment::file::FioWorkload;
use iotax_experiment::{Error, Workload};

pub use beyond::{Beyond, check_drivers, require_native};
pub use section::{Ignored, Include, Machine, Outside, Section, Setting, TextPlace};

/// The phases of a job file; `stonewall` separates them.
///
/// `name` is the file's, for messages and for the workload's own; `include` gives the text of the
/// files that `include` lines name, or says why not.
///
/// # Errors
/// What fio would not read, either, with file and line. What fio reads and the native engines
/// cannot do is no error here: see [`require_native`].
pub fn from_job_file(name: &str, text: &str, include: Include<'_>) -> Result<Vec<Workload>, Error> {
    let sections = written::read_job_file(name, text, include)?;
    meaning::phases(&sections, name, stem(name))
}

/// A file's name without its directory and what follows its last dot.
fn stem(name: &str) -> Option<&str> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    Some(stem).filter(|stem| !stem.is_empty())
}

/// The phases of a fio command line, or of several that shell operators and `sleep` join: what
/// `&` joins runs together, what `;`, `&&` or `wait` join runs one after the other.
///
/// `include` gives the text of job files that the command names.
///
/// # Errors
/// As [`from_job_file`], with the part of the text in question.
pub fn from_command(text: &str, include: Include<'_>) -> Result<Vec<Workload>, Error> {
    let sections = written::read_command(text, include)?;
    meaning::phases(&sections, "a fio command line", None)
}

/// The phases of a file of such commands, a shell's script; comments and what only reports
/// (`iostat`, `echo`) are passed over.
///
/// # Errors
/// As [`from_job_file`]; the first line that is for a shell alone.
pub fn from_script(name: &str, text: &str, include: Include<'_>) -> Result<Vec<Workload>, Error> {
    let sections = written::read_script(name, text, include)?;
    meaning::phases(&sections, name, stem(name))
}

/// The phases of the workload that an experiment file gives in fio's words.
///
/// # Errors
/// As [`from_command`] or [`from_job_file`]; that there is no such job file.
pub fn from_entry(entry: &FioWorkload, include: Include<'_>) -> Result<Vec<Workload>, Error> {
    let text = &entry.fio;
    if entry.is_command() {
        return from_command(text, include);
    }
    let read = include.file(text);
    let jobs = read.map_err(|why| Error::syntax(format!("cannot read `{text}`: {why}"), ""))?;
    from_job_file(text, &jobs, include)
}
