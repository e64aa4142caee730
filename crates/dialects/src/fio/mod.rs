//! fio's job files and command lines, as fio 3.33 reads them.
//!
//! Two steps: [`written`] gives sections of settings as they stand there, `meaning` makes phases of
//! jobs of them. What only fio can do is kept in [`Job::fio`](iotax_experiment::Job::fio) and refused by
//! [`require_native`].

mod meaning;
pub mod options;
pub mod reach;
mod section;
pub mod values;
pub mod written;

use std::fmt;

use iotax_experiment::file::FioWorkload;
use iotax_experiment::{Arm, Blame, Draft, Driver, Error, Fault, FioOption, Job, Workload};

use reach::refused_by_driver;

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

// Workloads that only fio can do: what keeps the native engines from it, in words.

/// Options listed; a file of many jobs may have hundreds.
const MOST_LISTED: usize = 12;
/// Width of a line on a terminal.
const COLUMNS: usize = 80;

/// Options of fio that the native engines cannot do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Beyond {
    /// Each with its place and why.
    pub options: Vec<FioOption>,
    /// A job verifies what it writes, which fio is not asked to do.
    verifies: bool,
    /// Why fio cannot do it either, on this target or as it is installed.
    no_fio: Option<String>,
}

impl Blame for Beyond {
    fn fault(&self) -> Fault {
        Fault::Usage
    }
}

/// Refuses an experiment with jobs that the native engines cannot do, if they are to drive some
/// arm. Apart from other checks, since what drives an arm may be decided last.
///
/// # Errors
/// All options in question.
pub fn check_drivers(spec: &Draft) -> Result<(), Beyond> {
    let is_other = |arm: &Arm| arm.driver != Driver::Fio;
    if spec.arms.iter().any(is_other) { require_native(spec.phases()) } else { Ok(()) }
}

/// Refuses phases with options that the native engines cannot do.
///
/// # Errors
/// All options in question.
pub fn require_native<'a>(phases: impl IntoIterator<Item = &'a Workload>) -> Result<(), Beyond> {
    let jobs: Vec<&Job> = phases.into_iter().flat_map(|workload| &workload.jobs).collect();
    let verifies = jobs.iter().any(|job| job.verify && job.writes_data());
    let beyond = jobs.iter().flat_map(|job| &job.fio).filter(|option| option.beyond.is_some());
    let mut options: Vec<FioOption> = Vec::new();
    for option in beyond {
        // What stands in [global] is in every job.
        if options.len() <= MOST_LISTED && !options.contains(option) {
            options.push(option.clone());
        }
    }
    if options.is_empty() { Ok(()) } else { Err(Beyond { options, verifies, no_fio: None }) }
}

/// Whether iotax keeps fio from it, too.
fn is_refused(option: &FioOption) -> bool {
    refused_by_driver(&option.name, option.value.as_deref().unwrap_or("1")).is_some()
}

impl Beyond {
    /// The same where fio cannot do it, so that it is not recommended.
    #[must_use]
    pub fn without_fio(self, why: String) -> Self {
        Self { no_fio: Some(why), ..self }
    }

    /// Whether fio may do all of it.
    pub fn needs_fio(&self) -> bool {
        !self.options.iter().any(is_refused)
    }
}

impl fmt::Display for Beyond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { options, verifies, no_fio } = self;
        let cannot = "iotax's own engines do not support";
        match options.as_slice() {
            [one] => write!(f, "{cannot} {}", written(one, 40))?,
            _ if options.len() > MOST_LISTED => {
                write!(f, "{cannot} more than {MOST_LISTED} options")?;
            }
            _ => write!(f, "{cannot} {} options", options.len())?,
        }
        for option in options.iter().take(MOST_LISTED) {
            let room = COLUMNS.saturating_sub(option.place.chars().count() + 4);
            write!(f, "\n  {}: {}", option.place, written(option, room))?;
            write!(f, "\n    {}", option.beyond.as_deref().unwrap_or_default())?;
            if is_refused(option) {
                write!(f, "; iotax does not allow fio to do that either")?;
            }
        }
        if options.len() > MOST_LISTED {
            write!(f, "\n  and more")?;
        }
        let refused = options.iter().filter(|option| is_refused(option)).count();
        if let Some(why) = no_fio.as_ref().filter(|_| refused < options.len()) {
            return write!(f, "\nfio cannot run it here: {why}");
        }
        match refused {
            0 if *verifies => write!(
                f,
                "\nrun it with fio, without verifying, which fio would do during the measured \
                 time:\n--engine fio --set verify=false"
            ),
            0 => write!(f, "\nrun it with fio: --engine fio"),
            refused if refused == options.len() => write!(f, "\nleave it out"),
            _ => write!(
                f,
                "\nleave out the options that iotax does not allow, then run it with --engine fio"
            ),
        }
    }
}

/// `name=value`, at most so many characters.
fn written(option: &FioOption, room: usize) -> String {
    let text = match &option.value {
        None => option.name.clone(),
        Some(value) => format!("{}={value}", option.name),
    };
    if text.chars().count() <= room {
        return text;
    }
    let start: String = text.chars().take(room.saturating_sub(3)).collect();
    format!("{start}...")
}
