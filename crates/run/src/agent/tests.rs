use std::io::{PipeReader, PipeWriter, pipe};
use std::thread;

use super::frame::{receive, send};
use super::message::{Command, PROTOCOL, Reply};
use super::{AgentOptions, serve};
use crate::agent_error::FailureKind;

/// An agent in a thread, and the two ends to speak with it.
struct Served {
    to: PipeWriter,
    from: PipeReader,
    agent: thread::JoinHandle<std::io::Result<()>>,
}

impl Served {
    fn start() -> Self {
        let ((input, to), (from, output)) = (pipe().unwrap(), pipe().unwrap());
        let options = AgentOptions { program: "iotax".into(), state_dir: None };
        let agent = thread::spawn(move || serve(input, output, &options));
        Self { to, from, agent }
    }

    /// What it says next that is no sign of life.
    fn reply(&mut self) -> Option<Reply> {
        loop {
            match receive(&mut self.from).unwrap() {
                Some(Reply::Alive { .. }) => {}
                other => return other,
            }
        }
    }

    fn ask(&mut self, command: &Command) -> Reply {
        send(&mut self.to, command).unwrap();
        self.reply().unwrap()
    }
}

#[test]
fn an_agent_says_its_version_and_ends_with_its_input() {
    let mut served = Served::start();
    let hello = served.ask(&Command::Hello { protocol: PROTOCOL });
    assert!(matches!(hello, Reply::Hello { protocol: PROTOCOL, .. }), "{hello:?}");
    drop(served.to);
    served.agent.join().unwrap().unwrap();
}

#[test]
fn an_agent_without_arms_says_what_is_wrong() {
    let mut served = Served::start();
    let Reply::Failed { error, kind } = served.ask(&Command::Up { arm: 0 }) else { panic!() };
    assert_eq!(kind, FailureKind::Usage);
    insta::assert_snapshot!(error, @"the agent was asked for a trial before it was given arms");
}

#[test]
fn an_agent_that_is_told_garbage_ends() {
    let mut served = Served::start();
    std::io::Write::write_all(&mut served.to, &[0xff; 64]).unwrap();
    assert!(served.reply().is_none());
    let error = served.agent.join().unwrap().unwrap_err();
    insta::assert_snapshot!(error, @"it says something that is not of the protocol");
}
