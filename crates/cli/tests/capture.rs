//! Recordings: made, shown, replayed, imported and exported.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use iotax_run::agent::{ChildAgent, Launch as _, Launched, RecordingProgress, fetch_recording};
use iotax_testing::{needs, needs_bpf, needs_program, needs_root};
use serde_json::Value;
use support::Desk;
use support::group::Container;

const BLOCKS: u64 = 200;

/// Records 200 writes of 8 KiB and a sync into `app.iotx`.
fn record(desk: &Desk) {
    let count = format!("count={BLOCKS}");
    let dd = ["dd", "if=/dev/zero", "of=data", "bs=8k", &count, "conv=fsync", "status=none"];
    let said = desk.run(&[&["capture", "-o", "app.iotx", "--"][..], &dd].concat());
    assert_eq!(said.code, 0, "{said}");
}

fn json(desk: &Desk, arguments: &[&str]) -> Value {
    let said = desk.run(&[arguments, &["--format", "json"]].concat());
    assert_eq!(said.code, 0, "{said}");
    serde_json::from_str(&said.out).unwrap()
}

fn operation<'a>(shown: &'a Value, name: &str) -> &'a Value {
    let operations = shown["summary"]["operations"].as_array().unwrap();
    operations.iter().find(|operation| operation["op"] == name).unwrap()
}

#[test]
fn a_program_is_recorded_and_replayed() {
    if !needs_bpf() {
        return;
    }
    let desk = Desk::new();
    record(&desk);
    let shown = json(&desk, &["capture", "show", "app.iotx"]);
    assert_eq!(operation(&shown, "write")["count"], BLOCKS);
    assert_eq!(operation(&shown, "write")["bytes"], BLOCKS * 8192);
    assert_eq!(operation(&shown, "fsync")["count"], 1);
    assert_eq!(shown["summary"]["lost"], 0);
    assert_eq!(shown["end"]["reason"]["command"]["code"], 0);

    for name in ["a", "b"] {
        fs::create_dir(desk.path().join(name)).unwrap();
    }
    let said = desk.run(&["run", "app.iotx", "a", "--out", "ran"]);
    assert_eq!(said.code, 0, "{said}");
    let said = desk.run(&[
        "compare", "-w", "app.iotx", "a=a", "b=b", "--max-blocks", "4", "--quick", "--out",
        "compared",
    ]);
    assert_eq!(said.code, 0, "{said}");
    for (record, trials) in [("ran", 1), ("compared", 8)] {
        let lines = fs::read_to_string(desk.path().join(record).join("trials.jsonl")).unwrap();
        let jobs = jobs(&lines);
        assert!((1..=trials).contains(&jobs.len()), "{} trials", jobs.len());
        for job in jobs {
            assert_eq!(job["write"]["ios"], BLOCKS, "{job:#}");
            assert_eq!(job["write"]["bytes"], BLOCKS * 8192);
            assert_eq!(job["first_error"], Value::Null);
        }
    }
    // What it laid out belongs to the run.
    assert_eq!(fs::read_dir(desk.path().join("a")).unwrap().count(), 0);
}

/// The jobs of all trials of a record.
fn jobs(lines: &str) -> Vec<Value> {
    let trials = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    trials.filter_map(|trial| trial.pointer("/load/jobs/0").cloned()).collect()
}

#[test]
fn what_a_recording_holds_is_not_what_the_program_wrote() {
    if !needs_bpf() {
        return;
    }
    let desk = Desk::new();
    let script = "for i in 1 2 3 4 5 6 7 8 9; do echo canary-contents-$i > canary-name-$i; \
                  mv canary-name-$i canary-other-$i; rm canary-other-$i; done";
    let said = desk.run(&["capture", "-o", "app.iotx", "--", "sh", "-c", script]);
    assert_eq!(said.code, 0, "{said}");
    let shown = desk.run(&["capture", "show", "app.iotx", "--format", "json"]);
    assert!(!shown.out.contains("canary"), "{shown}");
    let bytes = fs::read(desk.path().join("app.iotx")).unwrap();
    let canary = b"canary";
    assert!(!bytes.windows(canary.len()).any(|window| window == canary));
}

#[test]
fn strace_records_a_command_without_its_names_and_contents() {
    if !needs_program("strace") {
        return;
    }
    let desk = Desk::new();
    fs::write(desk.path().join("canary-in"), "canary".repeat(20_000)).unwrap();
    let dd =
        ["dd", "if=canary-in", "of=canary-out", "bs=4k", "count=20", "conv=fsync", "status=none"];
    let said = desk.run(&[&["capture", "--strace", "-o", "app.iotx", "--"][..], &dd].concat());
    assert_eq!(said.code, 0, "{said}");
    let shown = json(&desk, &["capture", "show", "app.iotx"]);
    assert_eq!(shown["head"]["source"], "strace");
    assert_eq!(operation(&shown, "write")["count"], 20);
    assert_eq!(operation(&shown, "write")["bytes"], 20 * 4096);
    assert_eq!(operation(&shown, "fsync")["count"], 1);
    let bytes = fs::read(desk.path().join("app.iotx")).unwrap();
    assert!(!bytes.windows(6).any(|window| window == b"canary"));

    let said = desk.run(&["capture", "export", "app.iotx", "-o", "app.parquet"]);
    let rows = format!("app.parquet: {} rows, one for each event", shown["summary"]["events"]);
    assert!(said.code == 0 && said.out.contains(&rows), "{said}");
    assert!(fs::read(desk.path().join("app.parquet")).unwrap().ends_with(b"PAR1"));

    let said = desk.run(&["capture", "--strace", "-o", "none.iotx", "--", "no-such-program"]);
    assert!(said.code != 0 && said.err.contains("cannot start no-such-program"), "{said}");
    let said = desk.run(&["capture", "--strace", "-o", "none.iotx", "--pid", "4194304"]);
    assert!(said.code == 2 && said.err.contains("there is no process 4194304"), "{said}");
    assert!(!desk.path().join("none.iotx").exists());
}

