//! The agent: performs what it is asked to on its machine, one command after the other.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use iotax_load::LoadProgress;
use iotax_record::HostRole;
use iotax_rig::Options;
use iotax_spec::Workload;

use super::frame::{receive, send};
use super::kept::{self, Place};
use super::look::looked;
use super::message::{Command, Open, PROTOCOL, Reply};
use super::reach::reach;
use super::timing::HEARTBEAT;
use crate::agent_error::FailureKind;
use crate::error::Error;
use crate::host::{Arms, Runner, here};
use crate::local::Local;

/// What an agent has on its machine.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// The iotax program, which serves virtual disks when run with `disk serve`.
    pub program: PathBuf,
    /// Where the undo journal is kept.
    pub state_dir: Option<PathBuf>,
    /// Whether to finish a trial though the connection is cut, and keep what it came to in the same
    /// directory, for the agent that is started next.
    pub finishes_trials: bool,
}

impl AgentOptions {
    /// `None`: without a place for what it comes to.
    fn place_for(&self, trial: u64) -> Option<Place> {
        let directory = self.state_dir.as_deref().filter(|_| self.finishes_trials)?;
        Place::for_trial(directory, trial).ok()
    }
}

/// Serves whoever speaks on `input`, until that ends; then whatever is up is taken down.
///
/// # Errors
/// If the other side cannot be told, or says what is no command.
pub fn serve(
    mut input: impl Read + Send + 'static,
    output: impl Write + Send,
    options: &AgentOptions,
) -> io::Result<()> {
    let (stop, live) = (Arc::new(AtomicBool::new(false)), Arc::new(LoadProgress::default()));
    let (commands, asked) = channel();
    let stopped = Arc::clone(&stop);
    // Whether the command under way is finished though the connection is cut, and whether it is cut.
    let (is_finishing, is_cut) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (finishing, cut) = (Arc::clone(&is_finishing), Arc::clone(&is_cut));
    let finishes_trials = options.finishes_trials;
    // Not waited for: it may be at a read that never ends.
    thread::spawn(move || {
        loop {
            match receive(&mut input) {
                Ok(Some(Command::Stop)) => stopped.store(true, Ordering::Relaxed),
                Ok(Some(command)) => {
                    let is_trial = matches!(command, Command::Trial { .. });
                    finishing.store(finishes_trials && is_trial, Ordering::Relaxed);
                    if commands.send(Ok(command)).is_err() {
                        return;
                    }
                }
                ended => {
                    let gone = if finishing.load(Ordering::Relaxed) { &cut } else { &stopped };
                    gone.store(true, Ordering::Relaxed);
                    // Whoever served may be gone.
                    let _ = ended.map_err(|error| commands.send(Err(error)));
                    return;
                }
            }
        }
    });
    let output = Mutex::new(output);
    let tell =
        |reply: &Reply| send(&mut *output.lock().unwrap_or_else(PoisonError::into_inner), reply);
    thread::scope(|scope| {
        let (over, is_over) = channel();
        let counters = Arc::clone(&live);
        scope.spawn(move || beat(&tell, &counters, &is_over));
        let mut agent = Agent { options, stop, live, open: None, local: None };
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

/// Tells that the agent lives, until `is_over` is closed.
fn beat(tell: &dyn Fn(&Reply) -> io::Result<()>, live: &LoadProgress, is_over: &Receiver<()>) {
    while is_over.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
        if tell(&Reply::Alive { ios: live.ios(), bytes: live.bytes() }).is_err() {
            return;
        }
    }
}

struct Agent<'a> {
    options: &'a AgentOptions,
    stop: Arc<AtomicBool>,
    live: Arc<LoadProgress>,
    /// What it works on.
    open: Option<Box<Open>>,
    local: Option<Box<Local>>,
}

impl Agent<'_> {
    fn reply(
        &mut self,
        command: Command,
        tell: &dyn Fn(&Reply) -> io::Result<()>,
    ) -> Result<Reply, Error> {
        if let Command::Hello { .. } = command {
            let iotax_version = env!("CARGO_PKG_VERSION").to_owned();
            return Ok(Reply::Hello { protocol: PROTOCOL, iotax_version });
        }
        if let Command::Undo = command {
            return Ok(undo(self.options.state_dir.as_deref()));
        }
        if let Command::Fetch { number, patience_ns } = command {
            return Ok(self.fetch(number, Duration::from_nanos(patience_ns)));
        }
        if let Command::Look(look) = command {
            return Ok(Reply::Looked(Box::new(looked(&look)?)));
        }
        if let Command::Open(open) = command {
            let opened = self.open(&open);
            self.open = Some(open);
            return opened;
        }
        if let (Command::Reach { arm, patience_ns }, Some(open)) = (&command, &self.open) {
            let patience = Duration::from_nanos(*patience_ns);
            return Ok(Reply::Reached(Box::new(reach(open, *arm, patience, &self.stop)?)));
        }
        let Some(local) = &mut self.local else {
            let error = "the agent was asked for a trial before it was given arms".to_owned();
            return Ok(Reply::Failed { error, kind: FailureKind::Usage });
        };
        Ok(match command {
            Command::Up { arm } => {
                local.up(arm)?;
                let directory = local.directory(arm)?;
                Reply::Up { site: Box::new(local.site(arm).clone()), directory }
            }
            Command::Prepare { arm, driver, workloads } => {
                let workloads: Vec<&Workload> = workloads.iter().collect();
                // Whoever cannot be told of progress cannot be told of the end either.
                let show = |done, total| drop(tell(&Reply::LayingOut { done, total }));
                local.prepare(arm, driver, &workloads, &show)?;
                Reply::Prepared
            }
            Command::Trial { number, request } => {
                let place = self.options.place_for(number);
                let measured = local.trial(&request)?;
                if let Some(place) = place {
                    // The connection is the first way.
                    let _ = place.keep(&measured);
                }
                Reply::Measured(Box::new(measured))
            }
            Command::Down => {
                self.local.take().map_or(Ok(()), Arms::down)?;
                Reply::Down
            }
            Command::Hello { .. }
            | Command::Undo
            | Command::Fetch { .. }
            | Command::Look(_)
            | Command::Open(_)
            | Command::Reach { .. }
            | Command::Stop => {
                unreachable!("answered before, or by the thread that reads")
            }
        })
    }

    fn fetch(&self, number: u64, patience: Duration) -> Reply {
        let directory = self.options.state_dir.as_deref();
        let fetch = |directory| kept::fetch(directory, number, patience, &self.stop);
        let kept = directory.and_then(|directory| fetch(directory).ok().flatten());
        kept.map_or(Reply::NotKept, |kept| Reply::Measured(Box::new(kept)))
    }

    fn open(&mut self, open: &Open) -> Result<Reply, Error> {
        let Open { spec, work_dir, given_up, secrets } = open;
        let state_dir = self.options.state_dir.as_deref();
        if let Some(directory) = state_dir.filter(|_| self.options.finishes_trials) {
            // What cannot be looked at is nobody's.
            let _ = kept::wait_for_end(directory, &self.stop);
        }
        let options = Options {
            work_dir,
            state_dir: self.options.state_dir.clone(),
            progress: &mut |_| (),
            stop: Arc::clone(&self.stop),
            given_up,
            program: &self.options.program,
            secrets,
        };
        let local = Local::open(spec, options, &self.live)?;
        let arms = 0..spec.arms.len();
        let sites = arms.clone().map(|arm| local.site(arm).clone()).collect();
        let made_anew = arms.map(|arm| local.is_made_anew(arm)).collect();
        self.local = Some(Box::new(local));
        Ok(Reply::Opened { sites, made_anew, host: Box::new(here(&spec.arms, HostRole::Agent)) })
    }
}

fn undo(state_dir: Option<&Path>) -> Reply {
    let report = state_dir.map(iotax_rig::undo).unwrap_or_default();
    let problems = report.problems.iter().map(ToString::to_string).collect();
    Reply::Undone { problems }
}
