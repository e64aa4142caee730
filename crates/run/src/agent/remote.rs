//! The client of an agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use iotax_experiment::{Blame as _, Driver, Fault, RecordedLoad, Spec, Workload};
use iotax_load::{LayoutProgress, LoadProgress, PeerSecrets};
use iotax_record::{HostRecord, Site};
use iotax_rig::GivenUp;

use super::connection::{Connection, ENDED};
use super::contents::Pieces;
use super::launch::Launch;
use super::message::{Command, Open, PROTOCOL, Reached, Reply};
use super::timing::{GRACE, longest};
use crate::clock::nanos;
use crate::drivers::recordings;
use crate::error::{AgentError, Error};
use crate::host::{Arms, Files, Measured, Runner, TrialRequest};

const CUT: &str = "the connection to the agent was cut; the result was fetched after reconnecting";

/// Options of a host behind an agent.
pub struct RemoteOptions {
    /// Starts the agent, and another one if it is lost.
    pub agent: Box<dyn Launch>,
    /// Its arms are those of the host.
    pub spec: Spec,
    /// Where files without a path go, on the host.
    pub work_dir: PathBuf,
    /// Block devices of the host that may be overwritten.
    pub given_up: GivenUp,
    /// Secrets of peers on network paths, by their addresses as in targets.
    pub secrets: PeerSecrets,
    /// Set from outside to stop the present work.
    pub stop: Arc<AtomicBool>,
    /// Progress, for display.
    pub live: Arc<LoadProgress>,
}

/// A host behind an agent. If the agent is lost, its trial fails. The next arm that is brought up
/// starts another agent, which first removes what the lost one left.
pub struct Remote {
    agent: Box<dyn Launch>,
    open: Open,
    stop: Arc<AtomicBool>,
    live: Arc<LoadProgress>,
    connection: Option<Connection>,
    sites: Vec<Site>,
    directories: Vec<Option<PathBuf>>,
    made_anew: Vec<bool>,
    host: HostRecord,
    /// Arms whose files the present agent has not laid out.
    missing: Vec<bool>,
    /// Number of requested trials.
    trials: u64,
    /// Whether the present agent has arms.
    has_arms: bool,
    /// Whether an agent was lost, and what it made was not removed yet.
    leaves_something: bool,
}

impl Remote {
    /// Starts the agent, and lets it examine its arms.
    ///
    /// # Errors
    /// If it cannot be started, is of another version, or refuses a target.
    pub fn open(options: RemoteOptions) -> Result<Self, Error> {
        let RemoteOptions { agent, spec, work_dir, given_up, secrets, stop, live } = options;
        let mut remote = Self {
            agent,
            missing: vec![true; spec.arms.len()],
            directories: vec![None; spec.arms.len()],
            open: Open { spec, work_dir, given_up, secrets },
            stop,
            live,
            connection: None,
            sites: Vec::new(),
            made_anew: Vec::new(),
            host: HostRecord::default(),
            trials: 0,
            has_arms: false,
            leaves_something: false,
        };
        remote.connect()?;
        remote.open_arms()?;
        Ok(remote)
    }

    /// What is known of the host.
    pub fn host(&self) -> &HostRecord {
        &self.host
    }

    /// The directory on the host that the load of an arm works in, if it works in one, once the arm
    /// was up.
    pub fn directory(&self, arm: usize) -> Option<&Path> {
        self.directories[arm].as_deref()
    }

    /// Waits until the peer of an arm answers, and returns how the agent reaches it.
    ///
    /// # Errors
    /// If it does not answer within `patience`, or the arm is not a path to a peer.
    pub fn reach(&mut self, arm: usize, patience: Duration) -> Result<Reached, Error> {
        let command = Command::Reach { arm, patience_ns: nanos(patience) };
        match self.ask_within(&command, Some(patience + GRACE), &|_, _| ())? {
            Reply::Reached(reached) => Ok(*reached),
            _ => Err(self.out_of_turn()),
        }
    }

