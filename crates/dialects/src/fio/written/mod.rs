//! A job file or a command line as written: sections of settings, in fio's order.

mod arguments;
mod collect;
mod ini;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use iotax_experiment::Error;

use super::section::{COMMAND_LINE, Ignored, Include, Section, TextPlace};
use crate::lines::by_line;
use crate::shell::{self, Pasted, Tool};
use collect::Budget;

/// Reads a job file.
///
/// `include` gives the text of the files that `include` lines name, and the variables. Every value is one that its
/// option can have. Errors name the file and line.
pub fn read_job_file(name: &str, text: &str, include: Include<'_>) -> Result<Vec<Section>, Error> {
    let mut budget = Budget::new();
    let sections = ini::read_ini(name, text, include, &mut collect::Collector::new(), &mut budget)?;
    if sections.is_empty() {
        return Err(Error::syntax(
            format!("{name} has no job"),
            "begin a job with a line such as [job1]; [global] alone is none",
        ));
    }
    Ok(sections)
}

/// Reads a command line as a shell would hand it to fio; several of them where `&`, `;`, `&&`,
/// `sleep` and `wait` join them.
///
/// `include` gives the text of job files that the command names. Every value is one that its
/// option can have. Errors underline the part of the text.
pub fn read_command(text: &str, include: Include<'_>) -> Result<Vec<Section>, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let name = if text.trim_end().contains('\n') { "the script" } else { COMMAND_LINE };
    read_script(name, text, include)
}

/// The same of a file, in which places have a line and `name`.
pub(crate) fn read_script(
    name: &str,
    text: &str,
    include: Include<'_>,
) -> Result<Vec<Section>, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read = read_commands(name, text, include);
    read.map_err(|error| if name == COMMAND_LINE { error } else { by_line(error, name) })
}

/// The sections of all commands; `source` is what the text is called.
fn read_commands(source: &str, text: &str, include: Include<'_>) -> Result<Vec<Section>, Error> {
    let mut budget = Budget::new();
    budget.text(text)?;
    let whole =
        TextPlace { source: source.into(), line: 0, text: text.into(), span: 0..text.len() };
    let Pasted { runs, notes } = shell::read_pasted(text, Tool::Fio)?;
    let mut found: Vec<Section> = Vec::new();
    for run in runs {
        let mut sections = arguments::read_arguments(&whole, &run.words, include, &mut budget)?;
        if sections.is_empty() {
            return Err(no_job().at(text, run.span));
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
    first.ignored.extend(
        notes
            .into_iter()
            .map(|note| Ignored { place: Arc::new(whole.part(note.span)), why: note.why }),
    );
    Ok(found)
}

fn no_job() -> Error {
    Error::syntax(
        "this command has no job",
        "write --name=NAME in front of a job's options, or name a job file",
    )
}
