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

use crate::error::Error;
use crate::workload::Workload;

/// Reads one command line, or several as one workload.
///
/// The result is not yet validated: see [`Workload::validate`].
///
/// # Errors
/// What `DiskSpd` would refuse, and flags that have no meaning here, each with its position.
pub fn from_command(text: &str) -> Result<Workload, Error> {
    let mut lines = Vec::new();
    for command in split::commands(text)? {
        let line = flags::read(&command).map_err(|(span, error)| error.at(text, span))?;
        conflicts::refuse(&line).map_err(|(span, error)| error.at(text, span))?;
        lines.push(line);
    }
    meaning::workload(text, &lines)
}

#[cfg(test)]
mod tests;
