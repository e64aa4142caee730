//! Trials whose connection is cut.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use iotax_experiment::{Arm, Driver, Engine, IndexEnds, Spec, Stop, Target, Workload};
use iotax_load::LoadProgress;
use tempfile::TempDir;

use super::super::launch::{Ended, Launch, Launched, Process};
use super::super::remote::{Remote, RemoteOptions};
use super::super::{AgentOptions, GivenUp, PeerSecrets, serve};
use crate::error::AgentError;
use crate::host::{Arms as _, Measured, Runner as _, Task, TrialRequest};

/// Agents in threads; the connection with the first is cut when it has been asked for a trial.
struct Threads {
    state_dir: TempDir,
    finishes_trials: bool,
    launched: Arc<AtomicU64>,
}

impl Launch for Threads {
    fn name(&self) -> String {
        "a thread".to_owned()
    }

    fn finishes_trials(&self) -> bool {
        self.finishes_trials
    }

    fn launch(&mut self) -> Result<Launched, AgentError> {
        let ((input, to), (from, output)) = (pipe().unwrap(), pipe().unwrap());
        let options = AgentOptions {
            program: "iotax".into(),
            state_dir: Some(self.state_dir.path().to_owned()),
            finishes_trials: self.finishes_trials,
        };
        let agent = thread::spawn(move || serve(input, output, &options));
        let is_first = self.launched.fetch_add(1, Ordering::Relaxed) == 0;
        let is_cut = Arc::new(AtomicBool::new(false));
        let output = Output { from, is_cut: Arc::clone(&is_cut) };
        let input = Input { to: Some(to), is_asked: false, cuts: is_first, is_cut };
        Ok(Launched {
            input: Box::new(input),
            output: Box::new(output),
            process: Box::new(Thread(agent)),
        })
    }
}

struct Thread(thread::JoinHandle<io::Result<()>>);

impl Process for Thread {
    fn try_wait(&mut self) -> io::Result<Option<Ended>> {
        let ended = Ended { success: true, status: "over".to_owned() };
        Ok(self.0.is_finished().then_some(ended))
    }

    fn kill(self: Box<Self>) -> Option<String> {
        None
    }
}

/// What is cut when a trial is asked for.
struct Input {
    to: Option<PipeWriter>,
    is_asked: bool,
    cuts: bool,
    is_cut: Arc<AtomicBool>,
}

/// What then says nothing any more.
struct Output {
    from: PipeReader,
    is_cut: Arc<AtomicBool>,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        Ok(if self.is_cut.load(Ordering::Relaxed) { 0 } else { count })
    }
}

impl Write for Input {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_asked |= bytes.windows(8).any(|part| part == b"{\"trial\"");
        self.to.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.cuts && self.is_asked {
            self.is_cut.store(true, Ordering::Relaxed);
            self.to = None;
        }
        Ok(())
    }
}

/// What a trial comes to, and how many agents there were.
fn cut_trial(finishes_trials: bool) -> (Result<Measured, crate::Error>, u64) {
    let files = TempDir::new().unwrap();
    let mut workload = Workload::preset("randread-4k").unwrap();
    for job in &mut workload.jobs {
        job.engine = Engine::Psync;
        job.direct = false;
        job.size_bytes = 1 << 20;
    }
    let arm = Arm::new("a", Target::Path(files.path().to_owned()));
    let spec = Spec::single(workload.clone(), arm, Stop::default(), 1).unwrap();
    let launched = Arc::new(AtomicU64::new(0));
    let agent = Threads {
        state_dir: TempDir::new().unwrap(),
        finishes_trials,
        launched: Arc::clone(&launched),
    };
    let mut remote = Remote::open(RemoteOptions {
        agent: Box::new(agent),
        spec,
        work_dir: files.path().to_owned(),
        given_up: GivenUp::default(),
        secrets: PeerSecrets::new(),
        stop: Arc::new(AtomicBool::new(false)),
        live: Arc::new(LoadProgress::default()),
    })
    .unwrap();
    remote.up(0).unwrap();
    remote.prepare(0, Driver::Native, &[&workload], &|_, _| ()).unwrap();
    let measured = remote.trial(&TrialRequest {
        arm: 0,
        driver: Driver::Native,
        task: Task::Run(workload),
        index_ends: IndexEnds::default(),
        ramp_ns: 0,
        time_ns: 100_000_000,
        part: None,
        seed: 1,
        sustained_iops: None,
    });
    // The next trial of the arm is as any other.
    remote.up(0).unwrap();
    Box::new(remote).down().unwrap();
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 0);
    (measured, launched.load(Ordering::Relaxed))
}

#[test]
fn a_trial_is_finished_without_its_connection_and_the_next_agent_knows_its_result() {
    let (measured, agents) = cut_trial(true);
    let load = measured.unwrap().load.unwrap();
    assert!(load.jobs[0].read.ios > 0);
    insta::assert_snapshot!(load.warnings.join("\n"), @"the connection to the agent was cut; the result was fetched after reconnecting");
    // One that is cut, one that is asked, and one for what comes next.
    assert_eq!(agents, 3);
}

#[test]
fn elsewhere_a_trial_ends_with_its_connection() {
    let (measured, agents) = cut_trial(false);
    let lost = measured.unwrap_err().to_string();
    assert!(lost.contains("was lost"), "{lost}");
    assert_eq!(agents, 2);
}
