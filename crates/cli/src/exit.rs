//! The one place where results become exit codes.

use std::process::ExitCode;

/// What `main` ends with, apart from success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done as asked.
    Done,
    /// The user stopped it; results so far are kept.
    Interrupted,
    /// No arm could be measured.
    NothingMeasured,
}

const USAGE: u8 = 2;
const ENVIRONMENT: u8 = 3;
const INTERRUPTED: u8 = 4;

/// Prints an error, if it is one, and chooses the exit code.
pub fn code(result: anyhow::Result<Exit>) -> ExitCode {
    match result {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Interrupted) => ExitCode::from(INTERRUPTED),
        Ok(Exit::NothingMeasured) => ExitCode::from(ENVIRONMENT),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(if is_usage(&error) { USAGE } else { ENVIRONMENT })
        }
    }
}

/// What the user wrote is wrong, as opposed to what the machine allows.
fn is_usage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<iotax_spec::Error>() || cause.is::<Usage>())
}

/// `iotax ... | head` is no error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Arguments that clap accepts but that make no sense together.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}
