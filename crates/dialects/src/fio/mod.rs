//! Reads job files and command lines of fio, as fio 3.33 reads them.
//!
//! There are two steps: [`written`] reads sections of settings as they are written, and `meaning`
//! turns them into phases of jobs. Options that only fio supports are kept in
//! [`Job::fio`](iotax_experiment::Job::fio) and refused by [`require_native`].

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

pub use section::{
    Ignored, Include, Logs, Machine, Outside, Replayed, Section, Setting, TextPlace,
};

/// The phases of a job file; `stonewall` separates them.
///
/// `name` is the name of the file, for messages and for the workload; `include` returns the text of
/// files named in `include` lines, or an error.
///
/// # Errors
/// For text that fio would not read either, with file and line. Options that fio supports and the
/// native engines do not are no error here: see [`require_native`].
pub fn from_job_file(name: &str, text: &str, include: Include<'_>) -> Result<Vec<Workload>, Error> {
    let sections = written::read_job_file(name, text, include)?;
    meaning::phases(&sections, name, stem(name), include)
}

/// The name of a file without its directory and its last extension.
fn stem(name: &str) -> Option<&str> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    Some(stem).filter(|stem| !stem.is_empty())
}

/// The phases of a fio command line, or of several that are joined by shell operators and `sleep`:
/// commands joined by `&` run together, those joined by `;`, `&&` or `wait` run one after the
/// other.
///
/// `include` returns the text of job files that the command names.
///
/// # Errors
/// As for [`from_job_file`], with the affected part of the text.
pub fn from_command(text: &str, include: Include<'_>) -> Result<Vec<Workload>, Error> {
    let sections = written::read_command(text, include)?;
    meaning::phases(&sections, "a fio command line", None, include)
}

/// The phases of a shell script with such commands. Comments and commands that only report
/// (`iostat`, `echo`) are skipped.
///
/// # Errors
/// As for [`from_job_file`]; also for the first line that only a shell can run.
pub fn from_script(name: &str, text: &str, include: Include<'_>) -> Result<Vec<Workload>, Error> {
    let sections = written::read_script(name, text, include)?;
    meaning::phases(&sections, name, stem(name), include)
}

/// The phases of a workload that an experiment file describes with fio's options.
///
/// # Errors
/// As for [`from_command`] or [`from_job_file`]; also if the job file does not exist.
pub fn from_entry(entry: &FioWorkload, include: Include<'_>) -> Result<Vec<Workload>, Error> {
    let text = &entry.fio;
    if entry.is_command() {
        return from_command(text, include);
    }
    let read = include.file(text);
    let jobs = read.map_err(|why| Error::syntax(format!("cannot read `{text}`: {why}"), ""))?;
    from_job_file(text, &jobs, include)
}

// Workloads that only fio supports: explains what the native engines cannot do.

/// Number of options to list; a file with many jobs may have hundreds.
const MOST_LISTED: usize = 12;
/// Width of a terminal line.
const COLUMNS: usize = 80;

/// Options of fio that the native engines do not support.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Beyond {
    /// Each option with its position and the reason.
    pub options: Vec<FioOption>,
    /// A job verifies what it writes, which iotax does not leave to fio.
    verifies: bool,
    /// Why fio cannot do it either, on this target or as installed.
    no_fio: Option<String>,
}

impl Blame for Beyond {
    fn fault(&self) -> Fault {
        Fault::Usage
    }
}

/// Refuses an experiment with jobs that the native engines do not support, if they drive any arm.
/// Separate from other checks, because the driver of an arm may be decided last.
///
/// # Errors
/// All affected options.
pub fn check_drivers(spec: &Draft) -> Result<(), Beyond> {
    let is_other = |arm: &Arm| arm.driver != Driver::Fio;
    if spec.arms.iter().any(is_other) { require_native(spec.phases()) } else { Ok(()) }
}

/// Refuses phases with options that the native engines do not support.
///
/// # Errors
/// All affected options.
pub fn require_native<'a>(phases: impl IntoIterator<Item = &'a Workload>) -> Result<(), Beyond> {
    let jobs: Vec<&Job> = phases.into_iter().flat_map(|workload| &workload.jobs).collect();
    let verifies = jobs.iter().any(|job| job.verify && job.writes_data());
    let beyond = jobs.iter().flat_map(|job| &job.fio).filter(|option| option.beyond.is_some());
    let mut options: Vec<FioOption> = Vec::new();
    for option in beyond {
        // Settings in [global] are in every job.
        if options.len() <= MOST_LISTED && !options.contains(option) {
            options.push(option.clone());
        }
    }
    if options.is_empty() { Ok(()) } else { Err(Beyond { options, verifies, no_fio: None }) }
}

/// Whether iotax does not let fio use it either.
fn is_refused(option: &FioOption) -> bool {
    refused_by_driver(&option.name, option.value.as_deref().unwrap_or("1")).is_some()
}

impl Beyond {
    /// The same error for a case where fio cannot do it either, so that it is not recommended.
    #[must_use]
    pub fn without_fio(self, why: String) -> Self {
        Self { no_fio: Some(why), ..self }
    }

    /// Whether fio can do all of it.
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
                write!(f, "{cannot} these options")?;
            }
            _ => write!(f, "{cannot} these {} options", options.len())?,
        }
        for option in options.iter().take(MOST_LISTED) {
            let room = COLUMNS.saturating_sub(option.place.chars().count() + 4);
            write!(f, "\n  {}: {}", option.place, written(option, room))?;
            write!(f, "\n    {}", option.beyond.as_deref().unwrap_or_default())?;
            if is_refused(option) {
                write!(f, "; iotax does not let fio use this option either")?;
            }
        }
        if options.len() > MOST_LISTED {
            write!(f, "\n  and more options")?;
        }
        let refused = options.iter().filter(|option| is_refused(option)).count();
        if let Some(why) = no_fio.as_ref().filter(|_| refused < options.len()) {
            return write!(f, "\nfio cannot run this workload here: {why}");
        }
        match refused {
            0 if *verifies => write!(
                f,
                "\nrun the workload with fio, but without verification, because fio would verify \
                 during the measured time:\n--engine fio --set verify=false"
            ),
            0 => write!(f, "\nrun the workload with fio: --engine fio"),
            1 if options.len() == 1 => write!(f, "\nleave out this option"),
            refused if refused == options.len() => write!(f, "\nleave out these options"),
            _ => write!(
                f,
                "\nleave out the options that iotax does not allow, then run the workload with \
                 --engine fio"
            ),
        }
    }
}

/// `name=value`, shortened to `room` characters.
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
