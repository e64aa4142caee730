//! Text of a job file or command line, and what it takes from outside.

use std::ops::Range;
use std::sync::Arc;

use iotax_experiment::{Error, Workload};

use super::options::OptionInfo;
use crate::lines::{by_line, line_at, place_in_file};

/// Facts about the machine that job files may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// `$pagesize`, in bytes.
    pub page_bytes: u64,
    /// `$mb_memory`, in MiB.
    pub memory_mib: u64,
    /// `$ncpus`: configured CPUs, online or not.
    pub cpus: u64,
}

/// Files, variables and facts that a job file or a command line uses.
pub trait Outside {
    /// The text of a file by name, or why it is not available.
    ///
    /// # Errors
    /// The reason, for people.
    fn file(&self, name: &str) -> Result<String, String>;

    /// A variable of the environment; `None` if the text is read without an environment.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// The machine, if there is one.
    fn machine(&self) -> Option<Machine> {
        None
    }

    /// The workload that replays logs.
    ///
    /// # Errors
    /// The reason why they cannot be replayed, for people.
    fn recording(&self, _logs: &Logs) -> Result<Replayed, String> {
        Err("logs cannot be replayed here".to_owned())
    }
}

/// Logs that a job replays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logs {
    /// The names of the files, one for each thread of the job.
    pub paths: Vec<String>,
    pub direct: bool,
    /// Each I/O follows the one before it, whatever its time in the log.
    pub no_stall: bool,
}

/// A workload that replays logs.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    pub workload: Workload,
    /// Files that the logs use.
    pub files: usize,
    /// The log is a trace of blktrace, with I/Os that overlap.
    pub is_block_trace: bool,
}

/// Files only.
impl<F: Fn(&str) -> Result<String, String>> Outside for F {
    fn file(&self, name: &str) -> Result<String, String> {
        self(name)
    }
}

/// Surroundings of the text that is read.
pub type Include<'a> = &'a dyn Outside;

// Where something is written.

/// Name of a command line, in place of a file name.
pub(super) const COMMAND_LINE: &str = "a command line";

/// Part of a line of a job file, or of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPlace {
    /// The name of the file from the caller or from `include`; `a command line` for command lines,
    /// and `the script` for one of several lines.
    pub source: Arc<str>,
    /// Line, from 1; 0 in command lines.
    pub line: usize,
    /// The line, or all command lines.
    pub text: Arc<str>,
    /// Bytes of `text`: the option with its value, or the name of a section.
    pub span: Range<usize>,
}

impl TextPlace {
    /// For people: `job.fio, line 7`, or `a command line`.
    pub fn words(&self) -> String {
        match self.line {
            0 if &*self.source != COMMAND_LINE => {
                format!("{}, line {}", self.source, line_at(&self.text, self.span.start).0)
            }
            0 => self.source.to_string(),
            line => format!("{}, line {line}", self.source),
        }
    }

    /// Another part of the same text.
    pub(super) fn part(&self, span: Range<usize>) -> Self {
        Self { span, ..self.clone() }
    }

    /// Adds this position to an error; the caret marks all of it.
    pub(crate) fn mark(&self, error: Error) -> Error {
        self.mark_part(error, self.span.clone())
    }

    /// Adds a position on this line to an error; `part` is in bytes of the line.
    pub(crate) fn mark_part(&self, error: Error, part: Range<usize>) -> Error {
        if self.line == 0 {
            let error = error.at(&self.text, part);
            return if &*self.source == COMMAND_LINE {
                error
            } else {
                by_line(error, &self.source)
            };
        }
        if matches!(error, Error::InFile { .. }) {
            return error;
        }
        let place = place_in_file(&self.source, self.line, &self.text, part);
        Error::InFile { source: Box::new(error), place: Box::new(place) }
    }
}

// One job as written: its settings, in the order of fio.

/// A job as written. The applicable settings of `[global]` come before its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Name of the job; not necessarily unique.
    pub name: String,
    /// Where the section begins.
    pub place: Arc<TextPlace>,
    /// In the order in which fio applies them: the last setting of an option counts.
    pub settings: Vec<Setting>,
    /// Index among command lines joined by `&`; 0 in a job file.
    pub command: u32,
    /// Index among command lines that wait for each other (`;`, `&&`, `wait`).
    pub phase: u32,
    /// Start of its command line relative to the start of its phase, due to `sleep`.
    pub start_offset_ns: u64,
    /// Parts of the same command line that are left out (`--output=x`, `sudo`); given at its first
    /// section.
    pub ignored: Vec<Ignored>,
}

/// A part of a command line that is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Ignored {
    /// Where it is written.
    pub place: Arc<TextPlace>,
    /// Why, or what it would have done.
    pub why: &'static str,
}

/// An option of a job, as written. Cheap to clone, because `[global]` settings are in every job.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub option: &'static OptionInfo,
    /// The text after `=`, without surrounding blanks; `None` if there is none.
    pub value: Option<Arc<str>>,
    /// Variables of the environment and the machine in it, as written: `${SIZE}`, `$ncpus`.
    pub variables: Arc<[String]>,
    /// Where it is written.
    pub place: Arc<TextPlace>,
    /// The value's bytes in the text of the place; empty if there is no value.
    pub value_span: Range<usize>,
    /// fio's `kb_base` for this setting: 1024, or 1000 if it was set before.
    pub kb_base: u16,
}

impl Setting {
    /// The option's main name.
    pub fn name(&self) -> &'static str {
        self.option.name
    }

    /// The value; empty if there is none.
    pub(crate) fn text(&self) -> &str {
        self.value.as_deref().unwrap_or_default().trim_start()
    }

    /// The value with its leading blanks, which matter to fio.
    pub(super) fn written(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }

    /// An error at the option: `NAME: PROBLEM`.
    pub(crate) fn refuse(&self, problem: &str, advice: impl Into<String>) -> Error {
        self.place.mark(self.error(problem, advice))
    }

    /// An error at the value: `NAME: PROBLEM`.
    pub(crate) fn refuse_value(&self, problem: &str, advice: impl Into<String>) -> Error {
        if self.value_span.is_empty() {
            return self.refuse(problem, advice);
        }
        self.place.mark_part(self.error(problem, advice), self.value_span.clone())
    }

    fn error(&self, problem: &str, advice: impl Into<String>) -> Error {
        Error::syntax(format!("{}: {problem}", self.option.name), advice)
    }
}
