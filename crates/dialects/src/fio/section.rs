//! One job as written: its settings, in fio's order.

use std::ops::Range;
use std::sync::Arc;

use iotax_experiment::Error;

use super::options::OptionInfo;
use super::place::TextPlace;

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
