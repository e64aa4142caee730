//! A list of commands as one workload: who starts when.

use std::sync::Arc;

use iotax_experiment::Error;

use super::arguments;
use super::budget::Budget;
use crate::fio::outside::Include;
use crate::fio::place::Place;
use crate::fio::section::{Ignored, Section};
use crate::shell::{self, Pasted, Tool};

/// The sections of all commands; `source` is what the text is called.
pub(super) fn read(source: &str, text: &str, include: Include<'_>) -> Result<Vec<Section>, Error> {
    let mut budget = Budget::new();
    budget.text(text)?;
    let (source, text): (Arc<str>, Arc<str>) = (source.into(), text.into());
    let Pasted { runs, notes } = shell::read(&text, Tool::Fio)?;
    let mut found: Vec<Section> = Vec::new();
    for run in runs {
        let mut sections = arguments::read((&source, &text), &run.words, include, &mut budget)?;
        if sections.is_empty() {
            return Err(no_job().at(&text, run.span));
        }
        for section in &mut sections {
            section.phase = run.start.phase;
            section.command = run.start.command;
            section.start_offset_ns = run.start.offset_ns;
        }
        found.append(&mut sections);
    }
    let Some(first) = found.first_mut() else {
        return Err(Error::syntax("this has no fio command", "begin with fio --name=..."));
    };
    first.ignored.extend(notes.into_iter().map(|note| {
        let (source, text) = (Arc::clone(&source), Arc::clone(&text));
        let place = Arc::new(Place { source, line: 0, text, span: note.span });
        Ignored { place, why: note.why }
    }));
    Ok(found)
}

fn no_job() -> Error {
    Error::syntax(
        "this command has no job",
        "write --name=NAME in front of a job's options, or name a job file",
    )
}
