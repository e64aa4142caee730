//! Command lines of `DiskSpd` 2.2, with their meaning on Linux.
//!
//! ```text
//! diskspd -b256k -d30 -o10 -t1 -Sh -w100 -L -Z1G -c2G e:\io.tst.bin
//! ```
//!
//! Several command lines run as a shell would run them: lines of a batch file one after the other, what
//! `&` joins (or `start` starts) together. What `DiskSpd` refuses is refused here, in its sense; flags
//! without a meaning here are refused by name, or told in [`Workload::notes`] where leaving them out
//! changes nothing that is measured. Sources: `CmdLineParser.cpp` and `Profile::Validate` of
//! <https://github.com/microsoft/diskspd>, and its wiki.

mod conflicts;
mod flags;
mod line;
mod meaning;
mod split;
mod values;

use std::ops::Range;

use iotax_experiment::{Error, Workload};

use crate::lines::by_line;

/// Reads one command line, or several: a phase for those that run together.
///
/// The result is not yet validated: see [`Workload::validate`].
///
/// # Errors
/// What `DiskSpd` would refuse, and flags that have no meaning here, each with its position.
pub fn from_command(text: &str) -> Result<Vec<Workload>, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().contains('\n') { from_script("the script", text) } else { read(text) }
}

/// The same of a file, in which places have a line and `name`.
///
/// # Errors
/// As [`from_command`].
pub fn from_script(name: &str, text: &str) -> Result<Vec<Workload>, Error> {
    read(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| by_line(error, name))
}

fn read(text: &str) -> Result<Vec<Workload>, Error> {
    let mut lines = Vec::new();
    let (commands, mut notes) = split::commands(text)?;
    for command in commands {
        let placed = |(span, error): (Range<usize>, Box<Error>)| {
            typed(*error, command.slashes).at(text, span)
        };
        let mut line = flags::read_flags(&command).map_err(placed)?;
        conflicts::refuse(&line).map_err(placed)?;
        line.slashes = command.slashes;
        line.start = command.start;
        for note in &mut line.notes {
            *note = split::as_typed(note, command.slashes);
        }
        lines.push(line);
    }
    let mut phases = meaning::phases(text, &lines)?;
    if let Some(first) = phases.first_mut() {
        notes.append(&mut first.notes);
        first.notes = notes;
    }
    Ok(phases)
}

/// An error that names flags as they were typed.
fn typed(error: Error, slashes: bool) -> Error {
    match error {
        Error::Syntax { problem, advice } => {
            let typed = |message: &str| split::as_typed(message, slashes);
            Error::syntax(typed(&problem), typed(&advice))
        }
        error => error,
    }
}

#[cfg(test)]
mod tests;
