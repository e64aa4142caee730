//! Turns results into exit codes; no other module does.

use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

use iotax_experiment::{Blame, Fault};

/// How a command ended, other than with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Done,
    /// The user interrupted the run; results so far are kept.
    Interrupted,
    /// A check failed.
    GateFailed,
    /// A check is undecided.
    GateUndecided,
    /// Arms kept failing; results so far are kept.
    Failed,
    /// The exit code of the server process, which has already printed the reason.
    AsServer(u8),
}

impl Exit {
    /// Combines two checks: failed if one failed, otherwise undecided if one is undecided.
    pub(crate) fn or_worse(self, other: Self) -> Self {
        let first = |exit| [self, other].contains(&exit).then_some(exit);
        first(Self::GateFailed).or(first(Self::GateUndecided)).unwrap_or(Self::Done)
    }

    pub(crate) const fn of(is_interrupted: bool, has_failed: bool) -> Self {
        match (is_interrupted, has_failed) {
            (true, _) => Self::Interrupted,
            (_, true) => Self::Failed,
            _ => Self::Done,
        }
    }
}

const GATE_FAILED: u8 = 1;
const USAGE: u8 = 2;
const ENVIRONMENT: u8 = 3;
const INTERRUPTED: u8 = 4;
const BUG: u8 = 5;
pub(crate) const GATE_UNDECIDED: u8 = 6;

/// Exits as interrupted, from a thread that no other thread waits for.
#[expect(clippy::exit, reason = "the main thread hangs in the kernel and never returns")]
pub(crate) fn leave(why: &str) -> ! {
    // If stderr fails too, the exit code still tells.
    let _ = writeln!(io::stderr(), "stopped: {why}");
    std::process::exit(INTERRUPTED.into())
}

/// Exits the process of a server that nobody needs any more, from another thread.
#[expect(clippy::exit, reason = "the main thread serves requests and never returns")]
pub(crate) fn served() -> ! {
    std::process::exit(0)
}

/// Prints the error, if there is one, and returns the exit code.
pub(crate) fn code(result: Result<Exit>) -> ExitCode {
    ExitCode::from(match result {
        Ok(Exit::Done) => 0,
        Ok(Exit::GateFailed) => GATE_FAILED,
        Ok(Exit::GateUndecided) => GATE_UNDECIDED,
        Ok(Exit::Interrupted) => INTERRUPTED,
        Ok(Exit::AsServer(code)) => code,
        Ok(Exit::Failed) => ENVIRONMENT,
        Err(failure) => {
            let (word, code) = match failure.fault {
                Fault::Usage => ("error", USAGE),
                Fault::Environment => ("error", ENVIRONMENT),
                Fault::Interrupted => ("stopped", INTERRUPTED),
                Fault::Bug => ("error", BUG),
            };
            if !failure.causes.is_empty() {
                // If stderr fails, the exit code still tells.
                let _ = writeln!(io::stderr(), "{word}: {}", printable(&failure.to_string()));
            }
            code
        }
    })
}

/// Replaces unprintable characters: quoted names and paths may contain escape sequences.
pub(crate) fn printable(text: &str) -> String {
    let harmless = |c: char| c == '\n' || !iotax_report::is_unprintable(c);
    text.chars().map(|c| if harmless(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Why a command failed, and who is at fault. Converts from every error with a [`Blame`].
#[derive(Debug)]
pub(crate) struct Failure {
    fault: Fault,
    wants_space: bool,
    /// Messages of the error and its causes, the outermost first.
    causes: Vec<String>,
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl<E: Blame> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut causes = vec![error.to_string()];
        let mut next = error.source();
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        Self { fault: error.fault(), wants_space: error.wants_space(), causes }
    }
}

impl Failure {
    /// The user interrupted a run without results; there is nothing to report.
    pub(crate) const fn stopped() -> Self {
        Self { fault: Fault::Interrupted, wants_space: false, causes: Vec::new() }
    }

    pub(crate) const fn fault(&self) -> Fault {
        self.fault
    }

    /// Whether the user can mend it by another command.
    pub(crate) const fn is_usage(&self) -> bool {
        matches!(self.fault, Fault::Usage)
    }

    /// The same, which was printed already.
    pub(crate) fn told(self) -> Self {
        Self { causes: Vec::new(), ..self }
    }

    /// Whether smaller test files, or more space for them, would help.
    pub(crate) const fn wants_space(&self) -> bool {
        self.wants_space
    }

    /// Adds a line of advice.
    pub(crate) fn advised(self, advice: &str) -> Self {
        Self { causes: vec![format!("{self}\n{advice}")], ..self }
    }
}

/// The error and its causes, without causes that an outer message already quotes.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = self.causes.iter().fold(String::new(), |said, cause| {
            let headline = cause.lines().next().unwrap_or_default();
            match (said.is_empty(), said.contains(headline)) {
                (true, _) => cause.clone(),
                (false, true) => said,
                (false, false) => format!("{said}: {cause}"),
            }
        });
        f.write_str(&said)
    }
}

