//! The one place where results become exit codes.

use std::fmt;
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
    /// What was checked may be either.
    GateUndecided,
    /// Arms kept failing; results so far are kept.
    Failed,
    /// As the process that did the work, which has said why.
    AsServer(u8),
}

impl Exit {
    /// Of two gates: one that failed, or else one that is undecided.
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
                // There is nowhere left to say that stderr is full; the exit code still tells.
                let _ = writeln!(io::stderr(), "{word}: {}", printable(&failure.to_string()));
            }
            code
        }
    })
}

/// Errors quote names and paths as they are, and those may hold sequences that drive a terminal.
pub(crate) fn printable(text: &str) -> String {
    let harmless = |c: char| c == '\n' || !iotax_report::is_unprintable(c);
    text.chars().map(|c| if harmless(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Why a command ended, and whose doing that is. It is made of every error that knows.
#[derive(Debug)]
pub(crate) struct Failure {
    fault: Fault,
    wants_space: bool,
    /// The error and its causes in their words, the outermost first.
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
    /// The user stopped what had nothing to show yet, and knows it.
    pub(crate) const fn stopped() -> Self {
        Self { fault: Fault::Interrupted, wants_space: false, causes: Vec::new() }
    }

    /// Whether smaller test files, or more space for them, would help.
    pub(crate) const fn wants_space(&self) -> bool {
        self.wants_space
    }

    /// The same with a line of advice.
    pub(crate) fn advised(self, advice: &str) -> Self {
        Self { causes: vec![format!("{self}\n{advice}")], ..self }
    }
}

/// The error and its causes, each said once: many of ours quote their cause in their own words.
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

/// What was being done when something failed.
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

/// What has to be there is not.
impl<T> Context<T> for Option<T> {
    fn context(self, doing: impl fmt::Display) -> Result<T> {
        self.with_context(|| doing)
    }

    fn with_context<D: fmt::Display>(self, doing: impl FnOnce() -> D) -> Result<T> {
        self.ok_or_else(|| bug(doing()))
    }
}

/// What came of reading a file that an argument names: one that is not there, or holds no text, is a
/// wrong argument.
pub(crate) fn read_argument<T>(read: io::Result<T>, context: impl FnOnce() -> String) -> Result<T> {
    use io::ErrorKind::{InvalidData, IsADirectory, NotADirectory, NotFound};
    read.map_err(|error| match error.kind() {
        NotFound | NotADirectory | IsADirectory | InvalidData => {
            usage(format!("{}: {error}", context()))
        }
        _ => failed(format!("{}: {error}", context())),
    })
}

/// Arguments that clap accepts but that make no sense together.
pub(crate) fn usage(text: impl Into<String>) -> Failure {
    Failure { fault: Fault::Usage, wants_space: false, causes: vec![text.into()] }
}

/// The machine does not allow it.
pub(crate) fn failed(text: impl Into<String>) -> Failure {
    Failure { fault: Fault::Environment, ..usage(text) }
}

/// What cannot be.
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
