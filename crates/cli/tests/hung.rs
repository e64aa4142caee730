//! A run on a mount whose server does not answer any more can be stopped. Needs root and FUSE;
//! skipped loudly without.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_testing::needs_fuse;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::{Desk, wait_for};

fn signal(pid: u64, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

/// Wakes the server up whatever happens, and takes its disk down.
struct Asleep<'a> {
    desk: &'a Desk,
    server: u64,
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        signal_if_there(self.server);
        self.desk.run(&["disk", "down", "--all", "--force"]);
        self.desk.run(&["undo"]);
    }
}

fn signal_if_there(pid: u64) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = kill_process(pid, Signal::CONT);
}

/// How often a process has read: a server once for each request.
fn reads(pid: u64) -> u64 {
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    io.lines().find_map(|line| line.strip_prefix("syscr: ")).unwrap().parse().unwrap()
}

/// What a process is doing, as the kernel has it.
fn state(pid: u64) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

#[test]
fn ctrl_c_ends_a_run_whose_disk_does_not_answer() {
    if !needs_fuse() {
        return;
    }
    let desk = Desk::new();
    fs::create_dir(desk.path().join("vm")).unwrap();
    let up = desk.run(&["disk", "up", "vm=mem(size=16M) + delay(latency=1ms)"]);
    assert_eq!(up.code, 0, "{up}");
    let status = desk.run(&["disk", "status", "--format", "json"]);
    let status: Value = serde_json::from_str(&status.out).unwrap();
    let asleep = Asleep { desk: &desk, server: status["disks"][0]["pid"].as_u64().unwrap() };
    let args = ["run", "randread-4k", "vm", "--time", "10m", "--out", "out", "--set", "depth=4"];
    let engine = ["--set", "engine=io_uring", "--set", "threads=2"];
    let run = desk.command(&[&args[..], &engine].concat());
    let mut run = { run }.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !desk.path().join("out/trials.jsonl").exists() {
        assert!(run.try_wait().unwrap().is_none(), "it ended before it was to be stopped");
        sleep(Duration::from_millis(20));
    }
    // Its file is there before the load is.
    let before = reads(asleep.server);
    wait_for("the load to be under way", || reads(asleep.server) > before + 1_000);
    signal(asleep.server, Signal::STOP);
    wait_for("the server to stand still", || state(asleep.server) == Some('T'));
    let stopped = Instant::now();
    signal(run.id().into(), Signal::INT);
    let said = desk.said(&run.wait_with_output().unwrap());
    assert_eq!(said.code, 4, "{said}");
    // A run whose I/O comes back ends at once: this one was given the time that it has for that.
    assert!(stopped.elapsed() >= Duration::from_secs(20), "nothing hung: {said}");
    drop(asleep);
    let undone = desk.run(&["undo"]);
    assert_eq!(undone.code, 0, "{undone}");
}
