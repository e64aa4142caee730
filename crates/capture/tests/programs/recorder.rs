//! Records a process or a command: `record FILE PID`, `record FILE -- COMMAND...`.
#![allow(clippy::print_stderr, reason = "its only output")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use iotax_capture::{Error, Limits, Recorder, Request, Subject};
use iotax_trace::{Head, Source};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let output = arguments.next().map(PathBuf::from).unwrap_or_default();
    let subject: Vec<OsString> = arguments.collect();
    match record(&output, &subject) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn record(output: &Path, subject: &[OsString]) -> Result<(), Error> {
    let pid = |text: &OsString| text.to_str().and_then(|text| text.parse().ok());
    let subject = match subject {
        [dashes, command @ ..] if dashes == "--" => Subject::Command(command.to_vec()),
        pids => Subject::Processes(pids.iter().filter_map(pid).collect()),
    };
    let head = Head::new("record", Source::Bpf);
    let limits = Limits { time: None, bytes: u64::MAX, overhead: f64::INFINITY };
    let request = Request { subject: &subject, output, head, limits };
    let stop = AtomicBool::new(false);
    let done = Recorder::attach()?.record(request, &stop, &mut |_| eprintln!("recording"))?;
    done.failure.map_or(Ok(()), Err)
}