/// Adds to an error what failed.
pub(crate) trait Context<T> {
    fn context(self, doing: impl fmt::Display) -> Result<T>;
    fn with_context<D: fmt::Display>(self, doing: impl FnOnce() -> D) -> Result<T>;
}

impl<T, E: Into<Failure>> Context<T> for std::result::Result<T, E> {
    fn context(self, doing: impl fmt::Display) -> Result<T> {
        self.with_context(|| doing)
    }

    fn with_context<D: fmt::Display>(self, doing: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| {
            let mut failure = error.into();
            failure.causes.insert(0, doing().to_string());
            failure
        })
    }
}

/// A missing value is a bug.
impl<T> Context<T> for Option<T> {
    fn context(self, doing: impl fmt::Display) -> Result<T> {
        self.with_context(|| doing)
    }

    fn with_context<D: fmt::Display>(self, doing: impl FnOnce() -> D) -> Result<T> {
        self.ok_or_else(|| bug(doing()))
    }
}

/// The result of reading a file that an argument names. A file that is missing or is not text is a
/// usage error.
pub(crate) fn read_argument<T>(read: io::Result<T>, context: impl FnOnce() -> String) -> Result<T> {
    use io::ErrorKind::{InvalidData, IsADirectory, NotADirectory, NotFound};
    read.map_err(|error| match error.kind() {
        NotFound | NotADirectory | IsADirectory | InvalidData => {
            usage(format!("{}: {error}", context()))
        }
        _ => failed(format!("{}: {error}", context())),
    })
}

/// An error in arguments that clap accepts, such as a contradiction.
pub(crate) fn usage(text: impl Into<String>) -> Failure {
    Failure { fault: Fault::Usage, wants_space: false, causes: vec![text.into()] }
}

/// An error of the environment.
pub(crate) fn failed(text: impl Into<String>) -> Failure {
    Failure { fault: Fault::Environment, ..usage(text) }
}

/// An internal error.
pub(crate) fn bug(text: impl fmt::Display) -> Failure {
    Failure { fault: Fault::Bug, ..usage(text.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_is_quoted_already_is_not_said_again() {
        let result: io::Result<()> = Err(io::Error::other("disk on fire"));
        let failure = result.context("cannot write x: disk on fire").context("arm a").unwrap_err();
        assert_eq!(failure.to_string(), "arm a: cannot write x: disk on fire");
        assert_eq!(failure.fault, Fault::Environment);
    }

    #[test]
    fn the_fault_of_an_error_is_that_of_what_it_became() {
        let interrupted: Failure = iotax_run::Error::from(iotax_rig::Error::Interrupted).into();
        assert_eq!(interrupted.fault, Fault::Interrupted);
        let result: Result<(), _> = Err(iotax_vdisk::Error::Depth { depth: 0, max: 1 });
        assert_eq!(result.context("mount").unwrap_err().fault, Fault::Usage);
        let message = "overflow".to_owned();
        let bug: Failure = iotax_load::Error::Panicked { job: "job".to_owned(), message }.into();
        assert_eq!(bug.fault, Fault::Bug);
    }

    #[test]
    fn names_in_errors_cannot_drive_a_terminal() {
        assert_eq!(printable("a\x1b[31mb\nc"), "a\u{fffd}[31mb\nc");
    }
}
