//! The one place where results become exit codes.

use std::process::ExitCode;

/// What `main` ends with, apart from success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done as asked.
    Done,
    /// The user stopped it; results so far are kept.
    Interrupted,
    /// Arms kept failing; results so far are kept.
    Failed,
}

const USAGE: u8 = 2;
const ENVIRONMENT: u8 = 3;
const INTERRUPTED: u8 = 4;

/// Prints an error, if it is one, and chooses the exit code.
pub fn code(result: anyhow::Result<Exit>) -> ExitCode {
    match result {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Interrupted) => ExitCode::from(INTERRUPTED),
        Ok(Exit::Failed) => ExitCode::from(ENVIRONMENT),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", explain(&error));
            ExitCode::from(if is_usage(&error) { USAGE } else { ENVIRONMENT })
        }
    }
}

/// The error and its causes, each said once: many of ours quote their cause in their own words.
fn explain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| {
        let headline = cause.lines().next().unwrap_or_default();
        match (said.is_empty(), said.contains(headline)) {
            (true, _) => cause,
            (false, true) => said,
            (false, false) => format!("{said}: {cause}"),
        }
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_is_quoted_already_is_not_said_again() {
        let cause = std::io::Error::other("disk on fire");
        let error = anyhow::Error::new(cause).context("cannot write x: disk on fire");
        assert_eq!(explain(&error.context("arm a")), "arm a: cannot write x: disk on fire");
    }
}
