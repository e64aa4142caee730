//! The agent: carries out commands on its machine, one after the other.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use iotax_experiment::{Fault, Workload};
use iotax_load::LoadProgress;
use iotax_record::HostRole;
use iotax_rig::Options;

use super::contents::Contents;
use super::frame::{Limit, receive, send};
use super::keep::undo;
use super::kept::{self, Alone};
use super::look::looked;
use super::message::{Command, Open, PROTOCOL, Reply};
use super::reach::reach;
use super::timing::{GRACE, HEARTBEAT, longest};
use crate::drivers::Drivers;
use crate::error::{AgentError, Error};
use crate::host::{Arms, Runner, here};
use crate::local::Local;

/// Options of an agent.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// The iotax program, which serves virtual disks when run with `disk serve`.
    pub program: PathBuf,
    /// Where the undo journal is kept.
    pub state_dir: Option<PathBuf>,
    /// Whether to finish a trial even if the connection is cut, and keep its result in the same
    /// directory for the next agent.
    pub finishes_trials: bool,
}

impl AgentOptions {
    /// Where results are kept, if trials are finished.
    fn kept_in(&self) -> Option<&Path> {
        self.state_dir.as_deref().filter(|_| self.finishes_trials)
    }
}

/// Serves the client on `input` until that ends; then everything is taken down.
///
/// # Errors
/// If an answer cannot be written, or the input is not a command.
pub fn serve(
    mut input: impl Read + Send + 'static,
    output: impl Write + Send,
    options: &AgentOptions,
) -> io::Result<()> {
    let (stop, live) = (Arc::new(AtomicBool::new(false)), Arc::new(LoadProgress::default()));
    // Each is answered before the next is sent, so further ones can wait in the stream.
    let (commands, asked) = sync_channel(1);
    let is_cut = Arc::new(AtomicBool::new(false));
    let mut listener = Listener {
        commands,
        stop: Arc::clone(&stop),
        is_cut: Arc::clone(&is_cut),
        finishes_trials: options.kept_in().is_some(),
        finish_until: None,
    };
    // Not waited for: it may be at a read that never ends.
    thread::spawn(move || {
        while listener.hear(receive(&mut input, || Limit::PLAIN)) {}
        listener.end();
    });
    let output = Mutex::new(output);
    let tell =
        |reply: &Reply| send(&mut *output.lock().unwrap_or_else(PoisonError::into_inner), reply);
    thread::scope(|scope| {
        let (over, is_over) = channel();
        let counters = Arc::clone(&live);
        scope.spawn(move || beat(&tell, &counters, &is_over));
        let mut agent = Agent {
            options,
            stop,
            live,
            contents: Contents::default(),
            open: None,
            local: None,
            alone: None,
        };
        let served = asked.into_iter().try_for_each(|command| {
            let reply = agent.reply(command?, &tell);
            if is_cut.load(Ordering::Relaxed) {
                return Ok(());
            }
            tell(&reply.unwrap_or_else(|error| Reply::failed(&error)))
        });
        drop(over);
        served
    })
}

/// Sends heartbeats until `is_over` is closed.
fn beat(tell: &dyn Fn(&Reply) -> io::Result<()>, live: &LoadProgress, is_over: &Receiver<()>) {
    while is_over.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
        if tell(&Reply::Alive { ios: live.ios(), bytes: live.bytes() }).is_err() {
            return;
        }
    }
}

/// Passes on the commands to an agent.
struct Listener {
    commands: SyncSender<io::Result<Command>>,
    stop: Arc<AtomicBool>,
    /// The connection ended while there was something to finish: there is nobody to report to.
    is_cut: Arc<AtomicBool>,
    finishes_trials: bool,
    /// The latest end of the last requested trial.
    finish_until: Option<Instant>,
}

impl Listener {
    /// Whether there is more to be heard.
    fn hear(&mut self, heard: io::Result<Option<Command>>) -> bool {
        let command = match heard {
            Ok(Some(Command::Stop)) => {
                self.stop.store(true, Ordering::Relaxed);
                return true;
            }
            Ok(Some(command)) => Ok(command),
            Ok(None) => return false,
            Err(error) => Err(error),
        };
        self.finish_until = match &command {
            Ok(Command::Trial { request, .. }) if self.finishes_trials => {
                Some(Instant::now() + longest(request))
            }
            Ok(_) => None,
            // An invalid command ends the agent, but not the trial before it.
            Err(_) => self.finish_until,
        };
        let goes_on = command.is_ok();
        // The serving thread may be gone.
        self.commands.send(command).is_ok() && goes_on
    }

    /// Makes the agent end: at once, or with its trial, within a time limit.
    fn end(self) {
        let Self { commands, stop, is_cut, finish_until, .. } = self;
        if let Some(until) = finish_until {
            is_cut.store(true, Ordering::Relaxed);
            drop(commands);
            thread::sleep(until.saturating_duration_since(Instant::now()));
        }
        stop.store(true, Ordering::Relaxed);
    }
}

struct Agent<'a> {
    options: &'a AgentOptions,
    stop: Arc<AtomicBool>,
    live: Arc<LoadProgress>,
    contents: Contents,
    open: Option<Box<Open>>,
    local: Option<Box<Local>>,
    /// Dropped last.
    alone: Option<Alone>,
}

