//! Whose doing an error is: the one thing that its exit code depends on.

use std::error::Error as StdError;
use std::io;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Whose doing an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// What was asked for is wrong: another argument is the way out.
    Usage,
    /// The machine does not allow it, as it is.
    Environment,
    /// The user stopped it.
    Interrupted,
    /// This program's own.
    Bug,
}

impl Fault {
    /// That of a file which could not be read: an argument that leads nowhere is a wrong one.
    pub fn of_reading(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Usage,
            _ => Self::Environment,
        }
    }
}

/// An error that knows whose doing it is. Every error that `cli` ends with is one.
pub trait Blame: StdError {
    fn fault(&self) -> Fault;

    /// Whether smaller test files, or more space for them, would help.
    fn wants_space(&self) -> bool {
        false
    }
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Value { .. }
            | Self::Unknown { .. }
            | Self::Duplicate { .. }
            | Self::Syntax { .. }
            | Self::Impossible { .. }
            | Self::Cloud { .. } => Fault::Usage,
            Self::InText { source, .. } | Self::InFile { source, .. } => source.fault(),
        }
    }
}

impl Blame for iotax_catalog::Error {
    fn fault(&self) -> Fault {
        Fault::Usage
    }
}

impl Blame for io::Error {
    fn fault(&self) -> Fault {
        Fault::Environment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_does_not_change_whose_doing_it_is() {
        let error = Error::syntax("a", "b").at("text", 0..1);
        assert_eq!(error.fault(), Fault::Usage);
    }

    #[test]
    fn a_file_that_is_not_there_is_a_wrong_argument_and_one_that_is_closed_is_not() {
        let fault = |kind: io::ErrorKind| Fault::of_reading(&kind.into());
        assert_eq!(fault(io::ErrorKind::NotFound), Fault::Usage);
        assert_eq!(fault(io::ErrorKind::PermissionDenied), Fault::Environment);
    }
}
