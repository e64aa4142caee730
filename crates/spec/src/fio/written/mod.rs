//! A job file or a command line as written: sections of settings, in fio's order.

mod arguments;
mod budget;
mod closest;
mod collect;
mod command;
mod ini;
mod outside;
mod place;
mod program;
mod setting;
mod shell;
#[cfg(test)]
mod tests;
mod variables;

use std::sync::Arc;

pub use outside::{Include, Machine, Outside};
pub use place::Place;
pub use setting::Setting;

use crate::error::Error;

/// A job as written. The settings of `[global]` that apply to it stand in front of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Name of the job; several may have the same.
    pub name: String,
    /// Where the section begins.
    pub place: Arc<Place>,
    /// In the order in which fio applies them: a later one of the same option counts.
    pub settings: Vec<Setting>,
    /// Which of several command lines joined by `&`, from 0; 0 in a job file.
    pub command: u32,
    /// Which of several command lines that wait for each other (`;`, `&&`, `wait`), from 0.
    pub phase: u32,
    /// Start of its command line after the start of its phase, from `sleep` between them.
    pub start_offset_ns: u64,
    /// Options about fio's own output on the same command line (`--output=x`), at its first
    /// section.
    pub ignored: Vec<Arc<Place>>,
}

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
    let name = if text.trim_end().contains('\n') { "the script" } else { place::COMMAND_LINE };
    read_script(name, text, include)
}

/// The same of a file, in which places have a line and `name`.
pub fn read_script(name: &str, text: &str, include: Include<'_>) -> Result<Vec<Section>, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    command::read(name, text, include).map_err(|error| place::by_line(error, name))
}
