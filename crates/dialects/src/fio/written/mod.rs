//! A job file or a command line as written: sections of settings, in fio's order.

mod arguments;
mod budget;
mod closest;
mod collect;
mod command;
mod ini;
mod program;
#[cfg(test)]
mod tests;
mod variables;

use iotax_experiment::Error;

use super::outside::Include;
use super::place::COMMAND_LINE;
use super::section::Section;
use crate::lines::by_line;

/// Reads a job file.
///
/// `include` gives the text of the files that `include` lines name, and the variables. Every value is one that its
/// option can have. Errors name the file and line.
pub fn read_job_file(name: &str, text: &str, include: Include<'_>) -> Result<Vec<Section>, Error> {
    let mut budget = budget::Budget::new();
    let sections = ini::read(name, text, include, &mut collect::Collector::new(), &mut budget)?;
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
    let read = command::read(name, text, include);
    read.map_err(|error| if name == COMMAND_LINE { error } else { by_line(error, name) })
}
