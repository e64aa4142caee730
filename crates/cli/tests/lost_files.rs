//! Loop devices are detached although what they stand on is gone: its server was killed, or it is
//! not to be found any more. Needs root and FUSE; skipped loudly without.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../../rig/tests/common/machine.rs"]
#[allow(dead_code, reason = "each test binary uses its part")]
mod machine;
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_testing::skipped;
use support::Desk;

const STACK: &str = "file(size=16M) + throttle(iops=100000) + loop";
/// Long enough for the slowest machine.
const PATIENCE: Duration = Duration::from_mins(10);

fn loops(desk: &Desk) -> BTreeSet<String> {
    let traces = machine::traces_of(desk.path()).into_iter();
    traces.filter(|trace| trace.starts_with("loop")).collect()
}

/// Whether the journal of a run has its loop device by its own identity; until then it has the path
/// below it.
fn is_known_by_itself(desk: &Desk) -> bool {
    let journals = fs::read_dir(desk.path().join("state/undo")).into_iter().flatten().flatten();
    let mut texts = journals.filter_map(|journal| fs::read_to_string(journal.path()).ok());
    texts.any(|text| text.contains(r#""made":"loop_device""#))
}

/// A run with its loop device up; `None`, said loudly, where the stack cannot be made.
fn started(desk: &Desk) -> Option<Child> {
    let run = ["run", "randread-4k", STACK, "--dir", ".", "--time", "60s", "--set", "size=1M"];
    let run = [&run[..], &["--out", "out"]].concat();
    let quiet = || Stdio::null();
    let mut child = desk.command(&run).stdout(quiet()).stderr(quiet()).spawn().unwrap();
    let since = Instant::now();
    while loops(desk).is_empty() || !is_known_by_itself(desk) {
        if let Some(status) = child.try_wait().unwrap() {
            skipped(&format!("{STACK} needs root, FUSE and loop devices: {status}"));
            return None;
        }
        assert!(since.elapsed() < PATIENCE, "no loop device came up");
        sleep(Duration::from_millis(5));
    }
    Some(child)
}

fn kill(pid: i32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

/// Where disks of servers are mounted.
fn mounts(desk: &Desk) -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let all = iotax_inspect::parse_mountinfo(&text).into_iter();
    let ours = all.filter(|mount| {
        mount.mount_point.starts_with(desk.path()) && mount.file_system == "fuse.iotax"
    });
    ours.map(|mount| mount.mount_point).collect()
}

fn is_detached_when_its_server_is_gone(and_unmounted: bool) {
    let desk = Desk::new();
    let before = machine::traces_of(desk.path());
    let Some(mut run) = started(&desk) else { return };
    let mounts = mounts(&desk);
    run.kill().unwrap();
    run.wait().unwrap();
    for (pid, _) in machine::processes(desk.path()) {
        kill(pid);
    }
    if and_unmounted {
        for mount in &mounts {
            assert!(Command::new("umount").arg("-l").arg(mount).status().unwrap().success());
        }
    }
    assert!(!mounts.is_empty());
    let undone = desk.run(&["undo"]);
    assert_eq!(undone.code, 0, "{undone}");
    assert!(undone.out.contains("removed the loop device /dev/loop"), "{undone}");
    assert_eq!(machine::traces_of(desk.path()), before, "{undone}");
}

#[test]
fn a_loop_device_on_a_mount_whose_server_was_killed_is_detached() {
    is_detached_when_its_server_is_gone(false);
}

#[test]
fn a_loop_device_whose_mount_is_not_to_be_found_is_detached() {
    is_detached_when_its_server_is_gone(true);
}
