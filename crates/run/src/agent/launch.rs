//! How an agent is started, spoken to and ended, wherever it is to be.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};

use crate::error::AgentError;

/// Starts agents: the first, and another for each that is lost.
pub trait Launch: Send {
    /// What messages call the agent, such as its command.
    fn name(&self) -> String;

    /// Whether one whose connection is cut finishes its trial, and the next one knows what it came to
    /// ([`AgentOptions::finishes_trials`](super::AgentOptions::finishes_trials)).
    fn finishes_trials(&self) -> bool {
        false
    }

    /// Starts one.
    ///
    /// # Errors
    /// Whatever keeps it from being started.
    fn launch(&mut self) -> Result<Launched, AgentError>;
}

/// An agent that was started.
pub struct Launched {
    /// What it is told; it ends by itself when this is dropped.
    pub input: Box<dyn Write + Send>,
    /// What it says, to its end.
    pub output: Box<dyn Read + Send>,
    /// Itself.
    pub process: Box<dyn Process>,
}

/// The process of an agent.
pub trait Process: Send {
    /// How it ended; `None` if it has not.
    ///
    /// # Errors
    /// If nobody knows any more.
    fn try_wait(&mut self) -> io::Result<Option<Ended>>;

    /// Ends it; says how it ended, if that can be known.
    fn kill(self: Box<Self>) -> Option<String>;
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Whether it did all that it was to do.
    pub success: bool,
    /// In words, such as `exit status: 1`.
    pub status: String,
}

/// An agent that is a child of this process.
pub struct ChildAgent {
    /// Its program and its arguments, such as `ssh host iotax agent`.
    pub command: Vec<String>,
}

impl Launch for ChildAgent {
    fn name(&self) -> String {
        self.command.join(" ")
    }

    fn launch(&mut self) -> Result<Launched, AgentError> {
        let failed = |source| AgentError::Start { command: self.name(), source };
        let [program, arguments @ ..] = self.command.as_slice() else {
            return Err(failed(io::Error::from(io::ErrorKind::InvalidInput)));
        };
        let mut child = std::process::Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C on the terminal is for this process, which tells it.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (input, output) = input.zip(output).expect("both are piped");
        Ok(Launched {
            input: Box::new(input),
            output: Box::new(output),
            process: Box::new(ChildProcess(child)),
        })
    }
}

struct ChildProcess(Child);

impl Process for ChildProcess {
    fn try_wait(&mut self) -> io::Result<Option<Ended>> {
        let status = self.0.try_wait()?;
        Ok(status.map(|status| Ended { success: status.success(), status: status.to_string() }))
    }

    fn kill(mut self: Box<Self>) -> Option<String> {
        // It may have ended by itself; then that is what is told.
        let _ = self.0.kill();
        self.0.wait().ok().map(|status| status.to_string())
    }
}
