//! Agents that lie, flood or hang: whoever asks them keeps its memory, and hears the user.

use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use iotax_experiment::Fault;

use super::super::connection::Connection;
use super::super::frame::send;
use super::super::launch::{Ended, Launch, Launched, Process};
use super::super::message::{Command, PROTOCOL, Reply};
use crate::error::AgentError;
use crate::host::{Task, TrialRequest};

/// An agent whose replies are what `says` writes; it reads only what that reads.
struct Liar<F>(Option<F>);

impl<F: FnOnce(PipeReader, PipeWriter) + Send + 'static> Launch for Liar<F> {
    fn name(&self) -> String {
        "a liar".to_owned()
    }

    fn launch(&mut self) -> Result<Launched, AgentError> {
        let ((input, to), (from, output)) = (pipe().unwrap(), pipe().unwrap());
        let says = self.0.take().unwrap();
        let thread = thread::spawn(move || says(input, output));
        Ok(Launched {
            input: Box::new(to),
            output: Box::new(from),
            process: Box::new(Lives(thread)),
        })
    }
}

struct Lives(thread::JoinHandle<()>);

impl Process for Lives {
    fn try_wait(&mut self) -> io::Result<Option<Ended>> {
        let ended = Ended { success: true, status: "over".to_owned() };
        Ok(self.0.is_finished().then_some(ended))
    }

    fn kill(self: Box<Self>) -> Option<String> {
        None
    }
}

/// What comes of a command to such an agent; `stop` may be set on the way.
fn ask(
    command: &Command,
    stop: &AtomicBool,
    says: impl FnOnce(PipeReader, PipeWriter) + Send + 'static,
) -> Result<Reply, String> {
    let mut connection = Connection::start(&mut Liar(Some(says)), Arc::default()).unwrap();
    connection.ask(command, Some(Duration::from_mins(1)), stop, &|_, _| ())
}

fn hello() -> Command {
    Command::Hello { protocol: PROTOCOL }
}

fn trial() -> Command {
    let workload = iotax_experiment::Workload::preset("randread-4k").unwrap();
    let request = TrialRequest {
        arm: 0,
        driver: iotax_experiment::Driver::Native,
        task: Task::Run(workload),
        index_ends: iotax_experiment::IndexEnds::Both,
        ramp_ns: 0,
        time_ns: 1_000_000_000,
        part: None,
        seed: 1,
        sustained_iops: None,
    };
    Command::Trial { number: 1, request: Box::new(request) }
}

/// A frame whose body is as it is.
fn frame(body: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
    frame.extend(crc32c::crc32c(body).to_le_bytes());
    frame.extend(body);
    frame
}

/// Writes the same for ever, and counts the bytes that were taken.
fn floods(bytes: Vec<u8>, taken: &Arc<AtomicU64>) -> impl FnOnce(PipeReader, PipeWriter) + use<> {
    let taken = Arc::clone(taken);
    move |_input, mut output| {
        while let Ok(wrote) = output.write(&bytes) {
            taken.fetch_add(wrote as u64, Ordering::Relaxed);
        }
    }
}

#[test]
fn garbage_without_end_loses_the_agent_and_takes_no_more() {
    let taken = Arc::new(AtomicU64::new(0));
    let error = ask(&hello(), &AtomicBool::new(false), floods(vec![0xff; 1 << 16], &taken));
    insta::assert_snapshot!(error.unwrap_err(), @"it sent data that is not part of the protocol");
    assert!(taken.load(Ordering::Relaxed) < 1 << 20, "no more than a pipe holds");
}

