//! Limits of cgroups: they hold for the arm that has them while it is driven, and for nothing else.
//! Needs root; skipped loudly for others.
//!
//! Without the test harness: this process itself is moved between groups, and is also run as a
//! child that is killed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test, though without the harness")]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use iotax_experiment::{Spec, Stack, Target};
use iotax_inspect::{Hierarchy, hierarchy};
use iotax_load::{IoTarget, PeerSecrets};
use iotax_rig::{GivenUp, Options, Rig, undo};
use iotax_testing::skipped;

mod common;

fn main() {
    let arguments: Vec<String> = env::args().collect();
    if let [_, role, root] = &arguments[..]
        && role == "child"
    {
        child(Path::new(root));
    }
    let root = rustix::process::geteuid().is_root();
    if !root || hierarchy("blkio", "io").is_none() {
        return skipped("needs root, and a cgroup controller for I/O");
    }
    let tests: [(&str, fn()); 3] = [
        ("the_group_is_left_and_entered_with_the_arms", arms_take_turns),
        ("a_killed_run_leaves_no_group", kill),
        ("where_nothing_can_be_limited_nothing_is_left", nothing_to_limit),
    ];
    for (name, test) in tests {
        let home = own();
        test();
        assert_eq!(own(), home, "{name}: group");
        println!("test {name} ... ok");
    }
}

fn arms_take_turns() {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let spec = spec(&[
        ("limited", "file(size=64M) + ext4 + cgroup-io(read_iops=200)"),
        ("free", "file(size=64M) + ext4"),
    ]);
    let home = own();
    let mut rig = open(&spec, root.path());
    assert_eq!(own(), home, "nothing is driven yet");
    directory(&mut rig, 0);
    let group = own();
    assert_ne!(group, home);
    for _ in 0..2 {
        directory(&mut rig, 0);
        assert_eq!(own(), group);
        assert!(limits_of(&own()).iter().any(|limit| limit.contains("200")));
        directory(&mut rig, 1);
        assert_eq!(own(), home);
    }
    directory(&mut rig, 0);
    rig.down().unwrap();
    assert_eq!(own(), home);
    assert!(!group.exists());
    assert_eq!(names(root.path()), ["state"]);
}

/// What the kernel tells of a group's limits on reads, in version 1 or 2.
fn limits_of(group: &Path) -> Vec<String> {
    let files = ["blkio.throttle.read_iops_device", "io.max"].map(|name| group.join(name));
    files.iter().filter_map(|file| fs::read_to_string(file).ok()).collect()
}

/// The last arm driven is left by dropping the rig, too, and a killed run's by undoing it.
fn kill() {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut child = Command::new(env::current_exe().unwrap())
        .arg("child")
        .arg(root.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut group = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut group).unwrap();
    let group = Path::new(group.trim_end());
    assert!(group != own() && group.exists(), "{}", group.display());
    child.kill().unwrap();
    child.wait().unwrap();
    let report = undo(&root.path().join("state"));
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert!(report.removed.iter().any(|made| made.contains("cgroup")), "{:?}", report.removed);
    assert!(!group.exists());
    assert_eq!(names(root.path()), ["state"]);
}

fn child(root: &Path) -> ! {
    let spec = spec(&[("limited", "file(size=64M) + cgroup-io(read_iops=200) + ext4")]);
    let mut rig = open(&spec, root);
    directory(&mut rig, 0);
    println!("{}", own().display());
    loop {
        thread::park();
    }
}

/// A directory of the user's that turns out to lie in memory.
fn nothing_to_limit() {
    let root = tempfile::tempdir_in("/dev/shm").unwrap();
    let stack = format!("dir(path={}) + cgroup-io(read_iops=200)", root.path().display());
    let error = try_open(&spec(&[("a", &stack)]), root.path()).unwrap_err().to_string();
    assert!(error.contains("no block device below"), "{error}");
    assert_eq!(names(root.path()), ["state"]);
}

/// The group this process is in.
fn own() -> PathBuf {
    let Hierarchy { own, .. } = hierarchy("blkio", "io").unwrap();
    own
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn spec(arms: &[(&str, &str)]) -> Spec {
    let arms: Vec<_> = arms
        .iter()
        .map(|(name, stack)| (*name, Target::Stack(Stack::parse(stack).unwrap())))
        .collect();
    common::spec(&arms)
}

fn try_open(spec: &Spec, root: &Path) -> Result<Rig, iotax_rig::Error> {
    let options = Options {
        work_dir: root,
        state_dir: Some(root.join("state")),
        progress: &mut |_| (),
        stop: Arc::default(),
        given_up: &GivenUp::default(),
        program: Path::new("iotax"),
        secrets: &PeerSecrets::new(),
    };
    Rig::open(spec, options)
}

fn open(spec: &Spec, root: &Path) -> Rig {
    try_open(spec, root).unwrap()
}

fn directory(rig: &mut Rig, arm: usize) -> PathBuf {
    let IoTarget::Path(path) = rig.up(arm).unwrap() else { panic!("not a directory") };
    path.to_owned()
}
