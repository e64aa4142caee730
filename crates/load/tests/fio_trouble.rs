//! A fio that hangs, dies, or prints nonsense is an error with its words, and never outlives us.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iotax_experiment::{Engine, Job};
use iotax_load::{Error, Fio, IoTarget, LoadDriver as _};
use iotax_record::LoadRecord;
use support::{job, request, workload};

const RESULT: &str = r#"{"fio version" : "fio-9.9", "jobs" : [{"jobname" : "job", "read" :
    {"io_bytes" : 4096, "io_kbytes" : 4, "total_ios" : 1, "runtime" : 200}}]}"#;

/// Far above what a shell needs, so that only a script that hangs meets it.
const PATIENT: Duration = Duration::from_mins(2);

/// Runs a shell script in the place of fio; it is asked for its version first.
fn play(script: &str, grace: Duration, stop: &AtomicBool) -> Result<LoadRecord, Error> {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("fio");
    let text = format!("#!/bin/sh\n[ \"$1\" = --version ] && echo fio-9.9 && exit\n{script}\n");
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let fio = patiently(&program).with_grace(grace);
    let files = directory.path().join("files");
    fs::create_dir(&files).unwrap();
    let workload = workload(Job { direct: false, ..job(Engine::Psync) });
    let target = IoTarget::Path(&files);
    fio.prepare(&workload, target, &|_, _| {}, stop)?;
    // Only now, so that the layout is not stopped.
    fio.run(&request(&workload, target, stop))
}

/// Another thread's fork may hold the script open for writing for a moment (ETXTBSY).
fn patiently(program: &Path) -> Fio {
    for _ in 0..200 {
        match Fio::at(program) {
            Err(Error::Start { source, .. }) if source.raw_os_error() == Some(libc::ETXTBSY) => {
                std::thread::sleep(Duration::from_millis(20));
            }
            other => return other.unwrap(),
        }
    }
    panic!("the script stays busy");
}

fn error(script: &str) -> String {
    play(script, PATIENT, &AtomicBool::new(false)).unwrap_err().to_string()
}

#[test]
fn a_fio_that_fails_says_why() {
    insta::assert_snapshot!(error("echo 'fio: no such engine' >&2; exit 1"), @"fio failed (exit status: 1): fio: no such engine");
    insta::assert_snapshot!(error("kill -9 $$"), @"fio failed (signal: 9 (SIGKILL))");
}

#[test]
fn a_fio_that_hangs_is_ended() {
    for script in ["exec sleep 600", "trap '' INT TERM; while :; do sleep 1; done"] {
        let hung = play(script, Duration::from_secs(3), &AtomicBool::new(false)).unwrap_err();
        insta::allow_duplicates! {
            insta::assert_snapshot!(hung, @"fio did not end within 220ms (ramp and time) plus a grace period of 3s, and was stopped");
        }
    }
}

#[test]
fn garbage_is_no_result() {
    insta::assert_snapshot!(error("echo hello"), @r#"fio produced no usable result: it contains no fio JSON (its first line is "hello"); run fio with --output-format=json+ and save its output: hello"#);
    insta::assert_snapshot!(error("echo '{'"), @"fio produced no usable result: line 1: the JSON that starts here is incomplete; the program that wrote it ended too early");
    insta::assert_snapshot!(error(":"), @"fio produced no usable result: it contains no fio JSON (it is empty); run fio with --output-format=json+ and save its output");
}

#[test]
fn a_fio_that_prints_for_ever_is_ended() {
    let script = "while :; do yes; done 2>/dev/null";
    insta::assert_snapshot!(error(script), @"fio printed too much output and was stopped");
}

#[test]
fn warnings_are_kept() {
    let script = format!("echo 'fio: beware' >&2; echo 'note: mind'; cat <<'E'\n{RESULT}\nE");
    let record = play(&script, PATIENT, &AtomicBool::new(false)).unwrap();
    assert_eq!(record.warnings, ["note: mind", "fio: beware"]);
    assert_eq!((record.driver.as_str(), record.jobs[0].read.ios), ("fio 9.9", 1));
}

#[test]
fn a_stopped_fio_reports_what_it_has() {
    let stop = AtomicBool::new(false);
    let directory = tempfile::tempdir().unwrap();
    let ready = directory.path().join("ready");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ready.exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
        });
        let script = format!(
            "trap 'cat <<E\n{}\nE\nexit 128' INT; : >'{}'; while :; do sleep 0.1; done",
            RESULT.replace('\n', " "),
            ready.display()
        );
        let record = play(&script, PATIENT, &stop).unwrap();
        assert_eq!(record.jobs[0].read.ios, 1);
    });
}

#[test]
fn a_missing_fio_is_named() {
    let error = Fio::at(Path::new("/no/such/fio")).unwrap_err();
    insta::assert_snapshot!(error, @"cannot run /no/such/fio: No such file or directory (os error 2)");
}