impl Agent<'_> {
    fn reply(
        &mut self,
        command: Command,
        tell: &dyn Fn(&Reply) -> io::Result<()>,
    ) -> Result<Reply, Error> {
        Ok(match command {
            Command::Hello { .. } => {
                let iotax_version = env!("CARGO_PKG_VERSION").to_owned();
                Reply::Hello { protocol: PROTOCOL, iotax_version }
            }
            Command::Undo => {
                self.be_alone()?;
                Reply::Undone { problems: undo(self.options.state_dir.as_deref()) }
            }
            Command::Look(look) => Reply::Looked(Box::new(looked(&look)?)),
            Command::Keep(piece) => {
                let failed = |error: io::Error| AgentError::Failed {
                    error: format!("cannot keep the recording: {error}"),
                    fault: Fault::Environment,
                };
                self.contents.add(piece).map_err(failed)?;
                Reply::Kept
            }
            Command::Open(open) => {
                self.be_alone()?;
                let opened = self.open(&open);
                self.open = Some(open);
                opened?
            }
            Command::Reach { arm, patience_ns } => {
                let open = self.open.as_ref().ok_or_else(no_arms)?;
                let patience = Duration::from_nanos(patience_ns);
                Reply::Reached(Box::new(reach(open, arm, patience, &self.stop)?))
            }
            Command::Up { arm } => {
                let local = self.local.as_mut().ok_or_else(no_arms)?;
                local.up(arm)?;
                let directory = local.directory(arm)?;
                Reply::Up { site: Box::new(local.site(arm).clone()), directory }
            }
            Command::Prepare { arm, driver, workloads } => {
                let local = self.local.as_mut().ok_or_else(no_arms)?;
                let workloads: Vec<&Workload> = workloads.iter().collect();
                // If progress cannot be reported, the end cannot be reported either.
                let show = |done, total| drop(tell(&Reply::LayingOut { done, total }));
                local.prepare(arm, driver, &workloads, &show)?;
                Reply::Prepared
            }
            Command::Trial { number, request } => {
                let local = self.local.as_mut().ok_or_else(no_arms)?;
                let reply = match local.trial(&request) {
                    Ok(measured) => Reply::Measured(Box::new(measured)),
                    Err(error) => Reply::failed(&error),
                };
                if let Some(directory) = self.options.kept_in() {
                    // The connection is the first way.
                    let _ = kept::keep(directory, number, &reply);
                }
                reply
            }
            Command::Fetch { number, patience_ns } => {
                self.fetch(number, Duration::from_nanos(patience_ns))
            }
            Command::Down => {
                self.local.take().ok_or_else(no_arms)?.down()?;
                Reply::Down
            }
            Command::Stop => unreachable!("the reader thread handles `Stop`"),
        })
    }

    fn fetch(&self, number: u64, patience: Duration) -> Reply {
        let fetch = |directory| kept::fetch(directory, number, patience, &self.stop);
        let kept = self.options.kept_in().and_then(|directory| fetch(directory).ok().flatten());
        kept.unwrap_or(Reply::NotKept)
    }

    /// Waits for earlier agents to end: two at a time would disturb each other.
    fn be_alone(&mut self) -> Result<(), Error> {
        let Some(directory) = self.options.kept_in().filter(|_| self.alone.is_none()) else {
            return Ok(());
        };
        let failed = |error: String| AgentError::Failed { error, fault: Fault::Environment };
        self.alone = Alone::be(directory, GRACE, &self.stop)
            .map_err(|error| failed(format!("{}: {error}", directory.display())))?;
        if self.alone.is_none() {
            let what = "an earlier agent in this container is still running its trial";
            return Err(failed(what.to_owned()).into());
        }
        Ok(())
    }

    fn open(&mut self, open: &Open) -> Result<Reply, Error> {
        let Open { spec, work_dir, given_up, secrets } = open;
        let options = Options {
            work_dir,
            state_dir: self.options.state_dir.clone(),
            progress: &mut |_| (),
            stop: Arc::clone(&self.stop),
            given_up,
            program: &self.options.program,
            secrets,
        };
        // The right to start an agent does not imply the right to run any command.
        if let Some(arm) = spec.with_host_commands() {
            let what = format!("arm {}: agents do not run host commands", arm.name);
            return Err(AgentError::Failed { error: what, fault: Fault::Usage }.into());
        }
        let drivers = Drivers::with_recordings(spec, &mut |of| self.contents.recording(of))?;
        let local = Local::with_drivers(spec, options, &self.live, drivers)?;
        let arms = 0..spec.arms.len();
        let sites = arms.clone().map(|arm| local.site(arm).clone()).collect();
        let made_anew = arms.map(|arm| local.is_made_anew(arm)).collect();
        self.local = Some(Box::new(local));
        Ok(Reply::Opened { sites, made_anew, host: Box::new(here(&spec.arms, HostRole::Agent)) })
    }
}

fn no_arms() -> AgentError {
    let error = "the agent was asked to run a trial before it received any arms".to_owned();
    AgentError::Failed { error, fault: Fault::Usage }
}
