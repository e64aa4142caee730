//! Where something is written.

use std::ops::Range;
use std::sync::Arc;

use iotax_experiment::Error;

use crate::lines::{by_line, line_at, place_in_file};

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
