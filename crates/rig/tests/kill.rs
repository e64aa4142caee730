//! Kills a run at random moments and undoes what it left.
//!
//! Without the test harness, because the same program plays both parts: called with `child`, it
//! brings rigs up and down for ever; called without, it is the test.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test, though without the harness")]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use iotax_load::IoTarget;
use iotax_rig::{Rig, undo};

mod common;

const KILLS: u32 = 40;
const LONGEST_LIFE_US: u64 = 40_000;
/// One child in so many stays where it has everything up, so that this many kills surely hit: when
/// the others come, a busy machine decides.
const STAYS: u32 = 4;

fn main() {
    let arguments: Vec<String> = env::args().collect();
    match &arguments[..] {
        [_, role, root] if role == "child" => child(Path::new(root), false),
        [_, role, root] if role == "staying-child" => child(Path::new(root), true),
        _ => {}
    }
    nothing_is_left_after_kill_and_undo();
    println!("test nothing_is_left_after_kill_and_undo ... ok");
}

fn nothing_is_left_after_kill_and_undo() {
    let root = tempfile::tempdir().unwrap();
    for name in ["a", "b", "work", "state"] {
        fs::create_dir(root.path().join(name)).unwrap();
    }
    fs::write(root.path().join("a/precious"), "the user's").unwrap();
    fs::create_dir(root.path().join("a/.iotax-precious")).unwrap();
    let before = listing(root.path());
    let mut hits = 0;
    for kill in 0..KILLS {
        let stays = kill % STAYS == 0;
        let mut child = Command::new(env::current_exe().unwrap())
            .arg(if stays { "staying-child" } else { "child" })
            .arg(root.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        assert_eq!(ready, "ready\n");
        sleep(Duration::from_micros(getrandom::u64().unwrap() % LONGEST_LIFE_US));
        // While it lives, nothing of it is touched.
        let taken = check(&undo(&root.path().join("state")));
        assert_eq!(taken, 0, "undo took something from a living run");
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), None, "the child ended by itself: {status}");
        let removed = check(&undo(&root.path().join("state")));
        assert!(removed > 0 || !stays, "it had something up");
        assert_eq!(listing(root.path()), before);
        assert_eq!(check(&undo(&root.path().join("state"))), 0, "undo is idempotent");
        hits += u32::from(removed > 0);
    }
    assert!(hits > KILLS / 10, "only {hits} of {KILLS} kills hit a run with something up");
}

fn check(report: &iotax_rig::UndoReport) -> usize {
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    report.removed.len()
}

/// All paths below `root`. The journals' directory comes and stays; it is not looked at, what is
/// in it is.
fn listing(root: &Path) -> BTreeSet<PathBuf> {
    let mut paths = BTreeSet::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path.clone());
            }
            paths.insert(path);
        }
    }
    paths.remove(&root.join("state/undo"));
    paths
}

/// Says that it is ready: at once, or where it stays, with everything up.
fn child(root: &Path, stays: bool) -> ! {
    if !stays {
        println!("ready");
    }
    let spec = common::spec(&[
        ("a", common::path(root.join("a"))),
        ("b", common::path(root.join("b"))),
        ("named", common::file(Some(root.join("b/disk.img")), 1 << 20)),
        ("nameless", common::file(None, 1 << 20)),
    ]);
    loop {
        let mut rig = Rig::open(
            &spec,
            common::options(
                &root.join("work"),
                Some(root.join("state")),
                &mut |_| (),
                &Arc::default(),
            ),
        )
        .unwrap();
        for arm in 0..2 {
            let IoTarget::Path(path) = rig.up(arm).unwrap() else { panic!("not a path") };
            fs::create_dir(path.join("sub")).unwrap();
            for name in ["job.0", "job.1", "sub/index"] {
                fs::write(path.join(name), [1; 4096]).unwrap();
            }
        }
        if stays {
            println!("ready");
            loop {
                std::thread::park();
            }
        }
        rig.down().unwrap();
    }
}