#[test]
fn strace_leaves_a_running_program_alone_at_the_end() {
    if !needs_program("strace") {
        return;
    }
    let desk = Desk::new();
    let script = "while sleep 0.02; do echo x >>log; done";
    let shell = Command::new("sh").args(["-c", script]).current_dir(desk.path()).spawn();
    let mut shell = shell.unwrap();
    let pid = shell.id().to_string();
    let said = desk.run(&["capture", "--strace", "-o", "app.iotx", "--pid", &pid, "--for", "1s"]);
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    shell.kill().unwrap();
    shell.wait().unwrap();
    assert_eq!(said.code, 0, "{said}");
    assert!(status.contains("TracerPid:\t0\n"), "{status}");
    let shown = json(&desk, &["capture", "show", "app.iotx"]);
    assert!(operation(&shown, "write")["count"].as_u64().unwrap() > 1, "{shown:#}");
}

#[test]
fn a_trace_of_strace_is_replayed() {
    let desk = Desk::new();
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/data/app.strace");
    fs::copy(trace, desk.path().join("app.strace")).unwrap();
    let shown = json(&desk, &["capture", "import", "app.strace", "-o", "app.iotx"]);
    assert_eq!(shown["head"]["source"], "strace");
    let writes = operation(&shown, "write")["count"].as_u64().unwrap();
    assert!(writes > 0);
    fs::create_dir(desk.path().join("a")).unwrap();
    let said = desk.run(&["run", "app.iotx", "a", "--out", "ran"]);
    assert_eq!(said.code, 0, "{said}");
    let lines = fs::read_to_string(desk.path().join("ran/trials.jsonl")).unwrap();
    for job in jobs(&lines) {
        assert_eq!(job["first_error"], Value::Null, "{job:#}");
    }
    let options = ["--copies", "2", "--arrivals", "clock", "--allow-loss"];
    let said = desk.run(&[&["run", "app.iotx", "a", "--out", "twice"][..], &options].concat());
    assert_eq!(said.code, 0, "{said}");
    let twice = fs::read_to_string(desk.path().join("twice/trials.jsonl")).unwrap();
    let count = |lines: &str| jobs(lines)[0]["write"]["ios"].as_u64().unwrap();
    assert_eq!(count(&twice), 2 * count(&lines));
    for option in [&["--copies", "2"][..], &["--arrivals", "clock"], &["--allow-loss"]] {
        let said = desk.run(&[&["run", "randread-4k", "a"][..], option].concat());
        assert!(said.code == 2 && said.err.contains("applies only to recordings"), "{said}");
        assert!(said.err.contains(option[0]), "{said}");
    }
    let plan = json(&desk, &["plan", "compare", "-w", "app.iotx", "a=a", "b=a"]);
    assert_eq!(plan["whole_trials"]["recording"]["why"], "short");
    let said = desk.run(&["run", "app.iotx", "a", "--set", "threads=4"]);
    assert!(said.code == 2 && said.err.contains("replayed as it was recorded"), "{said}");
}

#[test]
fn a_recording_has_a_page() {
    let desk = Desk::new();
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/data/app.strace");
    fs::copy(trace, desk.path().join("app.strace")).unwrap();
    let said = desk.run(&["capture", "import", "app.strace", "-o", "app.iotx"]);
    assert_eq!(said.code, 0, "{said}");
    // A page of an earlier report is replaced, but not the file that a link leads to.
    fs::write(desk.path().join("other"), "of somebody else").unwrap();
    symlink("other", desk.path().join("app.iotx.html")).unwrap();
    for (arguments, page) in [
        (&["report", "app.iotx"][..], "app.iotx.html"),
        (&["report", "app.iotx", "--out", "there"], "there/report.html"),
    ] {
        let said = desk.run(arguments);
        assert_eq!(said.code, 0, "{said}");
        assert!(said.out.contains(&format!("Report: {page}")), "{said}");
        let page = fs::read_to_string(desk.path().join(page)).unwrap();
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("iotax run app.iotx DIR"));
    }
    assert_eq!(fs::read_to_string(desk.path().join("other")).unwrap(), "of somebody else");
    assert_eq!(json(&desk, &["report", "app.iotx"])["head"]["source"], "strace");
    for (arguments, answer) in [
        (&["report", "app.iotx", "--format", "csv"][..], "has no csv, junit or github format"),
        (&["report", "app.iotx", "app.iotx"], "one recording at a time"),
        (&["report", "app.iotx", "--out", "there"], "there"),
        (&["report", "app.iotx", "--fail-if", "b slower by 5%"], "do not apply to a recording"),
    ] {
        let said = desk.run(arguments);
        assert_eq!(said.code, 2, "{said}");
        assert!(said.err.contains(answer), "{said}");
    }
}

