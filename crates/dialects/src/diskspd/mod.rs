//! Command lines of `DiskSpd` 2.2, with their meaning on Linux.
//!
//! ```text
//! diskspd -b256k -d30 -o10 -t1 -Sh -w100 -L -Z1G -c2G e:\io.tst.bin
//! ```
//!
//! Several command lines, joined by `&` or line breaks, are one workload: their jobs start
//! together. What `DiskSpd` refuses is refused here, in its sense; flags without a meaning here are
//! refused by name, or told in [`Workload::notes`] where leaving them out changes nothing that is
//! measured. Sources: `CmdLineParser.cpp` and `Profile::Validate` of
//! <https://github.com/microsoft/diskspd>, and its wiki.

mod caching;
mod conflicts;
mod flags;
mod line;
mod meaning;
mod split;
mod unoffered;
mod values;

use std::ops::Range;

use iotax_spec::{Error, Workload};

/// Reads one command line, or several as one workload.
///
/// The result is not yet validated: see [`Workload::validate`].
///
/// # Errors
/// What `DiskSpd` would refuse, and flags that have no meaning here, each with its position.
pub fn from_command(text: &str) -> Result<Workload, Error> {
    let mut lines = Vec::new();
    for command in split::commands(text)? {
        let placed = |(span, error): (Range<usize>, Box<Error>)| {
            typed(*error, command.slashes).at(text, span)
        };
        let mut line = flags::read(&command).map_err(placed)?;
        conflicts::refuse(&line).map_err(placed)?;
        line.slashes = command.slashes;
        for note in &mut line.notes {
            *note = split::as_typed(note, command.slashes);
        }
        lines.push(line);
    }
    meaning::workload(text, &lines)
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
