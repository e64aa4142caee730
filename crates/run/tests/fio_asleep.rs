//! A driven program that falls asleep: it is ended, its trial says why, and the run goes on.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use iotax_analyze::{Phases, Sustained};
use iotax_experiment::plan::Plan;
use iotax_experiment::{Arm, Driver, Spec, Stop, Target, Workload};
use iotax_load::{Error, Fio, PeerSecrets};
use iotax_record::{ExperimentHead, FORMAT, Outcome, Reader, Writer};
use iotax_rig::{GivenUp, Options};
use iotax_run::{Arms as _, Drivers, Event, Local, Monotonic, Observer, Runner as _, Setup};

const TRIALS: u32 = 3;

/// Sleeps the second time it is asked for a load.
const SLEEPER: &str = r#"#!/bin/sh
[ "$1" = --version ] && echo fio-9.9 && exit
echo again >> "$(dirname "$0")/asked"
[ "$(wc -l < "$(dirname "$0")/asked")" = 2 ] && exec sleep 600
cat <<'E'
{"fio version" : "fio-9.9", "jobs" : [{"jobname" : "io", "read" :
    {"io_bytes" : 4096, "io_kbytes" : 4, "total_ios" : 1, "runtime" : 200}}]}
E
"#;

struct Silent;

impl Observer for Silent {
    fn on(&mut self, _: &Event<'_>) {}
}

/// Another thread's fork may hold the script open for writing for a moment (ETXTBSY).
fn patiently(program: &Path) -> Fio {
    loop {
        match Fio::at(program) {
            Err(Error::Start { .. }) => std::thread::sleep(Duration::from_millis(20)),
            other => return other.unwrap(),
        }
    }
}

fn spec(target: &Path) -> Spec {
    let mut workload = Workload::preset("randread-4k").unwrap();
    (workload.ramp_ns, workload.time_ns) = (0, 100_000_000);
    for job in &mut workload.jobs {
        (job.size_bytes, job.direct) = (1 << 20, false);
    }
    let mut arm = Arm::new("target", Target::Path(target.to_owned()));
    arm.driver = Driver::Fio;
    let stop = Stop { min_blocks: TRIALS, max_blocks: TRIALS, ..Stop::default() };
    Spec::single(workload, arm, stop, 7).unwrap()
}

fn outcomes(root: &Path, fio: Fio) -> Vec<Outcome> {
    let spec = spec(root);
    let never = Arc::new(AtomicBool::new(false));
    let options = Options {
        work_dir: root,
        state_dir: Some(root.join("state")),
        progress: &mut |_| (),
        stop: Arc::clone(&never),
        given_up: &GivenUp::default(),
        program: Path::new("iotax"),
        secrets: &PeerSecrets::new(),
    };
    let (drivers, live) = (Drivers::from(fio), Arc::default());
    let mut host = Local::with_drivers(&spec, options, &live, drivers).unwrap();
    host.prepare(0, Driver::Fio, &[spec.workload()], &|_, _| ()).unwrap();
    let plan = Plan::new(&spec);
    let experiment = ExperimentHead {
        cloud: iotax_experiment::CloudChoice::default(),
        format: FORMAT,
        id: None,
        iotax_version: "0".to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        command: Vec::new(),
        hosts: Vec::new(),
        sites: vec![host.site(0).clone()],
        spec,
    };
    let mut writer = Writer::create(&root.join("record"), &experiment).unwrap();
    let mut phases = Phases::new(&experiment);
    let setup = Setup {
        experiment: &experiment,
        plan: &plan,
        host: &mut host,
        stop: &never,
        clock: &Monotonic::start(),
        sustained: &Sustained::default(),
        spent: Duration::ZERO,
        writer: &mut writer,
        phases: &mut phases,
        observer: &mut Silent,
    };
    let end = iotax_run::trials(setup).unwrap();
    assert_eq!((end.trials, end.gave_up), (Some(TRIALS), false));
    let trials = Reader::<ExperimentHead>::open(&root.join("record")).unwrap().lines().unwrap();
    trials.map(|trial| trial.unwrap().outcome).collect()
}

#[test]
fn the_trial_says_why_and_the_run_goes_on() {
    let root = tempfile::tempdir().unwrap();
    let program = root.path().join("fio");
    fs::write(&program, SLEEPER).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let fio = patiently(&program).with_grace(Duration::from_secs(10));
    let outcomes = outcomes(root.path(), fio);
    let failures: Vec<usize> = (0..outcomes.len())
        .filter(|trial| matches!(outcomes[*trial], Outcome::Failed { .. }))
        .collect();
    assert_eq!(failures, [1], "{outcomes:?}");
    let Outcome::Failed { error } = &outcomes[1] else { unreachable!() };
    insta::assert_snapshot!(error, @"fio did not end within 100ms (ramp and time) plus a grace period of 10s, and was stopped");
}
