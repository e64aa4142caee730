//! Recordings and logs as workloads: in job files of fio, in experiment files, on block devices and
//! in bundles.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use iotax_testing::{needs_program, needs_programs, needs_root};
use serde_json::Value;
use support::{Desk, Said};

/// Three writes and a read by one thread, within 30 ms.
const LOG: &str = "fio version 3 iolog\n0 data add\n0 data open\n0 data write 0 8192\n\
                   10000 data datasync 0 0\n15000 data write 8192 4096\n20000 data read 65536 4096\n\
                   30000 data write 16384 4096\n30000 data close\n";

/// The same I/O of a block device.
fn device_log() -> String {
    LOG.replace(" data ", " /dev/sdz ")
}

/// With `app.log`, `app.iotx` of it, and directories `a` and `b`.
fn desk(log: &str) -> Desk {
    let desk = Desk::new();
    fs::write(desk.path().join("app.log"), log).unwrap();
    let said = desk.run(&["capture", "import", "app.log", "-o", "app.iotx"]);
    assert_eq!(said.code, 0, "{said}");
    for name in ["a", "b"] {
        fs::create_dir(desk.path().join(name)).unwrap();
    }
    desk
}

fn write(desk: &Desk, name: &str, text: &str) {
    fs::write(desk.path().join(name), text).unwrap();
}

/// The jobs of all trials of a record.
fn jobs(desk: &Desk, record: &str) -> Vec<Value> {
    let lines = fs::read_to_string(desk.path().join(record).join("trials.jsonl")).unwrap();
    let trials = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    trials.filter_map(|trial| trial.pointer("/load/jobs/0").cloned()).collect()
}

fn assert_replayed(jobs: &[Value], copies: u64) {
    assert!(!jobs.is_empty());
    for job in jobs {
        assert_eq!(job["first_error"], Value::Null, "{job:#}");
        assert_eq!(job["write"]["ios"], 3 * copies, "{job:#}");
        assert_eq!(job["write"]["bytes"], 16_384 * copies);
        assert_eq!(job["read"]["bytes"], 4096 * copies);
    }
}

fn refused(said: &Said) -> String {
    assert_eq!(said.code, 2, "{said}");
    said.err.clone()
}

#[test]
fn a_job_file_of_fio_replays_its_log() {
    let desk = desk(LOG);
    write(&desk, "one.fio", "[one]\nread_iolog=app.log\nrw=randread\nbs=1m\ndirectory=/mnt\n");
    let said = desk.run(&["run", "one.fio", "a", "--out", "one"]);
    assert_eq!(said.code, 0, "{said}");
    assert_replayed(&jobs(&desk, "one"), 1);
    let two = "[two]\nread_iolog=app.log\nnumjobs=2\nreplay_no_stall=1\n";
    write(&desk, "two.fio", two);
    let said = desk.run(&["run", "two.fio", "a", "--out", "two"]);
    assert_eq!(said.code, 0, "{said}");
    let lines = fs::read_to_string(desk.path().join("two/trials.jsonl")).unwrap();
    let trial: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(trial["load"]["replay"]["is_too_late"], false, "nothing can be late");
    assert_replayed(&jobs(&desk, "two"), 2);
    let command = "fio --name=x --read_iolog=app.log";
    let compare = ["compare", "-w", command, "a=a", "b=b", "--quick", "--max-blocks", "3"];
    let said = desk.run(&[&compare[..], &["--out", "both"]].concat());
    assert_eq!(said.code, 0, "{said}");
    assert_replayed(&jobs(&desk, "both"), 1);
    // What it laid out belongs to the run.
    assert_eq!(fs::read_dir(desk.path().join("a")).unwrap().count(), 0);
}

#[test]
fn agents_replay_recordings_and_logs() {
    let desk = desk(LOG);
    write(&desk, "log.fio", "[one]\nread_iolog=app.log\ndirectory=/mnt\n");
    let agent = format!("b={} agent", assert_cmd::cargo::cargo_bin!("iotax").display());
    for (workload, out) in [("app.iotx", "recording"), ("log.fio", "log")] {
        let compare = ["compare", "-w", workload, "a=a", "b=b", "--agent", &agent, "--out", out];
        let said = desk.run(&[&compare[..], &["--quick", "--max-blocks", "3"]].concat());
        assert_eq!(said.code, 0, "{said}");
        let jobs = jobs(&desk, out);
        assert_replayed(&jobs, 1);
        assert_eq!(jobs.len(), 6, "{said}");
    }
    assert_eq!(fs::read_dir(desk.path().join("b")).unwrap().count(), 0);
}

