//! Kills a peel of real layers at random moments and undoes what it left.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../../rig/tests/common/machine.rs"]
#[allow(dead_code, reason = "each test binary uses its part")]
mod machine;
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_testing::skipped;
use support::{Desk, catches_ctrl_c, wait_for};

const KILLS: u32 = 100;

const PEEL: [&str; 13] = [
    "peel",
    "file(size=16M) + luks + luks + ext4",
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
fn nothing_is_left_of_a_killed_peel_after_undo() {
    let desk = Desk::new();
    let before = machine_and_files(&desk);
    let started = Instant::now();
    let whole = desk.run(&PEEL);
    let whole_run = started.elapsed();
    if was_refused(&desk, whole.code) {
        return skipped(&whole.err);
    }
    assert!([0, 3].contains(&whole.code), "{whole}");
    assert_eq!(machine_and_files(&desk), before, "after a run that ended by itself");

    let mut hits = 0;
    for kill in 0..KILLS {
        let mut child =
            desk.command(&PEEL).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // A different moment each time, all over the run. How long a run takes is decided by what
        // else the machine does: one in four is killed as soon as it has something up.
        let share = f64::from(kill * 37 % KILLS) / f64::from(KILLS);
        if kill % 4 == 0 {
            let mut has_ended = || child.try_wait().unwrap().is_some();
            wait_for("something up", || desk.has_something_up() || has_ended());
        } else {
            sleep(whole_run.mul_f64(share).max(Duration::from_millis(2)));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let undone = desk.run(&["undo"]);
        assert_eq!(undone.code, 0, "after {share} of a run: {undone}");
        hits += u32::from(!undone.out.starts_with("Nothing to undo"));
        assert_eq!(machine_and_files(&desk), before, "after {share} of a run: {undone}");
        let again = desk.run(&["undo"]);
        assert!(again.out.starts_with("Nothing to undo"), "undo is idempotent: {again}");
    }
    assert!(hits > KILLS / 10, "only {hits} of {KILLS} kills hit a run with something up");
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

/// Whether a run ended before it made anything, for lack of a program or a right. A run that did may
/// end so, too: where a busy machine lets no I/O through in a window.
fn was_refused(desk: &Desk, code: i32) -> bool {
    code == 3 && !desk.path().join("out").exists()
}

/// What is up on the machine because of this desk, and the files in it, without results and
/// without the directories of the state, which stay.
fn machine_and_files(desk: &Desk) -> (BTreeSet<String>, BTreeSet<PathBuf>) {
    let _ = fs::remove_dir_all(desk.path().join("out"));
    let mut files = BTreeSet::new();
    files_in(desk.path(), &mut files);
    for kept in ["state", "state/run", "state/undo"] {
        files.remove(&desk.path().join(kept));
    }
    (machine::traces_of(desk.path()), files)
}

fn files_in(directory: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_in(&path, found);
        }
        found.insert(path);
    }
}
