//! Settings of the host as arms: made when an arm's turn begins, undone however the run ends. The
//! setting is a loop device's read-ahead, which only root can change. Skipped loudly for others.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use insta::assert_snapshot;
use iotax_testing::{needs, needs_root};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::{Desk, catches_ctrl_c, wait_for};

/// Read-ahead in KiB without the setting, and with it.
const USUAL: &str = "128";
const SET: &str = "64";

/// A loop device on a file of the desk's, detached when dropped.
struct Disk {
    desk: Desk,
    device: String,
}

impl Disk {
    fn new() -> Option<Self> {
        if !needs_root() {
            return None;
        }
        let desk = Desk::new();
        fs::write(desk.path().join("disk.img"), vec![0x5a; 8 << 20]).unwrap();
        let attach = ["--find", "--show", "disk.img"];
        let attached =
            Command::new("losetup").args(attach).current_dir(desk.path()).output().ok()?;
        let device = String::from_utf8_lossy(&attached.stdout).trim().to_owned();
        if !needs(attached.status.success(), "a loop device") {
            return None;
        }
        let made = Self { desk, device };
        fs::write(made.setting(), USUAL).unwrap();
        Some(made)
    }

    fn setting(&self) -> PathBuf {
        let name = self.device.trim_start_matches("/dev/");
        format!("/sys/block/{name}/queue/read_ahead_kb").into()
    }

    fn is(&self) -> String {
        fs::read_to_string(self.setting()).unwrap().trim().to_owned()
    }

    /// Two arms on the device, the second with the setting; each command writes a line in a log.
    fn compare(&self, before: &str, more: &[&str]) -> Command {
        let arms = ["a", "b"].map(|name| format!("{name}={}", self.device));
        let setting = self.setting().display().to_string();
        let before = format!("b={before} && echo {SET} > {setting} && echo set >> log");
        let after = format!("b=echo {USUAL} > {setting}; echo unset >> log");
        let own = ["compare", "-w", "randread-4k", &arms[0], &arms[1]];
        let around = ["--before", before.as_str(), "--after", after.as_str()];
        let load = ["--ramp", "0", "--set", "size=4M", "--no-depth-check", "--out", "out"];
        self.desk.command(&[&own[..], &around, &load, more].concat())
    }

    fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.desk.path().join("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Arms in the order of their trials, and how each ended.
    fn trials(&self) -> Vec<(String, String)> {
        let lines = fs::read_to_string(self.desk.path().join("out/trials.jsonl")).unwrap();
        let trials = lines.lines().filter_map(|line| {
            let trial: Value = serde_json::from_str(line).ok()?;
            Some((trial["arm"].as_str()?.to_owned(), trial["outcome"].to_string()))
        });
        trials.collect()
    }

    /// Whether the command before a trial has done both of its steps.
    fn is_set(&self) -> bool {
        self.is() == SET && self.log().last().is_some_and(|last| last == "set")
    }

    fn is_undone(&self) {
        assert_eq!(self.is(), USUAL);
        assert_eq!(self.desk.journals(), Vec::<String>::new());
        let log = self.log();
        let pairs = log.chunks(2).all(|pair| pair == ["set", "unset"]);
        assert!(pairs, "each is undone before the next: {log:?}");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.device]).status();
    }
}

const SHORT: [&str; 4] = ["--time", "50ms", "--max-blocks", "4"];

