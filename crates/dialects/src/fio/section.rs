//! What a text of fio's takes from outside of itself.

use std::ops::Range;
use std::sync::Arc;

use iotax_experiment::Error;

use super::options::OptionInfo;
use crate::lines::{by_line, line_at, place_in_file};

/// Facts of the machine that job files may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// `$pagesize`, in bytes.
    pub page_bytes: u64,
    /// `$mb_memory`, in MiB.
    pub memory_mib: u64,
    /// `$ncpus`: CPUs that are configured, online or not.
    pub cpus: u64,
}

/// Files, variables and facts that a job file or a command line names.
pub trait Outside {
    /// The text of a file by its name, or why there is none.
    ///
    /// # Errors
    /// In words, for people.
    fn file(&self, name: &str) -> Result<String, String>;

    /// A variable of the environment; nothing is known of it where a text is read apart from any
    /// environment.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// The machine, where there is one.
    fn machine(&self) -> Option<Machine> {
        None
    }
}

/// Files alone.
impl<F: Fn(&str) -> Result<String, String>> Outside for F {
    fn file(&self, name: &str) -> Result<String, String> {
        self(name)
    }
}

/// What lies around the text that is read.
pub type Include<'a> = &'a dyn Outside;

// Where something is written.

/// What a command line is called where a file has its name.
pub(super) const COMMAND_LINE: &str = "a command line";

/// A part of a line of a job file, or of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPlace {
    /// The file's name as the caller or `include` gave it; `a command line` for those, and `the
    /// script` for one of several lines.
    pub source: Arc<str>,
    /// Line, from 1; 0 on command lines.
    pub line: usize,
    /// The line, or all command lines.
    pub text: Arc<str>,
    /// Bytes of `text`: the option with its value, or the name of a section.
    pub span: Range<usize>,
}

impl TextPlace {
    /// In words: `job.fio, line 7`, or `a command line`.
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

    /// Puts this position to an error, the caret under all of it.
    pub(crate) fn mark(&self, error: Error) -> Error {
        self.mark_part(error, self.span.clone())
    }

    /// Puts a position on this line to an error; `part` is in bytes of the line.
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

// One job as written: its settings, in fio's order.

/// A job as written. The settings of `[global]` that apply to it stand in front of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Name of the job; several may have the same.
    pub name: String,
    /// Where the section begins.
    pub place: Arc<TextPlace>,
    /// In the order in which fio applies them: a later one of the same option counts.
    pub settings: Vec<Setting>,
    /// Which of several command lines joined by `&`, from 0; 0 in a job file.
    pub command: u32,
    /// Which of several command lines that wait for each other (`;`, `&&`, `wait`), from 0.
    pub phase: u32,
    /// Start of its command line after the start of its phase, from `sleep` between them.
    pub start_offset_ns: u64,
    /// What is left out of the same command line (`--output=x`, `sudo`), at its first section.
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

/// An option of a job, as written. Cheap to clone: `[global]` settings are in every job.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub option: &'static OptionInfo,
    /// What stands behind `=`, without blanks around it; `None` where nothing does.
    pub value: Option<Arc<str>>,
    /// What was put into it from the environment and the machine, as written: `${SIZE}`, `$ncpus`.
    pub variables: Arc<[String]>,
    /// Where it is written.
    pub place: Arc<TextPlace>,
    /// The value's bytes in the place's text; empty where there is no value.
    pub value_span: Range<usize>,
    /// fio's `kb_base` as this setting was read: 1024, or 1000 where it was set before.
    pub kb_base: u16,
}

impl Setting {
    /// The option's first name.
    pub fn name(&self) -> &'static str {
        self.option.name
    }

    /// The value, or nothing where the option stands alone.
    pub(crate) fn text(&self) -> &str {
        self.value.as_deref().unwrap_or_default().trim_start()
    }

    /// The value with the blanks in front of it, which fio minds.
    pub(super) fn written(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }

    /// An error that underlines the option: `NAME: PROBLEM`.
    pub(crate) fn refuse(&self, problem: &str, advice: impl Into<String>) -> Error {
        self.place.mark(self.error(problem, advice))
    }

    /// An error that underlines the value: `NAME: PROBLEM`.
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
