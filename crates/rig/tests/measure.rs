//! Rates under the limits of cgroups. Not part of `cargo test`, because a busy machine decides
//! them; `cargo xtask measure` runs them. Needs root; skipped loudly for others.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement: figures are shown")]

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use iotax_experiment::{Stack, Target};
use iotax_inspect::hierarchy;
use iotax_load::IoTarget;
use iotax_rig::{Preparing, Rig};
use iotax_testing::{needs, needs_root};
use rustix::fs::OFlags;

mod common;

const LIMIT: f64 = 200.0;
const BLOCK: usize = 4096;
const FILE_BLOCKS: u64 = 1024;

#[test]
fn reads_are_limited_in_their_arm_alone() {
    let has_controller = hierarchy("blkio", "io").is_some();
    if !needs_root() || !needs(has_controller, "a cgroup controller for I/O") {
        return;
    }
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let stack = |text| Target::Stack(Stack::parse(text).unwrap());
    let spec = common::spec(&[
        ("limited", stack("file(size=64M) + ext4 + cgroup-io(read_iops=200)")),
        ("free", stack("file(size=64M) + ext4")),
    ]);
    let stop = Arc::new(AtomicBool::new(false));
    let state = Some(root.path().join("state"));
    let options = &mut |_: &Preparing<'_>| ();
    let mut rig = Rig::open(&spec, common::options(root.path(), state, options, &stop)).unwrap();
    let files = [0, 1].map(|arm| {
        let file = directory(&mut rig, arm).join("data");
        fs::write(&file, vec![7; BLOCK * usize::try_from(FILE_BLOCKS).unwrap()]).unwrap();
        File::open(&file).unwrap().sync_all().unwrap();
        file
    });
    for depth in [1, 8] {
        directory(&mut rig, 0);
        let rate = reads_per_s(&files[0], depth, Duration::from_secs(3));
        println!("limit 200: {rate:.1} reads/s at depth {depth}");
        assert!((0.7..1.05).contains(&(rate / LIMIT)), "{rate:.1} reads/s at depth {depth}");
        directory(&mut rig, 1);
        let free = reads_per_s(&files[1], depth, Duration::from_millis(500));
        println!("no limit: {free:.0} reads/s at depth {depth}");
        assert!(free > 2.0 * LIMIT, "{free:.1} reads/s of the other arm at depth {depth}");
    }
    rig.down().unwrap();
}

fn directory(rig: &mut Rig, arm: usize) -> PathBuf {
    let IoTarget::Path(path) = rig.up(arm).unwrap() else { panic!("not a directory") };
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
