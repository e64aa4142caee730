//! Kills runs of every layer that this machine has at moments all over them, and undoes what they
//! left. `IOTAX_KILLS` says how many there are, `IOTAX_KILLS_OF` a layer that all of them have;
//! layers that few kernels have are killed in a virtual machine: `vm_layers.rs`.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "kill/course.rs"]
mod course;
#[path = "../../rig/tests/common/machine.rs"]
#[allow(dead_code, reason = "each test binary uses its part")]
mod machine;
#[path = "kill/runs.rs"]
mod runs;
#[path = "kill/scene.rs"]
mod scene;
mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use course::Course;
use iotax_testing::{needs_fuse, needs_program, skipped};
use runs::Run;
use rustix::process::{Pid, Signal, kill_process};
use scene::{Scene, machine_and_files};
use serde_json::Value;
use support::{Desk, catches_ctrl_c, wait_for};

/// How often each run is killed.
const KILLS_OF_EACH: usize = 2;
/// One kill in so many comes when the run has announced something in its journal: when the others
/// come, what else the machine does decides, too.
const AT_ONCE: usize = 4;
/// One undo in so many is killed as well, and done again.
const KILLED_UNDOS: usize = 5;
/// About as long as an undo takes.
const UNDO: Duration = Duration::from_millis(200);
/// The golden ratio's inverse: its multiples, without their whole parts, are spread evenly, however
/// many there are.
const GOLDEN: f64 = 0.618_033_988_749_895;
/// Layers that are killed in the virtual machine.
const ELSEWHERE: [&str; 10] =
    ["dmcrypt", "geneve", "ipsec", "ktls", "luks", "macsec", "netem", "nfs", "peer", "remote"];

const PEEL: [&str; 13] = [
    "peel",
    "file(size=16M) + qemu-luks + qemu-luks + ext4",
    "--quick",
    "--max-blocks",
    "1",
    "--time",
    "50ms",
    "--ramp",
    "0",
    "--set",
    "size=1M",
    "--out",
    "out",
];

#[test]
fn nothing_is_left_of_whatever_was_killed_after_undo() {
    if !needs_fuse() || !needs_program("wipefs") {
        return;
    }
    let scene = Scene::new();
    let before = scene.state();
    let wanted = std::env::var("IOTAX_KILLS_OF").ok();
    let is_wanted = |run: &Run| wanted.as_ref().is_none_or(|layer| run.has(layer));
    let all = runs::all(&scene.device).into_iter().filter(is_wanted);
    let mut runs: Vec<(Run, Course)> =
        all.filter_map(|run| Course::of(&run, &scene).map(|course| (run, course))).collect();
    let asked = std::env::var("IOTAX_KILLS").ok().map(|kills| kills.parse().unwrap());
    let kills = asked.unwrap_or(KILLS_OF_EACH * runs.len());
    let mut hits = vec![0; runs.len()];
    for kill in 0..kills {
        let (round, at) = (kill / runs.len(), kill % runs.len());
        let (run, course) = &mut runs[at];
        let share = (f64::from(u32::try_from(kill).unwrap()) * GOLDEN).fract();
        let mut child = scene.start(&run.arguments());
        let moment = if (round + at).is_multiple_of(AT_ONCE) {
            course.wait_for_entry(round / AT_ONCE, &scene.desk, &mut child)
        } else {
            course.wait_for_share(share, &mut child)
        };
        let undo_killed_after = kill.is_multiple_of(KILLED_UNDOS).then(|| UNDO.mul_f64(share));
        let told = scene.kill_and_undo(run, &mut child, undo_killed_after);
        let what = format!("kill {kill}, {moment}: {:?}\n{told}", run.arguments);
        assert_eq!(scene.settled(&before), before, "{what}");
        hits[at] += usize::from(!told.starts_with("Nothing to undo"));
    }
    for ((run, _), hits) in runs.iter().zip(&hits) {
        eprintln!("{hits:4} had something to undo: {}", run.arguments.join(" "));
    }
    let all: usize = hits.iter().sum();
    assert!(all > kills / 10, "only {all} of {kills} kills hit a run with something up");
}

