//! A load generator that was stopped says so, whatever the storage seems to have done meanwhile.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use support::{Desk, wait_for};

const RUN: [&str; 13] = [
    "run",
    "randread-4k",
    "mem(size=32M) + delay(latency=200us)",
    "--time",
    "3s",
    "--ramp",
    "0",
    "-n",
    "2",
    "--no-metadata",
    "--set",
    "size=4M",
    "--out",
];

fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Whether its threads of load have started.
fn is_at_it(pid: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.into_iter().any(|name| name.starts_with("io") && !name.starts_with("iotax"))
}

fn signal(program: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(program.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Stops a program for so long, and lets it go on.
fn hold(program: &Child, time: Duration) {
    signal(program, Signal::STOP);
    wait_for("it to stop", || state(program.id()) == Some('T'));
    let until = Instant::now() + time;
    wait_for("time to pass", || Instant::now() >= until);
    signal(program, Signal::CONT);
}

fn trials(desk: &Desk, out: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(desk.path().join(out).join("trials.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_generator_that_was_stopped_is_not_the_storage_that_was_slow() {
    let desk = Desk::new();
    // It may have been stopped between two trials: then once more.
    let found = (0..10).find_map(|attempt| {
        let out = format!("out{attempt}");
        let mut program = desk.command(&[&RUN[..], &[&out]].concat()).spawn().unwrap();
        wait_for("load", || is_at_it(program.id()));
        hold(&program, Duration::from_millis(700));
        assert!(program.wait().unwrap().success());
        let paused = |trial: &Value| trial["load"]["paused"]["longest_ns"].as_u64();
        let longest = trials(&desk, &out).iter().filter_map(paused).max();
        longest.map(|longest| (out, longest))
    });
    let (out, longest_ns) = found.expect("one of ten was stopped within a trial");
    assert!(longest_ns >= 500_000_000, "{longest_ns}");
    let said = desk.run(&["report", &out]);
    assert!(is_told(&desk, &out), "{said}");
    // What else there is to say of a busy machine is of the other trial.
    for blamed in ["stalls:", "completed no I/O", "trials failed"] {
        assert!(!said.out.contains(blamed), "{blamed}: {said}");
    }
    little(&desk, &out);
}

#[test]
fn a_run_that_was_stopped_in_all_of_its_trials_shows_what_it_measured() {
    let desk = Desk::new();
    let mut trials = one_trial(&desk);
    trials[0]["load"]["paused"] =
        serde_json::json!({ "count": 1, "total_ns": 1_900_000_000, "longest_ns": 1_900_000_000 });
    let lines: Vec<String> = trials.iter().map(ToString::to_string).collect();
    let path = desk.path().join("out/trials.jsonl");
    std::fs::write(path, lines.join("\n") + "\n").unwrap();
    let said = desk.run(&["report", "out"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(is_told(&desk, "out"), "{said}");
    assert!(said.out.contains(" IOPS"), "{said}");
    little(&desk, "out");
}

/// Whether the report warns of it.
fn is_told(desk: &Desk, out: &str) -> bool {
    let said = desk.run(&["report", out, "--format", "json"]);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    let warnings = json["iotax"]["warnings"].as_array().unwrap();
    warnings.iter().any(|warning| warning["check"] == "paused")
}

/// What a run of one trial has recorded.
fn one_trial(desk: &Desk) -> Vec<Value> {
    let short = ["--time", "100ms", "--ramp", "0", "-n", "1", "--no-metadata", "--set", "size=4M"];
    let run = ["run", "randread-4k", "mem(size=32M)", "--out", "out"];
    assert_eq!(desk.run(&[&run[..], &short].concat()).code, 0);
    trials(desk, "out")
}

/// One in flight: rate x mean latency is at most 1, but for what was in flight at the edges.
fn little(desk: &Desk, out: &str) {
    assert!(Path::new(&desk.path().join(out)).exists());
    let said = desk.run(&["report", out, "--format", "json"]);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    let arm = &json["iotax"]["arms"][0];
    let [iops, latency_ns] =
        ["iops", "mean_latency_ns"].map(|figure| arm[figure].as_f64().unwrap());
    let in_flight = iops * latency_ns / 1e9;
    assert!(iops > 0.0 && in_flight <= 1.3, "{in_flight}: {arm:#}");
}