#[test]
fn a_setting_holds_for_the_turns_of_its_arm_and_is_undone() {
    let Some(disk) = Disk::new() else { return };
    let said = disk.desk.said(&disk.compare("true", &SHORT).output().unwrap());
    assert_eq!(said.code, 0, "{said}");
    assert!(!said.err.contains("is chance"), "one device is what was meant: {said}");
    disk.is_undone();
    let trials = disk.trials();
    let turns = trials.windows(2).filter(|pair| pair[0].0 != "b" && pair[1].0 == "b").count();
    // Files were laid out on both before.
    assert!(disk.log().len() / 2 >= turns.max(1), "{:?} {trials:?}", disk.log());
    let record = fs::read_to_string(disk.desk.path().join("out/experiment.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let commands = &record["spec"]["arms"][1]["host_commands"];
    assert!(commands["before"].as_str().unwrap().contains("echo set >> log"), "{commands}");
    assert_eq!(record["spec"]["arms"][0]["host_commands"], Value::Null);
}

#[test]
fn a_command_that_fails_is_a_failed_trial_and_what_it_did_is_undone() {
    let Some(disk) = Disk::new() else { return };
    // The first turn is that in which files are looked at.
    let fails = "test $(wc -l < log 2>/dev/null || echo 0) -lt 2 || { echo set >> log; echo no room >&2; exit 7; }";
    let said = disk.desk.said(&disk.compare(fails, &SHORT).output().unwrap());
    assert_eq!(said.code, 3, "an arm failed three times in a row: {said}");
    disk.is_undone();
    let failed: Vec<_> =
        disk.trials().into_iter().filter(|(_, outcome)| outcome.contains("failed")).collect();
    assert!(!failed.is_empty() && failed.iter().all(|(arm, _)| arm == "b"), "{failed:?}");
    assert!(failed[0].1.contains("`before` command"), "{failed:?}");
    assert!(failed[0].1.contains("(exit status: 7): no room"), "{failed:?}");
}

#[test]
fn ctrl_c_undoes_it() {
    let Some(disk) = Disk::new() else { return };
    let mut run = disk.compare("true", &["--time", "20s"]);
    let mut child = run.stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_for("the setting", || disk.is_set() && catches_ctrl_c(&child));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4));
    disk.is_undone();
}

