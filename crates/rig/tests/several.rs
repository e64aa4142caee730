//! Several targets of one arm: each is looked at, made and taken down as a single one is.
#![allow(clippy::unwrap_used, reason = "a test; only functions under #[test] are known as such")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use iotax_experiment::{Arm, Design, Draft, Job, Spec, Target, Workload};
use iotax_load::IoTarget;
use iotax_rig::{Error, Rig};

mod common;

/// Directories `e` and `f`, and a state of its own.
fn bench() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for name in ["e", "f", "work"] {
        fs::create_dir(root.path().join(name)).unwrap();
    }
    root
}

/// A reader on `e`, and one on `f`, which may write instead, with files of so many bytes.
fn spec(root: &Path, [e, f]: [&str; 2], (f_reads, f_bytes): (u8, u64)) -> Spec {
    let mut workload = Workload::preset("randread-4k").unwrap();
    let like = Job { size_bytes: 1 << 20, ..workload.jobs.remove(0) };
    let job = |name: &str| Job {
        name: name.to_owned(),
        target: Some(name.to_owned()),
        direct: false,
        ..like.clone()
    };
    workload.jobs = vec![job("e"), Job { read_percent: f_reads, size_bytes: f_bytes, ..job("f") }];
    "e".clone_into(&mut workload.primary);
    workload.yields = None;
    let at = |text: &str| text.replace("ROOT", root.to_str().unwrap());
    let targets = [format!("e={}", at(e)), format!("f={}", at(f))];
    let target = Target::parse_all(targets.iter().map(String::as_str)).unwrap();
    let arms = vec![Arm::new("target", target)];
    let mut draft = Draft::new(vec![workload], arms, Design::Single);
    draft.bind_targets().unwrap();
    draft.resolve().unwrap()
}

fn open(root: &Path, spec: &Spec) -> Result<Rig, Error> {
    let (work, state) = (root.join("work"), root.join("state"));
    Rig::open(spec, common::options(&work, Some(state), &mut |_| (), &Arc::default()))
}

fn refusal(targets: [&str; 2], of_f: (u8, u64)) -> String {
    let root = bench();
    fs::write(root.path().join("theirs"), [1; 4096]).unwrap();
    let refused = open(root.path(), &spec(root.path(), targets, of_f)).unwrap_err().to_string();
    let left: Vec<_> = fs::read_dir(root.path().join("e")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    let refused = refused.replace(root.path().to_str().unwrap(), "ROOT");
    // What is free differs from day to day.
    refused.split("but only").next().unwrap().to_owned()
}

#[test]
fn each_directory_gets_a_private_one_and_all_go_again() {
    let root = bench();
    let spec = spec(root.path(), ["ROOT/e", "ROOT/f"], (100, 1 << 20));
    let mut rig = open(root.path(), &spec).unwrap();
    let places: Vec<(String, PathBuf)> = rig
        .up_all(0)
        .unwrap()
        .into_iter()
        .map(|(name, target)| (name.to_owned(), fs::canonicalize(target.path().unwrap()).unwrap()))
        .collect();
    for ((name, place), expected) in places.iter().zip(["e", "f"]) {
        assert_eq!(name, expected);
        assert_eq!(place.parent(), Some(root.path().join(expected).as_path()));
        fs::write(place.join("file"), "data").unwrap();
    }
    let site = rig.site(0);
    let kinds: Vec<_> =
        site.targets.iter().map(|named| (&*named.name, &*named.site.kind)).collect();
    assert_eq!(kinds, [("e", "directory"), ("f", "directory")]);
    assert_eq!(site.kind, "2 targets");
    rig.down().unwrap();
    for name in ["e", "f", "work", "state/undo"] {
        let left = fs::read_dir(root.path().join(name)).into_iter().flatten().count();
        assert_eq!(left, 0, "{name}");
    }
}

#[test]
fn one_directory_twice_is_two_places() {
    let root = bench();
    let spec = spec(root.path(), ["ROOT/e", "ROOT/e"], (100, 1 << 20));
    let mut rig = open(root.path(), &spec).unwrap();
    let places: Vec<PathBuf> = rig
        .up_all(0)
        .unwrap()
        .iter()
        .map(|(_, target)| fs::canonicalize(target.path().unwrap()).unwrap())
        .collect();
    assert_ne!(places[0], places[1]);
}

#[test]
fn stacks_on_files_without_a_name_have_a_file_each() {
    let root = bench();
    let stack = "file(size=2M)";
    let spec = spec(root.path(), [stack, stack], (0, 1 << 20));
    let mut rig = open(root.path(), &spec).unwrap();
    let targets = rig.up_all(0).unwrap();
    let [IoTarget::Disk(e), IoTarget::Disk(f)] = [targets[0].1, targets[1].1] else {
        panic!("not disks")
    };
    let block = |disk| {
        let mut block = vec![0; 4096];
        let mut session = iotax_vdisk::Session::new(disk, 1, 4096).unwrap();
        session.read_at(0, &mut block).unwrap();
        block
    };
    let before = block(e);
    iotax_vdisk::Session::new(f, 1, 4096).unwrap().write_at(0, &[7; 4096]).unwrap();
    assert_eq!(block(e), before);
}

#[test]
fn each_target_is_refused_for_what_its_own_jobs_do() {
    // Only the job on f writes.
    insta::assert_snapshot!(refusal(["ROOT/e", "ROOT/theirs"], (0, 4096)), @"arm f: ROOT/theirs: the workload writes, but iotax did not create this file; name its directory instead, or a file that does not exist yet");
    let root = bench();
    fs::write(root.path().join("theirs"), vec![1; 1 << 20]).unwrap();
    let read = spec(root.path(), ["ROOT/theirs", "ROOT/f"], (0, 1 << 20));
    open(root.path(), &read).unwrap().down().unwrap();
    // Only the files on f are large.
    insta::assert_snapshot!(refusal(["ROOT/e", "ROOT/f"], (100, 1 << 50)), @"arm e, f: ROOT/e: needs 1 PiB of free space,");
    insta::assert_snapshot!(refusal(["ROOT/nowhere", "ROOT/f"], (100, 4096)), @"arm e: ROOT/nowhere: does not exist; create the directory first, or check the spelling");
}