#[test]
fn every_layer_of_this_machine_is_in_a_run_that_is_killed() {
    let desk = Desk::new();
    let told = desk.run(&["layers", "--format", "json"]);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    let runs = runs::all(Path::new("/dev/x"));
    for layer in told["layers"].as_array().unwrap() {
        let (name, can) = (layer["name"].as_str().unwrap(), &layer["available"]);
        let is_here = can["in_process"] == true || can["in_system"] == true;
        let is_killed = ELSEWHERE.contains(&name) || runs.iter().any(|run| run.has(name));
        assert!(is_killed || !is_here, "{name} is killed nowhere");
    }
}

#[test]
fn ctrl_c_takes_everything_down() {
    let desk = Desk::new();
    let before = machine_and_files(&desk);
    let endless = ["peel", PEEL[1], "--time", "30s", "--set", "size=1M", "--out", "out"];
    for has_begun in [false, true] {
        let mut child =
            desk.command(&endless).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for("the run", || {
            let has_ended = child.try_wait().unwrap().is_some();
            let is_there = if has_begun { desk.has_something_up() } else { catches_ctrl_c(&child) };
            has_ended || is_there
        });
        let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(interrupt.unwrap().success());
        let status = child.wait().unwrap();
        if was_refused(&desk, status.code().unwrap_or(-1)) {
            return skipped("this machine lacks something: iotax layers");
        }
        assert_eq!(status.code(), Some(4));
        assert_eq!(machine_and_files(&desk), before);
    }
}

#[test]
fn two_runs_at_a_time_do_not_disturb_each_other() {
    let desk = Desk::new();
    let before = machine_and_files(&desk);
    let start = |out: &str| {
        let mut arguments = PEEL;
        arguments[12] = out;
        desk.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let runs = [start("out/1"), start("out/2")];
    // Nor does undo disturb them.
    desk.run(&["undo"]);
    for run in runs {
        let output = run.wait_with_output().unwrap();
        let (code, err) = (output.status.code(), String::from_utf8_lossy(&output.stderr));
        if was_refused(&desk, code.unwrap_or(-1)) {
            skipped(&err);
            continue;
        }
        assert!([Some(0), Some(3)].contains(&code), "{err}");
    }
    assert_eq!(machine_and_files(&desk), before);
}

/// `mkfs.btrfs` looks at all devices that are mounted, and cannot where a server has gone.
#[test]
fn a_run_waits_until_another_that_was_killed_is_undone() {
    if !needs_fuse() || !needs_program("mkfs.btrfs") {
        return;
    }
    let (killed, waits) = (Desk::new(), Desk::new());
    let before = machine_and_files(&killed);
    let stack = r#"vdisk(stack="file(size=32M) + aes") + ext4"#;
    let endless = ["run", "randwrite-4k", stack, "--time", "30s", "--set", "size=1M"];
    let start = |desk: &Desk, arguments: &[&str]| {
        desk.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut child = start(&killed, &endless);
    let is_mounted = || {
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
        let path = killed.path().to_str().unwrap();
        mounts.lines().any(|line| line.contains(path) && line.contains(" ext4 "))
    };
    wait_for("the mount", || is_mounted() || child.try_wait().unwrap().is_some());
    if child.try_wait().unwrap().is_some() {
        return skipped("this machine lacks something: iotax layers");
    }
    for (process, _) in machine::processes(killed.path()) {
        kill_process(Pid::from_raw(process).unwrap(), Signal::KILL).unwrap();
    }
    child.wait().unwrap();
    let brief = ["--time", "50ms", "--ramp", "0", "--set", "size=1M"];
    let made = [&["run", "randwrite-4k", "file(size=128M) + btrfs"][..], &brief].concat();
    let mut run = start(&waits, &made);
    wait_for("mkfs", || {
        let processes = machine::processes(waits.path());
        let is_at_work = processes.iter().any(|(_, line)| line.contains("mkfs.btrfs "));
        is_at_work || run.try_wait().unwrap().is_some()
    });
    killed.run(&["undo"]);
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(machine_and_files(&killed), before);
}

/// Whether a run ended before it made anything, for lack of a program or a right. A run that did
/// may end so, too: where a busy machine lets no I/O through in a window.
fn was_refused(desk: &Desk, code: i32) -> bool {
    code == 3 && !desk.path().join("out").exists()
}