    fn connect(&mut self) -> Result<(), Error> {
        self.connection = Some(Connection::start(&mut *self.agent, Arc::clone(&self.live))?);
        self.has_arms = false;
        match self.ask(&Command::Hello { protocol: PROTOCOL })? {
            Reply::Hello { protocol: PROTOCOL, .. } => Ok(()),
            Reply::Hello { protocol: theirs, .. } => {
                let command = self.agent.name();
                Err(AgentError::Version { command, theirs, ours: PROTOCOL }.into())
            }
            _ => Err(self.out_of_turn()),
        }
    }

    /// Sends the recordings that the arms replay.
    fn send_recordings(&mut self) -> Result<(), Error> {
        let recorded: Vec<RecordedLoad> =
            recordings(&self.open.spec).into_iter().cloned().collect();
        for recorded in &recorded {
            let mut pieces = Pieces::of(recorded)?;
            let failed = iotax_load::Error::cannot_read(&recorded.path);
            while let Some(piece) = pieces.next().map_err(&failed)? {
                if !matches!(self.ask(&Command::Keep(piece))?, Reply::Kept) {
                    return Err(self.out_of_turn());
                }
            }
        }
        Ok(())
    }

    fn open_arms(&mut self) -> Result<(), Error> {
        self.send_recordings()?;
        self.missing.fill(true);
        self.has_arms = true;
        match self.ask(&Command::Open(Box::new(self.open.clone())))? {
            Reply::Opened { sites, made_anew, host }
                if [sites.len(), made_anew.len()] == [self.missing.len(); 2] =>
            {
                self.host = *host;
                self.sites = sites;
                self.made_anew = made_anew;
                Ok(())
            }
            _ => Err(self.out_of_turn()),
        }
    }

    /// Removes what lost agents left on the host, and returns what could not be removed.
    fn undo(&mut self) -> Result<Vec<String>, Error> {
        match self.ask(&Command::Undo)? {
            Reply::Undone { problems } => {
                self.leaves_something = !problems.is_empty();
                Ok(problems)
            }
            _ => Err(self.out_of_turn()),
        }
    }

    /// Asks another agent for the result of the lost one's trial.
    fn fetch(&mut self, number: u64, patience: Duration) -> Option<Result<Measured, Error>> {
        let started = Instant::now();
        let fetched = loop {
            if self.stop.load(Ordering::Relaxed) || self.connect().is_err() {
                return None;
            }
            let patience = patience.saturating_sub(started.elapsed());
            let command = Command::Fetch { number, patience_ns: nanos(patience) };
            let fetched = self.ask_within(&command, Some(patience + GRACE), &|_, _| ());
            // Else it was cut once more, while its trial may go on.
            if self.connection.is_some() || patience.is_zero() {
                break fetched;
            }
        };
        let is_answered = self.connection.is_some();
        // The next arm that is brought up begins anew, as after any loss.
        let _ = self.connection.take().map(|connection| connection.end(&self.stop));
        match fetched {
            Ok(Reply::Measured(mut measured)) => {
                if let Ok(load) = &mut measured.load {
                    load.warnings.push(CUT.to_owned());
                }
                Some(Ok(*measured))
            }
            Err(error) if error.fault() != Fault::Interrupted && is_answered => Some(Err(error)),
            _ => None,
        }
    }

    fn ask(&mut self, command: &Command) -> Result<Reply, Error> {
        self.ask_within(command, None, &|_, _| ())
    }

    /// Sends a command and waits for the answer, at most for `limit`, if there is one.
    fn ask_within(
        &mut self,
        command: &Command,
        limit: Option<Duration>,
        progress: &LayoutProgress<'_>,
    ) -> Result<Reply, Error> {
        let Some(connection) = &mut self.connection else {
            return Err(self.lost("it is not running"));
        };
        match connection.ask(command, limit, &self.stop, progress) {
            Ok(Reply::Failed { error, fault }) => Err(AgentError::Failed { error, fault }.into()),
            Ok(reply) => Ok(reply),
            Err(why) => Err(self.lost(&why)),
        }
    }