/// Between two questions nobody takes replies: they wait with the agent.
#[test]
fn replies_that_nobody_asked_for_are_not_piled_up() {
    let taken = Arc::new(AtomicU64::new(0));
    let body = serde_json::to_vec(&Reply::Failed {
        error: "x".repeat(1 << 16),
        fault: Fault::Environment,
    });
    let says = floods(frame(&body.unwrap()), &taken);
    let connection = Connection::start(&mut Liar(Some(says)), Arc::default()).unwrap();
    // Once nothing more is taken, it stays so.
    let mut before = u64::MAX;
    while before != taken.load(Ordering::Relaxed) || before == 0 {
        before = taken.load(Ordering::Relaxed);
        thread::sleep(Duration::from_millis(100));
    }
    assert!(before < 2 << 20, "{before} bytes were taken");
    drop(connection);
}

#[test]
fn an_announced_length_is_not_believed() {
    let says = |_: PipeReader, mut output: PipeWriter| {
        output.write_all(&(200_u32 << 20).to_le_bytes()).unwrap();
        output.write_all(&[0; 100]).unwrap();
    };
    let error = ask(&hello(), &AtomicBool::new(false), says).unwrap_err();
    insta::assert_snapshot!(error, @"it announced a 209715200-byte message, but the limit is 16777216 bytes");
}

/// 300 kB of text that become 6 GB of histograms.
#[test]
fn a_trial_s_result_is_not_decoded_if_it_would_grow() {
    let body = format!(r#"{{"measured":[{}0]}}"#, r#""HISTFAAAAAAA","#.repeat(20_000));
    let says = move |mut input: PipeReader, mut output: PipeWriter| {
        // What may follow is known when the question has been sent.
        input.read_exact(&mut [0]).unwrap();
        let _ = output.write_all(&frame(body.as_bytes()));
    };
    let error = ask(&trial(), &AtomicBool::new(false), says).unwrap_err();
    insta::assert_snapshot!(error, @"it sent a 293 KiB message that needs 6.26 GiB of memory, but the limit is 134 MiB");
}

#[test]
fn a_stuck_agent_is_given_up_when_the_user_has_had_enough() {
    let stop = AtomicBool::new(true);
    let begun = Instant::now();
    // It answers nothing, but says that it lives.
    let says = |_: PipeReader, mut output: PipeWriter| {
        while send(&mut output, &Reply::Alive { ios: 0, bytes: 0 }).is_ok() {
            thread::sleep(Duration::from_millis(100));
        }
    };
    let error = ask(&trial(), &stop, says).unwrap_err();
    insta::assert_snapshot!(error, @"it did not stop within 15s");
    assert!(begun.elapsed() < Duration::from_mins(1), "its time was not waited for");
}

/// A command that is longer than a pipe holds.
#[test]
fn an_agent_that_reads_nothing_holds_up_nobody() {
    let stop = AtomicBool::new(true);
    let look = Command::Look(super::super::message::Look {
        paths: vec!["/x".repeat(1 << 20).into()],
        root: None,
    });
    let (over, is_over) = std::sync::mpsc::channel::<()>();
    let says = move |input: PipeReader, _output: PipeWriter| {
        let _ = is_over.recv();
        drop(input);
    };
    let error = ask(&look, &stop, says).unwrap_err();
    insta::assert_snapshot!(error, @"it did not stop within 15s");
    drop(over);
}

/// What ends with its input has what it was told before that.
#[test]
fn commands_arrive_whole_before_the_end() {
    let (tell, told) = std::sync::mpsc::channel();
    let says = move |mut input: PipeReader, _output: PipeWriter| {
        let mut all = Vec::new();
        input.read_to_end(&mut all).unwrap();
        tell.send(all.len()).unwrap();
    };
    let mut connection = Connection::start(&mut Liar(Some(says)), Arc::default()).unwrap();
    let look = Command::Look(super::super::message::Look {
        paths: vec!["/x".repeat(1 << 20).into()],
        root: None,
    });
    let stop = AtomicBool::new(false);
    let _ = connection.ask(&look, Some(Duration::ZERO), &stop, &|_, _| ());
    connection.end(&stop).unwrap();
    assert!(told.recv().unwrap() > 2 << 20);
}