#[test]
fn fio_replays_the_same_ios() {
    if !needs_program("fio") {
        return;
    }
    let desk = desk(LOG);
    fs::write(desk.path().join("a/data"), vec![1; 1 << 17]).unwrap();
    let job = "[x]\nread_iolog=app.log\nrw=randread\nbs=4k\nsize=64k\noffset=32k\nnrfiles=2\n\
               io_size=8k\nfilename=other\n";
    write(&desk, "job.fio", job);
    let mut fio = Command::new("fio");
    fio.args(["--output-format=json", "../job.fio"]).current_dir(desk.path().join("a"));
    write(&desk, "a/app.log", LOG);
    let output = fio.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let result: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let theirs = &result["jobs"][0];
    let said = desk.run(&["run", "job.fio", "b", "--out", "ours"]);
    assert_eq!(said.code, 0, "{said}");
    let ours = &jobs(&desk, "ours")[0];
    for way in ["read", "write"] {
        let of = (&theirs[way]["total_ios"], &theirs[way]["io_bytes"]);
        assert_eq!(of, (&ours[way]["ios"], &ours[way]["bytes"]), "{way}");
    }
}

#[test]
fn an_experiment_file_names_a_recording_beside_it() {
    let desk = desk(LOG);
    fs::create_dir(desk.path().join("lab")).unwrap();
    fs::rename(desk.path().join("app.iotx"), desk.path().join("lab/app.iotx")).unwrap();
    let file = "workload.recording = \"app.iotx\"\nmode = \"quick\"\nmax-blocks = 3\n\
                depth-check = false\n[arms]\na = \"../a\"\nb = \"../b\"\n";
    write(&desk, "lab/x.toml", file);
    let plan = desk.run(&["plan", "compare", "lab/x.toml"]);
    assert_eq!(plan.code, 0, "{plan}");
    let shown = desk.path().canonicalize().unwrap().display().to_string();
    // Where lines are broken depends on the directory's name.
    let words = plan.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = words.replace(&shown, "DESK");
    assert_snapshot!(words.split(" Arms").next().unwrap(), @"Workload app every trial: the whole recording, 30ms on a target as fast as the recorded one replay: replays DESK/lab/app.iotx: 1 thread, reads and writes; needs 72k of space");
    let said = desk.run(&["compare", "lab/x.toml", "--out", "out"]);
    assert_eq!(said.code, 0, "{said}");
    assert_replayed(&jobs(&desk, "out"), 1);
    write(&desk, "lab/y.toml", &file.replace("app.iotx", "none.iotx"));
    let error = refused(&desk.run(&["plan", "compare", "lab/y.toml"]));
    assert!(error.contains("lab/y.toml:1:22: workload.recording: "), "{error}");
}