    fn out_of_turn(&mut self) -> Error {
        self.lost("it sent an unexpected reply")
    }

    fn lost(&mut self, why: &str) -> Error {
        self.leaves_something |= self.connection.is_some() && self.has_arms;
        let end = self.connection.take().and_then(Connection::kill);
        let why = end.map_or_else(|| why.to_owned(), |end| format!("{why} ({end})"));
        AgentError::Lost { command: self.agent.name(), why }.into()
    }
}

impl Arms for Remote {
    fn up(&mut self, arm: usize) -> Result<Files, Error> {
        let has_ended = self.connection.as_mut().is_some_and(Connection::has_ended);
        if has_ended && self.agent.finishes_trials() {
            // Cut between two trials, as it may be there: none has failed.
            let _ = self.lost(ENDED);
        }
        if self.connection.is_none() {
            self.connect()?;
            // What cannot be removed now need not be in the way; it is tried again in the end.
            self.undo()?;
            self.open_arms()?;
        }
        match self.ask(&Command::Up { arm })? {
            Reply::Up { site, directory } => {
                self.sites[arm] = *site;
                self.directories[arm] = directory;
                let missing = self.missing[arm] || self.made_anew[arm];
                Ok(if missing { Files::Missing } else { Files::AreThere })
            }
            _ => Err(self.out_of_turn()),
        }
    }

    fn site(&self, arm: usize) -> &Site {
        &self.sites[arm]
    }

    fn is_made_anew(&self, arm: usize) -> bool {
        self.made_anew[arm]
    }

    fn down(mut self: Box<Self>) -> Result<(), Error> {
        if self.connection.is_some() {
            match self.ask(&Command::Down)? {
                Reply::Down => {}
                _ => return Err(self.out_of_turn()),
            }
        } else {
            self.connect()?;
        }
        if self.leaves_something {
            let problems = self.undo()?;
            if !problems.is_empty() {
                // It was tried and reported.
                self.leaves_something = false;
                return Err(AgentError::Left { command: self.agent.name(), problems }.into());
            }
        }
        self.connection
            .take()
            .map_or(Ok(()), |connection| connection.end(&self.stop).map_err(|why| self.lost(&why)))
    }
}

impl Runner for Remote {
    fn prepare(
        &mut self,
        arm: usize,
        driver: Driver,
        workloads: &[&Workload],
        progress: &LayoutProgress<'_>,
    ) -> Result<(), Error> {
        let workloads = workloads.iter().map(|workload| (*workload).clone()).collect();
        match self.ask_within(&Command::Prepare { arm, driver, workloads }, None, progress)? {
            Reply::Prepared => {
                self.missing[arm] = false;
                Ok(())
            }
            _ => Err(self.out_of_turn()),
        }
    }

    fn trial(&mut self, request: &TrialRequest) -> Result<Measured, Error> {
        let limit = longest(request);
        self.trials += 1;
        let number = self.trials;
        let command = Command::Trial { number, request: Box::new(request.clone()) };
        let asked = Instant::now();
        match self.ask_within(&command, Some(limit), &|_, _| ()) {
            Ok(Reply::Measured(measured)) => Ok(*measured),
            Ok(_) => Err(self.out_of_turn()),
            Err(lost) if self.connection.is_none() && self.agent.finishes_trials() => {
                let patience = limit.saturating_sub(asked.elapsed());
                self.fetch(number, patience).unwrap_or(Err(lost))
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        if self.leaves_something {
            // Errors cannot be reported here; `iotax undo` on that host does the same.
            let _ = self.connect().and_then(|()| self.undo());
        }
        // Its input ends, and so it takes down what is up.
        if let Some(connection) = self.connection.take() {
            let _ = connection.end(&self.stop);
        }
    }
}
