//! The one place where results become exit codes.

use std::io::{self, Write as _};
use std::process::ExitCode;

use iotax_experiment::{Blame, Fault};

/// What `main` ends with, apart from success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done as asked.
    Done,
    /// The user stopped it; results so far are kept.
    Interrupted,
    /// What was checked is not as it should be.
    GateFailed,
    /// Arms kept failing; results so far are kept.
    Failed,
    /// As the process that did the work, which has said why.
    AsServer(u8),
}

impl Exit {
    pub(crate) const fn of(is_interrupted: bool, has_failed: bool) -> Self {
        match (is_interrupted, has_failed) {
            (true, _) => Self::Interrupted,
            (_, true) => Self::Failed,
            _ => Self::Done,
        }
    }
}

/// The user stopped it before anything was measured, and knows.
#[derive(Debug)]
pub(crate) struct Stopped;

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Stopped {}

const GATE_FAILED: u8 = 1;
const USAGE: u8 = 2;
const ENVIRONMENT: u8 = 3;
const INTERRUPTED: u8 = 4;
const BUG: u8 = 5;

/// Ends the process from a thread that the others do not wait for, as one that was stopped.
#[expect(clippy::exit, reason = "the main thread hangs in the kernel, and never returns")]
pub(crate) fn leave(why: &str) -> ! {
    // As below, the exit code tells if nothing else can.
    let _ = writeln!(io::stderr(), "stopped: {why}");
    std::process::exit(INTERRUPTED.into())
}

/// Ends a server's process from a thread beside the one that serves: nobody wants it any more.
#[expect(clippy::exit, reason = "the main thread serves, and never returns")]
pub(crate) fn served() -> ! {
    std::process::exit(0)
}

/// Prints an error, if it is one, and chooses the exit code.
pub(crate) fn code(result: anyhow::Result<Exit>) -> ExitCode {
    match result {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::GateFailed) => ExitCode::from(GATE_FAILED),
        Ok(Exit::Interrupted) => ExitCode::from(INTERRUPTED),
        Ok(Exit::AsServer(code)) => ExitCode::from(code),
        Ok(Exit::Failed) => ExitCode::from(ENVIRONMENT),
        Err(error) if error.is::<Stopped>() => ExitCode::from(INTERRUPTED),
        Err(error) => {
            let (word, code) = match fault(&error) {
                Fault::Interrupted => ("stopped", INTERRUPTED),
                Fault::Usage => ("error", USAGE),
                Fault::Environment => ("error", ENVIRONMENT),
                Fault::Bug => ("error", BUG),
            };
            let text = printable(&explain(&error));
            // There is nowhere left to say that stderr is full; the exit code still tells.
            let _ = writeln!(io::stderr(), "{word}: {text}");
            ExitCode::from(code)
        }
    }
}

/// Errors quote names and paths as they are, and those may hold sequences that drive a terminal.
pub(crate) fn printable(text: &str) -> String {
    let harmless = |c: char| c == '\n' || !iotax_report::is_unprintable(c);
    text.chars().map(|c| if harmless(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Whose doing it is, by the first cause that knows.
fn fault(error: &anyhow::Error) -> Fault {
    fn of<E: Blame + 'static>(cause: &(dyn std::error::Error + 'static)) -> Option<Fault> {
        cause.downcast_ref::<E>().map(Blame::fault)
    }
    let known = error.chain().find_map(|cause| {
        of::<Usage>(cause)
            .or_else(|| of::<iotax_experiment::Error>(cause))
            .or_else(|| of::<iotax_catalog::Error>(cause))
            .or_else(|| of::<iotax_dialects::fio::Beyond>(cause))
            .or_else(|| of::<iotax_dialects::Error>(cause))
            .or_else(|| of::<iotax_inspect::Error>(cause))
            .or_else(|| of::<iotax_load::Error>(cause))
            .or_else(|| of::<iotax_record::Error>(cause))
            .or_else(|| of::<iotax_rig::Error>(cause))
            .or_else(|| of::<iotax_run::Error>(cause))
            .or_else(|| of::<iotax_vdisk::Error>(cause))
    });
    known.unwrap_or(Fault::Environment)
}

/// The error and its causes, each said once: many of ours quote their cause in their own words.
pub(crate) fn explain(error: &anyhow::Error) -> String {
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
pub(crate) fn is_usage(error: &anyhow::Error) -> bool {
    fault(error) == Fault::Usage
}

/// Arguments that clap accepts but that make no sense together.
#[derive(Debug)]
pub(crate) struct Usage(pub String);

/// What came of reading a file that an argument names: one that is not there, or holds no text, is a
/// wrong argument.
pub(crate) fn read_argument<T>(
    read: io::Result<T>,
    context: impl FnOnce() -> String,
) -> anyhow::Result<T> {
    use io::ErrorKind::{InvalidData, IsADirectory, NotADirectory, NotFound};
    read.map_err(|error| match error.kind() {
        NotFound | NotADirectory | IsADirectory | InvalidData => {
            usage(format!("{}: {error}", context()))
        }
        _ => anyhow::Error::new(error).context(context()),
    })
}

pub(crate) fn usage(text: impl Into<String>) -> anyhow::Error {
    Usage(text.into()).into()
}

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

impl Blame for Usage {
    fn fault(&self) -> Fault {
        Fault::Usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_is_quoted_already_is_not_said_again() {
        let cause = io::Error::other("disk on fire");
        let error = anyhow::Error::new(cause).context("cannot write x: disk on fire");
        assert_eq!(explain(&error.context("arm a")), "arm a: cannot write x: disk on fire");
    }

    #[test]
    fn names_in_errors_cannot_drive_a_terminal() {
        assert_eq!(printable("a\x1b[31mb\nc"), "a\u{fffd}[31mb\nc");
    }
}