#[test]
fn fio_replays_an_export() {
    if !needs_bpf() || !needs_program("fio") {
        return;
    }
    let desk = Desk::new();
    record(&desk);
    let said = desk.run(&["capture", "export", "app.iotx", "-o", "app.iolog"]);
    assert_eq!(said.code, 0, "{said}");
    let log = fs::read_to_string(desk.path().join("app.iolog")).unwrap();
    assert!(log.starts_with("fio version 3 iolog\n"));
    assert_eq!(log.lines().filter(|line| line.contains(" write ")).count() as u64, BLOCKS);
}

#[test]
fn mistakes_are_answered() {
    let desk = Desk::new();
    fs::write(desk.path().join("text"), "no recording").unwrap();
    for (arguments, answer) in [
        (&["capture"][..], "name the program to record"),
        (&["capture", "show", "text"], "cannot read text: not an iotax recording"),
        (&["capture", "show", "none"], "cannot read none: No such file"),
        (&["capture", "import", "text", "-o", "x.iotx"], "cannot import text: unknown format"),
        (&["capture", "export", "text", "-o", "x.log"], "cannot export text: not an iotax"),
        (&["capture", "--for", "0s", "--pid", "1"], "the time must be longer than 0"),
    ] {
        let said = desk.run(arguments);
        assert_eq!(said.code, 2, "{said}");
        assert!(said.err.contains(answer), "{said}");
    }
    assert!(!desk.path().join("x.iotx").exists());
    assert!(!desk.path().join("x.log").exists());
    let unit = desk.run(&["capture", "--unit", "no-such-unit"]);
    assert!(matches!(unit.code, 2 | 3), "{unit}");
}

/// Writes and syncs until it is killed.
const WRITER: &str =
    "while :; do dd if=/dev/zero of=data bs=8k count=1 conv=fsync status=none; done";

fn recorder(desk: &Desk, container: &str) -> Launched {
    let mut agent = ChildAgent {
        command: [
            assert_cmd::cargo::cargo_bin!("iotax").to_str().unwrap(),
            "capture",
            "--to-client",
            "--container",
            container,
            "--out",
            desk.path().join("in-pod.iotx").to_str().unwrap(),
            "--max-overhead=100%",
        ]
        .map(str::to_owned)
        .to_vec(),
    };
    agent.launch().unwrap()
}

/// A container that writes; `None` where it cannot be recorded.
fn writer(desk: &Desk) -> Option<Container> {
    if !needs_bpf() || !needs_root() {
        return None;
    }
    let container = Container::start(desk, WRITER);
    needs(container.is_some(), "control groups").then_some(container?)
}

#[test]
fn a_client_gets_the_recording_of_a_container() {
    let desk = Desk::new();
    let Some(container) = writer(&desk) else { return };
    let (stop, mut bytes) = (AtomicBool::new(false), Vec::new());
    let recorder = recorder(&desk, &format!("containerd://{}", container.id));
    // It goes on until the client has seen it record.
    let mut tell = |now: &RecordingProgress| stop.store(now.events > 0, Ordering::Relaxed);
    fetch_recording("recorder", recorder, &stop, &mut tell, &mut bytes).unwrap();
    drop(container);
    fs::write(desk.path().join("app.iotx"), &bytes).unwrap();
    assert_eq!(bytes, fs::read(desk.path().join("in-pod.iotx")).unwrap());
    let shown = json(&desk, &["capture", "show", "app.iotx"]);
    assert!(operation(&shown, "fsync")["count"].as_u64().unwrap() > 0);
    assert_eq!(shown["end"]["reason"], "stopped");
}

#[test]
fn a_recorder_whose_client_is_gone_ends() {
    let desk = Desk::new();
    // It would go on as long as the container does.
    let Some(container) = writer(&desk) else { return };
    let Launched { input, mut output, mut process } = recorder(&desk, &container.id);
    output.read_exact(&mut [0; 8]).unwrap();
    drop((input, output));
    while process.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_client_hears_why_there_is_no_recording() {
    if !needs_bpf() {
        return;
    }
    let desk = Desk::new();
    let (stop, mut bytes) = (AtomicBool::new(false), Vec::new());
    let recorder = recorder(&desk, &"0".repeat(64));
    let failed = fetch_recording("recorder", recorder, &stop, &mut |_| (), &mut bytes);
    let said = failed.unwrap_err().to_string();
    assert!(said.starts_with("no process on this machine belongs to container 000"), "{said}");
    assert!(bytes.is_empty() && !desk.path().join("in-pod.iotx").exists());
}
