//! `--iostat`: the tables of each trial, as soon as it is over.

use anyhow::Result;
use iotax_record::ExperimentHead;
use iotax_run::{Event, Observer};

use crate::args::Format;
use crate::exit::Usage;
use crate::output::say;
use crate::progress::ProgressLine;

/// The progress line, and the tables if they are wanted.
pub(crate) struct Shown<'a> {
    /// On stderr.
    pub line: &'a mut ProgressLine,
    /// What is run.
    pub experiment: &'a ExperimentHead,
    /// Whether to print tables on stdout.
    pub iostat: bool,
}

impl Observer for Shown<'_> {
    fn on(&mut self, event: &Event<'_>) {
        if let (Event::TrialEnded(trial), true) = (event, self.iostat) {
            let tables = iotax_report::iostat(self.experiment, trial);
            // A closed pipe is not an error (`say`). Another one ends the tables, not the
            // measurement; the results, printed at the end, meet it again and report it.
            self.iostat = self.line.aside(|| say(&tables)).is_ok();
        }
        self.line.on(event);
    }
}

/// Tables between the lines of a machine-readable format would break it.
///
/// # Errors
/// [`Usage`] if `--iostat` is asked for with a format other than text.
pub(crate) fn refuse_unless_text(iostat: bool, format: Format) -> Result<()> {
    if !iostat || format == Format::Text {
        return Ok(());
    }
    let usage = "--iostat prints tables for people, which a program that reads the results would \
                 trip over: leave out --format, or leave out --iostat (the record has the samples \
                 in any case)";
    Err(Usage(usage.to_owned()).into())
}
