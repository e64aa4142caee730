//! Recordings that a client sends.

use std::fs;

use iotax_experiment::{
    Arm, Driver, Fault, FioLogs, IndexEnds, RecordedLoad, Spec, Stop, Target, Workload,
};
use iotax_load::Recording;

use super::Served;
use crate::agent::GivenUp;
use crate::agent::contents::Pieces;
use crate::agent::message::{Command, Open, Reply};
use crate::host::{Task, TrialRequest};

const LOG: &str =
    "fio version 3 iolog\n0 data add\n0 data open\n0 data write 0 8192\n0 data close\n";

/// A recording, whose file is gone, and the commands that send it.
fn recording() -> (Workload, Vec<Command>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    fs::write(&path, LOG).unwrap();
    let logs = FioLogs { others: Vec::new(), direct: false, no_stall: false };
    let workload = Recording::of_logs(&path, &logs).unwrap().workload("app");
    let mut pieces = Pieces::of(workload.recording().unwrap()).unwrap();
    let mut commands = Vec::new();
    while let Some(piece) = pieces.next().unwrap() {
        commands.push(Command::Keep(piece));
    }
    (workload, commands)
}

fn open(workload: &Workload, arm: &std::path::Path) -> Command {
    let arm = Arm::new("a", Target::Path(arm.to_owned()));
    Command::Open(Box::new(Open {
        spec: Spec::single(workload.clone(), arm, Stop::default(), 1).unwrap(),
        work_dir: "/".into(),
        given_up: GivenUp::default(),
        secrets: [].into(),
    }))
}

fn refused(reply: Reply) -> String {
    let Reply::Failed { error, fault: Fault::Environment } = reply else { panic!("{reply:?}") };
    error
}

#[test]
fn an_agent_replays_what_it_was_sent() {
    let (workload, commands) = recording();
    let [directory, state] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut agent = Served::with_state(Some(state.path().to_owned()));
    // A client that is back sends it again.
    for command in commands.iter().chain(&commands) {
        assert!(matches!(agent.ask(command), Reply::Kept));
    }
    let opened = agent.ask(&open(&workload, directory.path()));
    assert!(matches!(opened, Reply::Opened { .. }), "{opened:?}");
    agent.ask(&Command::Up { arm: 0 });
    let (driver, workloads) = (Driver::Native, vec![workload.clone()]);
    let prepared = agent.ask(&Command::Prepare { arm: 0, driver, workloads });
    assert!(matches!(prepared, Reply::Prepared), "{prepared:?}");
    let request = TrialRequest {
        arm: 0,
        driver,
        task: Task::Run(workload.clone()),
        index_ends: IndexEnds::default(),
        ramp_ns: 0,
        time_ns: workload.time_ns,
        part: None,
        seed: 1,
        sustained_iops: None,
    };
    let Reply::Measured(measured) =
        agent.ask(&Command::Trial { number: 1, request: Box::new(request) })
    else {
        panic!()
    };
    assert_eq!(measured.load.unwrap().jobs[0].write.bytes, 8192);
    assert!(matches!(agent.ask(&Command::Down), Reply::Down));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn an_agent_refuses_what_it_was_not_sent_whole() {
    let (workload, commands) = recording();
    let directory = tempfile::tempdir().unwrap();
    let mut agent = Served::start();
    let error = refused(agent.ask(&open(&workload, directory.path())));
    assert!(error.ends_with("it was not sent to the agent"), "{error}");
    let changed = |from: &str, to: &str| {
        let text = serde_json::to_string(&commands[0]).unwrap();
        assert!(text.contains(from), "{text}");
        serde_json::from_str::<Command>(&text.replace(from, to)).unwrap()
    };
    let later = changed("\"offset_bytes\":0", "\"offset_bytes\":1");
    insta::assert_snapshot!(refused(agent.ask(&later)), @"cannot keep the recording: a piece of a recording is missing");
    let garbage = changed("\"base64\":\"", "\"base64\":\"!");
    assert!(refused(agent.ask(&garbage)).contains("Invalid symbol"));
    let RecordedLoad { hash, .. } = workload.recording().unwrap();
    let other = hash.replace(|_: char| true, "0");
    assert!(matches!(agent.ask(&changed(hash, &other)), Reply::Kept));
    let changed_workload = serde_json::to_string(&workload).unwrap().replace(hash, &other);
    let workload: Workload = serde_json::from_str(&changed_workload).unwrap();
    let Reply::Failed { error, .. } = agent.ask(&open(&workload, directory.path())) else {
        panic!()
    };
    assert!(error.contains("it is not the recording that the run was planned with"), "{error}");
}
