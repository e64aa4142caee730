//! What is left of recordings by strace if something fails.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use iotax_capture::{Recorded, Request, Subject, record_with_strace};
use iotax_testing::{needs_program, needs_root};
use iotax_trace::Op;
use rustix::process::{Pid, Signal, kill_process};

use crate::full_disk::{Small, is_saved};
use crate::support::{Driver, LIMITS, Trace, head};

fn record(subject: &Subject, output: &Path, told: &mut dyn FnMut()) -> Recorded {
    let request = Request { subject, output, head: head(), limits: LIMITS };
    record_with_strace(request, &AtomicBool::new(false), &mut |_| told()).unwrap()
}

#[test]
fn what_strace_reported_before_the_disk_was_full_is_kept() {
    if !needs_root() || !needs_program("strace") || !needs_program("cc") {
        return;
    }
    let (small, place, driver) =
        (Small::new(400), tempfile::tempdir().unwrap(), Driver::build("calls"));
    let command = vec![driver.path().into(), "many".into(), place.path().into()];
    let mut done = record(&Subject::Command(command), &small.output(), &mut || ());
    assert!(done.child.as_mut().unwrap().wait().unwrap().success(), "the program goes on");
    is_saved(done, &small.output());
}

#[test]
fn what_a_killed_strace_reported_is_kept() {
    if !needs_program("strace") || !needs_program("cc") {
        return;
    }
    let (place, driver) = (tempfile::tempdir().unwrap(), Driver::build("calls"));
    let mut program = driver.start("endless", place.path());
    let status = format!("/proc/{}/status", program.id());
    let output = place.path().join("app.iotx");
    let mut reports = 0;
    let done = record(&Subject::Processes(vec![program.id()]), &output, &mut || {
        reports += 1;
        let status = fs::read_to_string(&status).unwrap();
        let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:")).unwrap();
        if let (2.., Some(tracer)) = (reports, Pid::from_raw(tracer.trim().parse().unwrap())) {
            kill_process(tracer, Signal::KILL).unwrap();
        }
    });
    program.kill().unwrap();
    program.wait().unwrap();
    let error = done.failure.unwrap().to_string();
    assert!(error.contains("strace ended before the program"), "{error}");
    assert!(Trace::read(&output).of(Op::Write).len() > 10);
}