#[test]
fn undo_undoes_that_of_a_run_that_was_killed() {
    let Some(disk) = Disk::new() else { return };
    let mut run = disk.compare("true", &["--time", "20s"]);
    let mut child = run.stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_for("the setting", || disk.is_set());
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    assert_eq!(disk.is(), SET);
    let said = disk.desk.run(&["undo"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(said.out.contains("removed the host setting of arm b (ran `echo 128 > "), "{said}");
    disk.is_undone();
    assert_snapshot!(disk.desk.run(&["undo"]), @"
    Nothing to undo: no killed run left anything behind.
    [exit 0]
    ");
}

#[test]
fn a_setting_that_cannot_be_undone_is_said_and_nothing_else_is_measured() {
    let desk = Desk::new();
    let said = desk.run(&[
        "compare",
        "-w",
        "randread-4k",
        "a=mem(size=4M)",
        "b=mem(size=4M)",
        "--before",
        "b=true",
        "--after",
        "b=echo busy >&2; exit 1",
        "--ramp",
        "0",
        "--time",
        "50ms",
        "--set",
        "size=4M",
        "--max-blocks",
        "4",
        "--out",
        "out",
    ]);
    assert_eq!(said.code, 3, "{said}");
    let text = said.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("the `after` command `echo busy >&2; exit 1` failed"), "{said}");
    assert!(text.contains("the host setting may still be active"), "{said}");
    assert!(
        text.contains("not measured, because another arm's host setting could not be undone"),
        "{said}"
    );
    assert_eq!(desk.journals().len(), 1);
    let undone = desk.run(&["undo"]);
    assert_eq!(undone.code, 3, "{undone}");
    assert!(undone.err.contains("busy"), "{undone}");
}

#[test]
fn a_plan_shows_them_and_what_cannot_be_undone_is_refused() {
    let desk = Desk::new();
    let arms = ["a=mem(size=4M)", "b=mem(size=4M)"];
    let said = |more: &[&str]| {
        let own = ["plan", "compare", "-w", "randread-4k", arms[0], arms[1], "--seed", "1"];
        desk.run(&[&own[..], more].concat())
    };
    let plan = said(&[
        "--before",
        "b=sysctl -w vm.swappiness=1",
        "--after",
        "b=sysctl -w vm.swappiness=60",
    ]);
    assert_eq!(plan.code, 0, "{plan}");
    let arms = plan.out.split("Arms\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert_snapshot!(arms, @"
    a  mem(size=4M)  (baseline)
    b  mem(size=4M)
      before: sysctl -w vm.swappiness=1
      after: sysctl -w vm.swappiness=60
    ");
    assert_snapshot!(said(&["--before", "b=true"]), @"
    error: nothing undoes the `before` command of arm `b`
    give the arm an `after` command, or `none` if nothing needs to be undone: --after 'b=none'
    [exit 2]
    ");
    assert_snapshot!(said(&["--before", "true", "--after", "none"]), @"
    error: option --before: `true` does not start with an arm's name and `=`
    specify ARM=COMMAND; the arms are a, b
    [exit 2]
    ");
    let remote = desk.run(&[
        "compare", "-w", "randread-4k", "a=mem(size=4M)", "b=mem(size=4M)", "--before", "b=true",
        "--after", "b=none", "--agent", "iotax agent", "--out", "out",
    ]);
    assert_snapshot!(remote, @"
    error: arm b has --before and --after commands, which agents and pods cannot run; run iotax on the target machine itself, without --agent
    [exit 2]
    ");
}

#[test]
fn an_experiment_file_has_them_too_and_they_run_beside_it() {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("etc")).unwrap();
    let file = r#"
        workload = "randread-4k"
        ramp = 0
        time = "50ms"
        max-blocks = 3
        set = { size = "4M" }
        depth-check = false
        [arms]
        a = "mem(size=4M)"
        b = "mem(size=4M)"
        [before]
        b = "echo set >> log"
        [after]
        b = "echo unset >> log"
    "#;
    fs::write(desk.path().join("etc/x.toml"), file).unwrap();
    let said = desk.run(&["compare", "etc/x.toml", "--out", "out"]);
    assert!([0, 1].contains(&said.code), "{said}");
    let log = fs::read_to_string(desk.path().join("etc/log")).unwrap();
    assert!(log.starts_with("set\nunset\n"), "{log}");
    assert_eq!(log.matches("unset").count() * 2, log.lines().count(), "{log}");
    fs::write(
        desk.path().join("etc/x.toml"),
        file.replace("[after]\n        b = \"echo unset >> log\"", ""),
    )
    .unwrap();
    let said = desk.run(&["plan", "compare", "etc/x.toml"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(said.err.contains("nothing undoes the `before` command of arm `b`"), "{said}");
}

/// What iotax mounts has a read-ahead of its own, which ends with the mount: on a device of the
/// user's, too, and after a kill.
#[test]
fn a_mounts_read_ahead_is_set_and_put_back() {
    let Some(disk) = Disk::new() else { return };
    if !iotax_testing::needs_program("mkfs.ext4") {
        return;
    }
    let blank = fs::File::create(disk.desk.path().join("disk.img")).unwrap();
    blank.set_len(64 << 20).unwrap();
    assert!(
        Command::new("losetup").args(["--set-capacity", &disk.device]).status().unwrap().success()
    );
    let target = format!("dev(path={}) + ext4(read_ahead={SET}k)", disk.device);
    let args = |time: &str| {
        let own =
            ["run", "randread-4k", &target, "--destroy", &disk.device, "--set", "size=4M", "--out"];
        disk.desk.command(&[&own[..], &[&format!("out-{time}"), "--time", time]].concat())
    };
    let said = disk.desk.said(&args("50ms").output().unwrap());
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(disk.is(), USUAL);
    let mut child = args("20s").stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_for("the read-ahead", || disk.is() == SET);
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    assert_eq!(disk.is(), SET);
    let said = disk.desk.run(&["undo"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(said.out.contains("removed the read-ahead of 64 KiB in "), "{said}");
    assert_eq!((disk.is().as_str(), disk.desk.journals()), (USUAL, Vec::new()));
}
