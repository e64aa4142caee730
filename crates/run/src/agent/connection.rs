//! A running agent, and the streams to communicate with it.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use iotax_load::{LayoutProgress, LoadProgress};
use zeroize::Zeroizing;

use super::frame::{Limit, framed, receive};
use super::launch::{Ended, Launch, Launched, Process};
use super::message::{Command, Reply};
use super::timing::SILENCE;
use crate::error::AgentError;

/// How often to check whether the user wants to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long an agent may take to end by itself.
const LAST_WAIT: Duration = Duration::from_secs(30);

pub(super) const ENDED: &str = "it exited";

/// Replies that are buffered here; further ones wait at the agent.
const MOST_REPLIES: usize = 8;
/// How long an agent may take to answer after the user wants to stop.
const STOPPING: Duration = Duration::from_secs(15);
/// The same while it removes what it has made.
const REMOVING: Duration = Duration::from_mins(2);

/// An agent that is alive, as far as is known.
pub(super) struct Connection {
    process: Box<dyn Process>,
    /// Written by a separate thread: an agent that does not read must not block the caller.
    commands: SyncSender<Zeroizing<Vec<u8>>>,
    replies: Receiver<io::Result<Reply>>,
    /// The size limit of its next reply.
    limit: Arc<Mutex<Limit>>,
    /// Its progress, for display.
    live: Arc<LoadProgress>,
    /// I/Os and bytes that it had done at its last sign of life.
    done: (u64, u64),
}

impl Connection {
    pub(super) fn start(
        agent: &mut dyn Launch,
        live: Arc<LoadProgress>,
    ) -> Result<Self, AgentError> {
        let Launched { mut input, mut output, process } = agent.launch()?;
        let limit = Arc::new(Mutex::new(Limit::PLAIN));
        let of_reply = Arc::clone(&limit);
        let (tell, replies) = sync_channel(MOST_REPLIES);
        thread::spawn(move || {
            let limit = || *of_reply.lock().unwrap_or_else(PoisonError::into_inner);
            while let Some(reply) = receive(&mut output, limit).transpose() {
                let is_last = reply.is_err();
                if tell.send(reply).is_err() || is_last {
                    return;
                }
            }
        });
        // One command, and one request to stop.
        let (commands, to_write) = sync_channel::<Zeroizing<Vec<u8>>>(2);
        thread::spawn(move || {
            // A failed write shows as a missing answer.
            let _ = to_write.iter().try_for_each(|frame| {
                input.write_all(&frame)?;
                input.flush()
            });
        });
        Ok(Self { process, commands, replies, limit, live, done: (0, 0) })
    }

    /// Sends a command and waits for the answer: at most for `limit`, if there is one, and only a
    /// moment longer once `stop` is set.
    pub(super) fn ask(
        &mut self,
        command: &Command,
        limit: Option<Duration>,
        stop: &AtomicBool,
        progress: &LayoutProgress<'_>,
    ) -> Result<Reply, String> {
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = command.limit();
        self.send(command)?;
        let asked = Instant::now();
        let (mut heard, mut stopped) = (asked, None);
        loop {
            match self.replies.recv_timeout(POLL_INTERVAL) {
                Ok(Ok(Reply::Alive { ios, bytes })) => {
                    let before = std::mem::replace(&mut self.done, (ios, bytes));
                    self.live.add(ios.saturating_sub(before.0), bytes.saturating_sub(before.1));
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
            if stop.load(Ordering::Relaxed) && stopped.is_none() {
                self.send(&Command::Stop)?;
                stopped = Some(Instant::now());
            }
            if heard.elapsed() > SILENCE {
                return Err(format!("it sent nothing for {SILENCE:?}"));
            }
            let patience = if command.removes() { REMOVING } else { STOPPING };
            if stopped.is_some_and(|stopped| stopped.elapsed() > patience) {
                return Err(format!("it did not stop within {patience:?}"));
            }
            if limit.is_some_and(|limit| asked.elapsed() > limit) {
                let limit = iotax_quantity::span(limit.unwrap_or_default().as_secs());
                return Err(format!("it did not answer within {limit}"));
            }
        }
    }

    /// Passes a command to the writing thread. An agent that does not read its input is given up,
    /// because each command is answered before the next.
    fn send(&mut self, command: &Command) -> Result<(), String> {
        let frame = framed(command).map_err(|error| error.to_string())?;
        self.commands.try_send(frame).map_err(|error| match error {
            TrySendError::Full(_) => "it is not reading its input".to_owned(),
            TrySendError::Disconnected(_) => ENDED.to_owned(),
        })
    }

    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    /// Ends it, and returns how it ended.
    pub(super) fn kill(self) -> Option<String> {
        self.process.kill()
    }

    /// Lets it end by itself; it has less time once `stop` is set.
    pub(super) fn end(self, stop: &AtomicBool) -> Result<(), String> {
        let Self { mut process, commands, .. } = self;
        drop(commands);
        let waiting = Instant::now();
        loop {
            match process.try_wait() {
                Ok(Some(Ended { success: true, .. })) => return Ok(()),
                Ok(Some(Ended { status, .. })) => return Err(status),
                Err(error) => return Err(error.to_string()),
                Ok(None)
                    if waiting.elapsed() > LAST_WAIT
                        || stop.load(Ordering::Relaxed) && waiting.elapsed() > STOPPING =>
                {
                    let _ = process.kill();
                    return Err("it did not exit".to_owned());
                }
                Ok(None) => thread::sleep(POLL_INTERVAL),
            }
        }
    }
}
