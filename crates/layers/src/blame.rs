//! Who is responsible for an error, which determines the exit code.

use std::error::Error as StdError;
use std::io;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Who is responsible for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The request is wrong; other arguments help.
    Usage,
    /// The machine does not allow it in its present state.
    Environment,
    /// The user stopped it.
    Interrupted,
    /// A bug in iotax.
    Bug,
}

impl Fault {
    /// The fault of a file that could not be read: a path that does not exist is a wrong argument.
    pub fn of_reading(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Usage,
            _ => Self::Environment,
        }
    }
}

/// An error that knows who is responsible for it. Every error that ends `cli` implements it.
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
