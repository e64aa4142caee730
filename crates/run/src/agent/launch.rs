//! How an agent is started, connected and ended, wherever it runs.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};

use crate::error::AgentError;

/// Starts agents: the first one, and a new one for each that is lost.
pub trait Launch: Send {
    /// The agent's name in messages, such as its command.
    fn name(&self) -> String;

    /// Whether an agent finishes its trial if its connection is cut, and the next one can return
    /// the result ([`AgentOptions::finishes_trials`](super::AgentOptions::finishes_trials)).
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
    /// Its input; it ends by itself when this is dropped.
    pub input: Box<dyn Write + Send>,
    /// Its output.
    pub output: Box<dyn Read + Send>,
    /// The process.
    pub process: Box<dyn Process>,
}

/// The process of an agent.
pub trait Process: Send {
    /// How it ended; `None` if it has not.
    ///
    /// # Errors
    /// If its state is unknown.
    fn try_wait(&mut self) -> io::Result<Option<Ended>>;

    /// Ends it, and returns how it ended, if known.
    fn kill(self: Box<Self>) -> Option<String>;
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Whether it succeeded.
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
        // It may have ended by itself; then that status is returned.
        let _ = self.0.kill();
        self.0.wait().ok().map(|status| status.to_string())
    }
}
