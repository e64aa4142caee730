//! An agent that was started, and the streams to speak with it.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use iotax_load::{LoadProgress, Progress};

use super::frame::{receive, send};
use super::launch::{Ended, Launch, Launched, Process};
use super::message::{Command, Reply};
use super::timing::SILENCE;
use crate::agent_error::AgentError;

/// How often it is looked whether the user has had enough.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long an agent may take to end by itself.
const LAST_WAIT: Duration = Duration::from_secs(30);

pub(super) const ENDED: &str = "it ended";

/// An agent that lives, as far as is known.
pub(super) struct Connection {
    process: Box<dyn Process>,
    input: Box<dyn Write + Send>,
    replies: Receiver<io::Result<Reply>>,
    /// I/Os and bytes that it had done at its last sign of life.
    done: (u64, u64),
}

impl Connection {
    pub(super) fn start(agent: &mut dyn Launch) -> Result<Self, AgentError> {
        let Launched { input, mut output, process } = agent.launch()?;
        let (tell, replies) = channel();
        thread::spawn(move || {
            while let Some(reply) = receive(&mut output).transpose() {
                let is_last = reply.is_err();
                if tell.send(reply).is_err() || is_last {
                    return;
                }
            }
        });
        Ok(Self { process, input, replies, done: (0, 0) })
    }

    pub(super) fn ask(
        &mut self,
        command: &Command,
        limit: Option<Duration>,
        (stop, live): (&AtomicBool, &LoadProgress),
        progress: &Progress<'_>,
    ) -> Result<Reply, String> {
        self.send(command)?;
        let asked = Instant::now();
        let (mut heard, mut is_told_to_stop) = (asked, false);
        loop {
            match self.replies.recv_timeout(POLL_INTERVAL) {
                Ok(Ok(Reply::Alive { ios, bytes })) => {
                    let (ios_before, bytes_before) = self.done;
                    live.add(ios.saturating_sub(ios_before), bytes.saturating_sub(bytes_before));
                    self.done = (ios, bytes);
                    heard = Instant::now();
                }
                Ok(Ok(Reply::LayingOut { done, total })) => {
                    progress(done, total);
                    heard = Instant::now();
                }
                Ok(reply) => return reply.map_err(|error| error.to_string()),
                Err(RecvTimeoutError::Disconnected) => return Err(ENDED.to_owned()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if stop.load(Ordering::Relaxed) && !is_told_to_stop {
                self.send(&Command::Stop)?;
                is_told_to_stop = true;
            }
            if heard.elapsed() > SILENCE {
                return Err(format!("it said nothing for {SILENCE:?}"));
            }
            if limit.is_some_and(|limit| asked.elapsed() > limit) {
                let limit = limit.unwrap_or_default();
                return Err(format!("it did not come back within {limit:.0?}"));
            }
        }
    }

    fn send(&mut self, command: &Command) -> Result<(), String> {
        send(&mut self.input, command).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => ENDED.to_owned(),
            _ => error.to_string(),
        })
    }

    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    /// Ends it; says how it ended.
    pub(super) fn kill(self) -> Option<String> {
        self.process.kill()
    }

    /// Lets it end by itself.
    pub(super) fn end(self) -> Result<(), String> {
        let Self { mut process, input, .. } = self;
        drop(input);
        let waiting = Instant::now();
        loop {
            match process.try_wait() {
                Ok(Some(Ended { success: true, .. })) => return Ok(()),
                Ok(Some(Ended { status, .. })) => return Err(status),
                Err(error) => return Err(error.to_string()),
                Ok(None) if waiting.elapsed() > LAST_WAIT => {
                    let _ = process.kill();
                    return Err("it did not end".to_owned());
                }
                Ok(None) => thread::sleep(POLL_INTERVAL),
            }
        }
    }
}
