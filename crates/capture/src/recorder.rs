//! Records a program: attaches, follows it, and ends the recording within its limits.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iotax_trace::{EndReason, Head, Unseen};

use crate::error::Error;
use crate::groups::GroupId;
use crate::open_files::can_read;
use crate::overhead::WINDOW;
use crate::probes::Probes;
use crate::processes::{Subject, is_running, start};
use crate::session::Session;

/// What may wait in memory.
const HELD_BYTES: u64 = 256 << 20;

/// When a recording ends by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    pub time: Option<Duration>,
    /// Maximum size of the trace.
    pub bytes: u64,
    /// Share of this machine's CPU time, in any 2 s.
    pub overhead: f64,
}

impl Limits {
    /// Why the recording must end now.
    pub(crate) fn reached(
        &self,
        progress: &Progress,
        most_bytes: u64,
        stop: &AtomicBool,
    ) -> Option<EndReason> {
        let is_costly = progress.elapsed > WINDOW && progress.overhead > self.overhead;
        if stop.load(Ordering::Relaxed) {
            Some(EndReason::Stopped)
        } else if self.time.is_some_and(|time| progress.elapsed >= time) {
            Some(EndReason::Time)
        } else if progress.bytes >= most_bytes.min(self.bytes) {
            Some(EndReason::Size)
        } else if is_costly {
            Some(EndReason::Overhead)
        } else {
            None
        }
    }
}

/// What to record, and where to.
#[derive(Debug)]
pub struct Request<'a> {
    pub subject: &'a Subject,
    pub output: &'a Path,
    /// The recorder adds what it detects itself.
    pub head: Head,
    pub limits: Limits,
}

/// Progress of a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    pub elapsed: Duration,
    pub events: u64,
    pub lost: u64,
    pub bytes: u64,
    /// Share of this machine's CPU time that the recorder took in the last 2 s.
    pub overhead: f64,
    /// The same since the beginning.
    pub whole_overhead: f64,
}

/// A recording that was made.
#[derive(Debug)]
pub struct Recorded {
    pub path: PathBuf,
    /// `None` if it ended because of `failure`.
    pub reason: Option<EndReason>,
    pub last: Progress,
    /// The trace was held in memory, because the program uses the same file system.
    pub was_held: bool,
    /// The command, if it is still running.
    pub child: Option<Child>,
    /// Why the recording is cut off. It says how much of it was saved.
    pub failure: Option<Error>,
}

/// BPF programs that are attached but do not record yet.
pub struct Recorder {
    probes: Probes,
}

impl Recorder {
    /// Loads the BPF programs.
    pub fn attach() -> Result<Self, Error> {
        // Only hashes of paths leave the kernel. The key is not stored.
        Ok(Self { probes: Probes::load(random())? })
    }

    /// Records into a new file.
    pub fn record(
        mut self,
        request: Request<'_>,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Progress),
    ) -> Result<Recorded, Error> {
        let Request { subject, output, mut head, limits } = request;
        // Members that join from now on are recorded even if the list of processes has not got them.
        let sees_joins = self.watch_group(subject)?;
        let processes = subject.processes()?;
        head.unseen.extend(self.unseen(&processes));
        if !sees_joins {
            head.unseen.push(Unseen::LaterMembers);
        }
        let mut session = Session::begin(output, &head, &self.probes)?;
        for &pid in &processes {
            self.probes.record_process(pid)?;
        }
        let mut watch = Watch { processes, child: None, limits, stop };
        if let Subject::Command(command) = subject {
            let probes = &mut self.probes;
            match start(command, |pid| probes.record_process(pid)) {
                Ok(started) => watch.child = Some(started),
                Err(error) => {
                    session.discard();
                    return Err(error);
                }
            }
        }
        let reason = self.follow(&mut session, &mut watch, tell);
        self.probes.detach();
        let ended = reason.as_ref().ok().copied();
        let finished = session.finish(&self.probes, reason)?;
        let child = watch.child.filter(|_| !matches!(ended, Some(EndReason::Command { .. })));
        Ok(Recorded {
            path: output.to_owned(),
            reason: ended.filter(|_| finished.failure.is_none()),
            last: finished.last,
            was_held: finished.was_held,
            child,
            failure: finished.failure,
        })
    }

    fn follow(
        &mut self,
        session: &mut Session,
        watch: &mut Watch<'_>,
        tell: &mut dyn FnMut(&Progress),
    ) -> Result<EndReason, Error> {
        for &pid in &watch.processes {
            session.note_process(pid, &self.probes);
            session.drain(&mut self.probes)?;
        }
        let reason = session.follow(&mut self.probes, watch, tell)?;
        self.probes.detach();
        while session.drain(&mut self.probes)? {}
        Ok(reason)
    }

    /// Whether processes that join the subject later will be recorded.
    fn watch_group(&mut self, subject: &Subject) -> Result<bool, Error> {
        let Subject::Group(path) = subject else { return Ok(true) };
        match GroupId::of(path) {
            Some(group) if self.probes.sees_joins => {
                self.probes.record_group(group)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn unseen(&self, processes: &[u32]) -> Vec<Unseen> {
        let mut unseen = self.probes.unseen.clone();
        if !self.probes.sees_proc() {
            unseen.push(Unseen::StartState);
        }
        if !processes.iter().all(|pid| can_read(*pid)) {
            unseen.push(Unseen::OpenFiles);
        }
        unseen
    }
}

/// A random number, from the standard library's keys of hashes.
pub(crate) fn random() -> u32 {
    let [a, b, c, d, ..] = RandomState::new().build_hasher().finish().to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// What ends a recording.
pub(crate) struct Watch<'a> {
    processes: Vec<u32>,
    child: Option<Child>,
    limits: Limits,
    stop: &'a AtomicBool,
}

impl Watch<'_> {
    pub(crate) fn ended(
        &mut self,
        progress: &Progress,
        is_held: bool,
        probes: &Probes,
    ) -> Result<Option<EndReason>, Error> {
        if let Some(child) = &mut self.child {
            let status = child.try_wait().map_err(Error::Wait)?;
            if let Some(status) = status {
                return Ok(Some(EndReason::Command { code: status.code() }));
            }
        } else if !self.processes.iter().any(|pid| is_running(*pid)) && !probes.has_processes() {
            // Children and later members of a group count as well.
            return Ok(Some(EndReason::Gone));
        }
        let most_bytes = if is_held { HELD_BYTES } else { u64::MAX };
        Ok(self.limits.reached(progress, most_bytes, self.stop))
    }
}
