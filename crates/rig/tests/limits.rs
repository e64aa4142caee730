//! Limits of cgroups: they hold for the arm that has them while it is driven, and for nothing else.
//! Needs root; skipped loudly for others.
//!
//! Without the test harness: this process itself is moved between groups, and is also run as a
//! child that is killed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test, though without the harness")]

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use iotax_inspect::{Hierarchy, hierarchy};
use iotax_rig::{Options, Place, Rig, undo};
use iotax_spec::{Spec, Stack, Target};
use iotax_testing::skipped;
use rustix::fs::OFlags;

mod common;

const LIMIT: f64 = 200.0;
const BLOCK: usize = 4096;
const FILE_BLOCKS: u64 = 1024;

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
        ("reads_are_limited_in_their_arm_alone", limits_hold),
        ("a_killed_run_leaves_no_group", kill),
        ("where_nothing_can_be_limited_nothing_is_left", nothing_to_limit),
    ];
    for (name, test) in tests {
        let before = (groups(), own());
        test();
        assert_eq!((groups(), own()), before, "{name}: groups");
        println!("test {name} ... ok");
    }
}

fn limits_hold() {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let spec = spec(&[
        ("limited", "file(size=64M) + ext4 + cgroup-io(read_iops=200)"),
        ("free", "file(size=64M) + ext4"),
    ]);
    let home = own();
    let mut rig = open(&spec, root.path());
    assert_eq!(own(), home, "nothing is driven yet");
    let files = [0, 1].map(|arm| {
        let file = directory(&mut rig, arm).join("data");
        fs::write(&file, vec![7; BLOCK * usize::try_from(FILE_BLOCKS).unwrap()]).unwrap();
        File::open(&file).unwrap().sync_all().unwrap();
        file
    });
    for depth in [1, 8] {
        directory(&mut rig, 0);
        assert_ne!(own(), home);
        let rate = reads_per_s(&files[0], depth, Duration::from_secs(3));
        println!("limit 200: {rate:.1} reads/s at depth {depth}");
        assert!((0.7..1.05).contains(&(rate / LIMIT)), "{rate:.1} reads/s at depth {depth}");
        directory(&mut rig, 1);
        assert_eq!(own(), home);
        let free = reads_per_s(&files[1], depth, Duration::from_millis(500));
        println!("no limit: {free:.0} reads/s at depth {depth}");
        assert!(free > 2.0 * LIMIT, "{free:.1} reads/s of the other arm at depth {depth}");
    }
    directory(&mut rig, 0);
    rig.down().unwrap();
    assert_eq!(own(), home);
    assert_eq!(names(root.path()), ["state"]);
}

/// The last arm driven is left by dropping the rig, too, and a killed run's by undoing it.
fn kill() {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let before = groups();
    let mut child = Command::new(env::current_exe().unwrap())
        .arg("child")
        .arg(root.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert_eq!(ready, "in\n");
    assert_eq!(groups().len(), before.len() + 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let report = undo(&root.path().join("state"));
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert!(report.removed.iter().any(|made| made.contains("cgroup")), "{:?}", report.removed);
    assert_eq!(groups(), before);
    assert_eq!(names(root.path()), ["state"]);
}

fn child(root: &Path) -> ! {
    let spec = spec(&[("limited", "file(size=64M) + cgroup-io(read_iops=200) + ext4")]);
    let mut rig = open(&spec, root);
    directory(&mut rig, 0);
    println!("in");
    loop {
        thread::park();
    }
}

/// A directory of the user's that turns out to lie in memory.
fn nothing_to_limit() {
    let root = tempfile::tempdir_in("/dev/shm").unwrap();
    let stack = format!("dir(path={}) + cgroup-io(read_iops=200)", root.path().display());
    let error = try_open(&spec(&[("a", &stack)]), root.path()).unwrap_err().to_string();
    assert!(error.contains("no block device lies below"), "{error}");
    assert_eq!(names(root.path()), ["state"]);
}

/// The group this process is in.
fn own() -> PathBuf {
    let Hierarchy { own, .. } = hierarchy("blkio", "io").unwrap();
    own
}

/// All groups of iotax's on this machine.
fn groups() -> Vec<PathBuf> {
    let Hierarchy { top, .. } = hierarchy("blkio", "io").unwrap();
    let mut found = Vec::new();
    let mut directories = vec![top];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with("iotax-") {
                found.push(entry.path());
            }
            directories.push(entry.path());
        }
    }
    found.sort();
    found
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
        stop: &AtomicBool::new(false),
        destroy: &[],
        program: Path::new("iotax"),
    };
    Rig::open(spec, options)
}

fn open(spec: &Spec, root: &Path) -> Rig {
    try_open(spec, root).unwrap()
}

fn directory(rig: &mut Rig, arm: usize) -> PathBuf {
    let Place::Path(path) = rig.up(arm).unwrap() else { panic!("not a directory") };
    path.to_owned()
}

/// Random reads past the page cache by `depth` threads of this process.
fn reads_per_s(path: &Path, depth: u64, time: Duration) -> f64 {
    // The kernel grants limits by slices of 100 ms; what the first ones allow at once is left out.
    let started = Instant::now() + Duration::from_millis(300);
    let end = started + time;
    let counts = thread::scope(|scope| {
        let start = |seed| scope.spawn(move || read(path, seed, started, end));
        let threads: Vec<_> = (0..depth).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>()
    });
    f64::from(counts) / time.as_secs_f64()
}

fn read(path: &Path, seed: u64, started: Instant, end: Instant) -> u32 {
    let direct = i32::try_from(OFlags::DIRECT.bits()).unwrap();
    let file = OpenOptions::new().read(true).custom_flags(direct).open(path).unwrap();
    let mut memory = vec![0; 2 * BLOCK];
    let aligned = memory.as_ptr().align_offset(BLOCK);
    let buffer = &mut memory[aligned..aligned + BLOCK];
    let mut count = 0;
    for step in seed.. {
        let block = step.wrapping_mul(2_654_435_761) % FILE_BLOCKS;
        file.read_exact_at(buffer, block * BLOCK as u64).unwrap();
        assert!(buffer.iter().all(|byte| *byte == 7));
        let now = Instant::now();
        if now >= end {
            break;
        }
        count += u32::from(now >= started);
    }
    count
}