#[test]
fn a_plan_fails_for_a_recording_that_is_not_there_or_damaged() {
    let desk = desk(LOG);
    let plan = |recording: &str| desk.run(&["plan", "run", recording, "a"]);
    let said = plan("app.iotx");
    assert!(said.code == 0 && said.out.contains("needs 72k of space"), "{said}");
    let said = plan("none.iotx");
    assert!(said.code != 0 && said.err.contains("cannot open"), "{said}");
    let mut bytes = fs::read(desk.path().join("app.iotx")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(desk.path().join("bad.iotx"), bytes).unwrap();
    let said = plan("bad.iotx");
    assert!(said.code != 0 && said.err.contains("damaged"), "{said}");
    write(&desk, "text.iotx", "no recording");
    let said = plan("text.iotx");
    assert!(said.code != 0 && said.err.contains("not an iotax recording"), "{said}");
}

#[test]
fn options_that_a_recording_cannot_obey_are_refused() {
    let desk = desk(LOG);
    for (options, answer) in [
        (&["--drain=5s"][..], "drain: "),
        (&["--precondition"], "cannot be preconditioned"),
        (&["--ramp", "1s"], "ramp: a recording is replayed alone"),
        (&["--scale", "0.5"], "scale: a recording is replayed as it was recorded"),
        (&["--engine", "fio"], "only iotax's own engine replays recordings"),
        (&["--set", "engine=psync"], "only this engine replays recordings"),
        (&["--set", "engine=replay"], "needs a recording"),
        (&["--set", "depth=4"], "replayed as it was recorded"),
        (&["--set", "direct=true"], "replayed as it was recorded"),
    ] {
        let error = refused(&desk.run(&[&["run", "app.iotx", "a"], options].concat()));
        assert!(error.contains(answer), "{options:?}: {error}");
    }
    let arms = ["compare", "-w", "app.iotx", "a=a", "b=b"];
    for (options, answer) in
        [(&["--below-cap"][..], "below-cap: "), (&["--hold", "5s"], "hold: a recording has")]
    {
        let error = refused(&desk.run(&[&arms[..], options].concat()));
        assert!(error.contains(answer), "{options:?}: {error}");
    }
    let error = refused(&desk.run(&["run", "randread-4k", "a", "--set", "engine=replay"]));
    assert!(error.contains("needs a recording"), "{error}");
}

/// A loop device, removed when this is dropped.
struct Loop(PathBuf);

impl Loop {
    fn new(desk: &Desk, bytes: u64) -> Self {
        let file = desk.path().join("disk");
        fs::File::create(&file).unwrap().set_len(bytes).unwrap();
        let output = Command::new("losetup").args(["--find", "--show"]).arg(&file).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        Self(String::from_utf8(output.stdout).unwrap().trim().into())
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

#[test]
fn the_recording_of_a_device_is_replayed_on_a_device_that_may_be_overwritten() {
    if !(needs_root() && needs_programs(&["losetup"])) {
        return;
    }
    let place = desk(&device_log());
    let disk = Loop::new(&place, 4 << 20);
    let device = disk.path();
    let stack = format!("dev(path={device})");
    let bytes = || fs::read(place.path().join("disk")).unwrap();
    let blank = bytes();
    for (target, answer) in [
        (device, "iotax never writes to a device given by its path"),
        (&*stack, "--destroy"),
        ("mem(size=4M)", "does not support recordings"),
    ] {
        let error = refused(&place.run(&["run", "app.iotx", target]));
        assert!(error.contains(answer), "{target}: {error}");
    }
    assert!(bytes() == blank, "nothing was written");
    let said = place.run(&["run", "app.iotx", &stack, "--destroy", device, "--out", "own"]);
    assert_eq!(said.code, 0, "{said}");
    assert_replayed(&jobs(&place, "own"), 1);
    // In a directory, too.
    let said = place.run(&["run", "app.iotx", "a", "--out", "directory"]);
    assert_eq!(said.code, 0, "{said}");
    assert_replayed(&jobs(&place, "directory"), 1);
    let job = "[x]\nread_iolog=app.log\nreplay_redirect=/dev/sdz\n";
    write(&place, "x.fio", job);
    let said = place.run(&["run", "x.fio", &stack, "--destroy", device, "--out", "job"]);
    assert_eq!(said.code, 0, "{said}");
    assert_replayed(&jobs(&place, "job"), 1);
    write(&place, "large.log", &device_log().replace(" 65536 ", " 16777216 "));
    let said = place.run(&["capture", "import", "large.log", "-o", "large.iotx"]);
    assert_eq!(said.code, 0, "{said}");
    let error = refused(&place.run(&["run", "large.iotx", &stack, "--destroy", device]));
    assert!(error.contains("choose a device as large as the recorded one"), "{error}");
    // A device with data is left alone.
    let mut swap = vec![0; 4 << 20];
    swap[1024..1032].copy_from_slice(&[1, 0, 0, 0, 0xff, 3, 0, 0]);
    swap[4086..4096].copy_from_slice(b"SWAPSPACE2");
    fs::write(place.path().join("disk"), &swap).unwrap();
    let error = refused(&place.run(&["run", "app.iotx", &stack, "--destroy", device]));
    assert!(error.contains("swap") && bytes() == swap, "{error}");
}

#[test]
fn a_recording_that_only_reads_needs_no_permission_and_one_of_files_no_device() {
    if !(needs_root() && needs_programs(&["losetup"])) {
        return;
    }
    let reads = "fio version 3 iolog\n0 /dev/sdz add\n0 /dev/sdz open\n0 /dev/sdz read 4096 8192\n";
    let place = desk(reads);
    let disk = Loop::new(&place, 1 << 20);
    fs::write(place.path().join("disk"), vec![7; 1 << 20]).unwrap();
    let said = place.run(&["run", "app.iotx", disk.path(), "--out", "out"]);
    assert_eq!(said.code, 0, "{said}");
    let job = &jobs(&place, "out")[0];
    assert_eq!((&job["read"]["bytes"], &job["first_error"]), (&8192.into(), &Value::Null));
    assert!(fs::read(place.path().join("disk")).unwrap() == vec![7; 1 << 20]);
    write(&place, "files.log", LOG);
    let said = place.run(&["capture", "import", "files.log", "-o", "files.iotx"]);
    assert_eq!(said.code, 0, "{said}");
    let stack = format!("dev(path={})", disk.path());
    for target in [disk.path(), &stack, "mem(size=4M)"] {
        let run = ["run", "files.iotx", target, "--destroy", disk.path()];
        let error = refused(&place.run(&run));
        assert!(error.contains("directory"), "{target}: {error}");
    }
}

#[test]
fn a_bundle_replays_the_recording_with_fio() {
    let place = desk(LOG);
    let compare = ["compare", "-w", "app.iotx", "a=a", "b=b", "--quick", "--max-blocks", "2"];
    let said = place.run(&[&compare[..], &["--out", "rec"]].concat());
    assert_eq!(said.code, 0, "{said}");
    let said = place.run(&["repro", "rec", "--out", "bundle"]);
    assert_eq!(said.code, 0, "{said}");
    let read = |name: &str| fs::read_to_string(place.path().join("bundle").join(name)).unwrap();
    assert_eq!(read("jobs/01.log").lines().filter(|line| line.contains(" write ")).count(), 3);
    assert_snapshot!(read("jobs/01-directory.fio"), @"
    # workload-1
    [replay]
    ioengine=psync
    read_iolog=replay-01.log
    direct=0
    thread=1
    ");
    assert_snapshot!(read("jobs/01-layout.fio"), @"
    # workload-1
    [f0]
    filename=f0
    rw=read
    bs=69632
    size=69632
    create_only=1
    thread=1
    ");
    assert!(read("README.md").contains("one thread issues one I/O at a time"));
    if !needs_program("fio") {
        return;
    }
    let script = place.path().join("bundle/run.sh");
    let run = |arms: [&str; 2]| {
        let mut shell = Command::new("sh");
        shell.arg(&script).args(arms).args(["--out", "out"]).current_dir(place.path());
        shell.output().unwrap()
    };
    fs::write(place.path().join("file"), "theirs").unwrap();
    let output = run(["a=a", "b=file"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("which needs a directory"), "{error}");
    let output = run(["a=a", "b=b"]);
    assert!(output.status.success(), "{output:?}");
    for result in ["a-001", "b-001", "a-002", "b-002"] {
        let result = place.path().join(format!("out/{result}.json"));
        assert_has_replayed(&result);
    }
    assert_eq!(fs::read_dir(place.path().join("a")).unwrap().count(), 0);
    // Without the recording, there is nothing to replay.
    fs::remove_file(place.path().join("app.iotx")).unwrap();
    let said = place.run(&["repro", "rec", "--out", "other"]);
    assert!(said.code != 0 && said.err.contains("app.iotx"), "{said}");
    assert!(!place.path().join("other").exists());
}

fn assert_has_replayed(result: &Path) {
    let text = fs::read_to_string(result).unwrap();
    let result: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let job = &result["jobs"][0];
    assert_eq!(
        (&job["write"]["total_ios"], &job["write"]["io_bytes"]),
        (&3.into(), &16_384.into())
    );
    assert_eq!((&job["read"]["io_bytes"], &job["error"]), (&4096.into(), &0.into()));
}

#[test]
fn a_bundle_replays_the_recording_of_a_device_on_a_file() {
    if !needs_program("fio") {
        return;
    }
    let place = desk(&device_log());
    let said = place.run(&["run", "app.iotx", "a", "--out", "rec"]);
    assert_eq!(said.code, 0, "{said}");
    let said = place.run(&["repro", "rec", "--out", "bundle"]);
    assert_eq!(said.code, 0, "{said}");
    fs::write(place.path().join("file"), vec![7; 1 << 20]).unwrap();
    let script = place.path().join("bundle/run.sh");
    let mut shell = Command::new("sh");
    shell.arg(&script).args(["target=file", "--destroy", "file", "--out", "out"]);
    let output = shell.current_dir(place.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_has_replayed(&place.path().join("out/target-001.json"));
    let bytes = fs::read(place.path().join("file")).unwrap();
    assert!(bytes.len() == 1 << 20 && bytes[20_480..].iter().all(|byte| *byte == 7));
    assert!(bytes[..8192] != [7; 8192]);
}
