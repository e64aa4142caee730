//! Root measures in a directory that another user owns, or keeps its results there, and that user
//! exchanges whatever root makes there against links to root's files: no byte outside of the
//! private directories, and of those of results, changes, and nothing is left up.
//!
//! The attacker is a thread with another user's rights and a descriptor of the directory. Without
//! root there is nobody to attack, and all of it is skipped, loudly. `IOTAX_ATTACKS` says how many
//! rounds there are.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "tests: skipping is said")]

#[path = "../../rig/tests/common/machine.rs"]
#[allow(dead_code, reason = "each test binary uses its part")]
mod machine;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use iotax_testing::skipped;
use rustix::fs::{Dir, RenameFlags, Uid, renameat_with};
use rustix::thread::{Gid, set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use support::{Desk, Said};

const ROUNDS: usize = 24;
/// Nobody, who owns the directory.
const ATTACKER: u32 = 65534;
const MIB: u64 = 1 << 20;
/// What root's test files are called, and of results what is not refused where it is there.
const NAMES: [&str; 7] =
    ["disk", "randwrite-4k.0", "job.0", "jobs.0", "write.0", "index", "report.html"];

/// What root makes or uses by a name that it was given.
const OURS: [&str; 5] = ["mnt", "img", "results", "bundle", "deep"];

/// What the attacker puts in their place: a directory of links to files, one of links to a device,
/// a link to a directory of files, and one to an empty directory.
const LURES: [&str; 4] = ["files", "device", "link", "empty"];

/// What root has and the attacker wants to be overwritten.
struct Victims {
    directory: PathBuf,
    /// A block device with a file system on it.
    device: PathBuf,
}

impl Victims {
    /// `None`, said loudly, without root.
    fn new(desk: &Desk) -> Option<Self> {
        let directory = desk.path().join("victims");
        fs::create_dir(&directory).unwrap();
        let numbered = (0..8).map(|number| format!("io.{number}"));
        for name in NAMES.map(str::to_owned).into_iter().chain(numbered) {
            let path = directory.join(&name);
            fs::write(&path, format!("root's {name}").repeat(999)).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        let image = directory.join("image");
        File::create_new(&image).unwrap().set_len(16 * MIB).unwrap();
        let made = Command::new("mkfs.ext4").arg("-q").arg(&image).status();
        let attached = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
        match (made, attached) {
            (Ok(made), Ok(attached)) if made.success() && attached.status.success() => {
                let device = String::from_utf8(attached.stdout).unwrap().trim().into();
                Some(Self { directory, device })
            }
            other => {
                skipped(&format!("needs root, losetup and mkfs.ext4: {other:?}"));
                None
            }
        }
    }

    /// All of it, byte by byte.
    fn state(&self) -> BTreeMap<PathBuf, (u32, u64, Vec<u8>)> {
        assert!(Command::new("sync").arg(self.directory.join("image")).status().unwrap().success());
        let entries = fs::read_dir(&self.directory).unwrap().map(|entry| entry.unwrap().path());
        let state = |path: PathBuf| {
            let facts = fs::symlink_metadata(&path).unwrap();
            let bytes = if facts.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            (path, (facts.mode(), facts.ino(), bytes))
        };
        entries.map(state).collect()
    }
}

impl Drop for Victims {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

/// The attacker's directory, and what is put in the place of root's things.
struct Trap {
    directory: PathBuf,
    bait: PathBuf,
}

impl Trap {
    fn new(desk: &Desk, victims: &Victims) -> Self {
        let (directory, bait) = (desk.path().join("theirs"), desk.path().join("bait"));
        for made in [&directory, &bait] {
            // Of the round before.
            let _ = fs::remove_dir_all(made);
            fs::create_dir(made).unwrap();
        }
        fs::create_dir(directory.join("mnt")).unwrap();
        for (kind, to_device) in [("files", false), ("device", true)] {
            let links = directory.join(kind);
            fs::create_dir(&links).unwrap();
            for entry in fs::read_dir(&victims.directory).unwrap().flatten() {
                let to = if to_device { victims.device.clone() } else { entry.path() };
                symlink(to, links.join(entry.file_name())).unwrap();
            }
        }
        symlink(&victims.directory, directory.join("link")).unwrap();
        symlink(&bait, directory.join("empty")).unwrap();
        for path in ["", "mnt", "files", "device"] {
            chown(directory.join(path), Some(ATTACKER), Some(ATTACKER)).unwrap();
        }
        Self { directory, bait }
    }

    /// Exchanges for as long as `stop` is not set, and tells how often.
    fn spring(&self, stop: Arc<AtomicBool>) -> JoinHandle<u64> {
        let directory = OwnedFd::from(File::open(&self.directory).unwrap());
        thread::spawn(move || {
            become_attacker();
            let mut exchanged = 0;
            // Another one each time: what root makes may not be there for long.
            for lure in LURES.into_iter().cycle() {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                for name in made_by_root(&directory) {
                    let to_and_fro = [(&*name, lure), (lure, &*name)];
                    for (from, to) in to_and_fro {
                        let flags = RenameFlags::EXCHANGE;
                        let done = renameat_with(&directory, from, &directory, to, flags);
                        exchanged += u64::from(done.is_ok());
                        thread::yield_now();
                    }
                }
            }
            exchanged
        })
    }
}

/// This thread has no right of root's any more.
fn become_attacker() {
    let (user, group) = (Uid::from_raw(ATTACKER), Gid::from_raw(ATTACKER));
    set_thread_groups(&[]).unwrap();
    set_thread_res_gid(group, group, group).unwrap();
    set_thread_res_uid(user, user, user).unwrap();
}

/// Names of what is not the attacker's own: results among it, and the mount point.
fn made_by_root(directory: impl AsFd) -> Vec<String> {
    let entries = Dir::read_from(directory).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_roots = |name: &String| {
        name.starts_with(".iotax") || name.starts_with("iotax-") || OURS.contains(&&**name)
    };
    names.filter(is_roots).collect()
}

/// What root does in the attacker's directory: its arguments, by round.
fn command(round: usize) -> Vec<String> {
    let short = ["--ramp", "0", "--time", "50ms", "--set", "size=1M"];
    let (dir, out) = (["--dir", "theirs"], ["--out".to_owned(), format!("out/{round}")]);
    let blocks = ["--quick", "--max-blocks", "1"];
    let words: Vec<&str> = match round % 8 {
        0 => [&["run", "randwrite-4k", "theirs"], &short[..]].concat(),
        1 => {
            let arms = ["file(size=16M) + throttle(iops=100000)", "file(size=16M) + qemu-luks"];
            [&["compare", "-w", "randwrite-4k"], &arms[..], &short, &blocks, &dir].concat()
        }
        2 => [&["peel", "file(size=16M) + qemu-luks + ext4"], &short[..], &blocks, &dir].concat(),
        3 => vec!["disk", "up", "theirs/mnt=file(path=theirs/img, size=4M)"],
        4 => [&["run", "randwrite-4k", "file(size=16M) + loop + ext4"], &short[..], &dir].concat(),
        5 => {
            let arms = ["theirs", "dir(path=theirs) + gocryptfs"];
            [&["compare", "-w", "randwrite-4k"], &arms[..], &short, &blocks].concat()
        }
        6 => {
            let stack = "file(path=theirs/img, size=16M) + aes";
            [&["run", "randwrite-4k", stack], &short[..]].concat()
        }
        _ => [&["run", "randwrite-4k", "theirs", "--engine", "fio"], &short[..]].concat(),
    };
    let words = words.into_iter().map(str::to_owned);
    if round % 8 == 3 { words.collect() } else { words.chain(out).collect() }
}

/// What root does with results in the attacker's directory, and where it works, by round. A record
/// is in `record`, and in `theirs/results` for those who only read it.
fn command_on_results(round: usize) -> (&'static str, Vec<&'static str>) {
    let short = ["randwrite-4k", "mem(size=1M)", "--ramp", "0", "--time", "200ms"];
    let run = |out: &[&'static str]| [&["run"], &short[..], out].concat();
    match round % 5 {
        0 => (".", run(&["--out", "theirs/results"])),
        1 => ("theirs", run(&[])),
        2 => (".", run(&["--out", "theirs/deep/results"])),
        3 => (".", vec!["repro", "record", "--out", "theirs/bundle"]),
        _ => (".", vec!["report", "theirs/results"]),
    }
}

/// A command during an attack, and how often something was exchanged.
fn round(desk: &Desk, trap: &Trap, mut command: Command) -> (Said, u64) {
    let stop = Arc::new(AtomicBool::new(false));
    let attack = trap.spring(Arc::clone(&stop));
    let said = desk.said(&command.output().unwrap());
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(trap.bait.to_str().unwrap()), "mounted outside: {mounts}");
    desk.run(&["disk", "down", "--all", "--force"]);
    stop.store(true, Ordering::Relaxed);
    let exchanged = attack.join().unwrap();
    // Whatever the attack kept from being removed.
    desk.run(&["undo"]);
    (said, exchanged)
}

fn rounds() -> usize {
    std::env::var("IOTAX_ATTACKS").map_or(ROUNDS, |rounds| rounds.parse().unwrap())
}

#[test]
fn nothing_outside_of_private_directories_changes() {
    let desk = Desk::new();
    nothing_outside_changes(&desk, 8, |number| {
        let arguments = command(number);
        desk.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    });
}

#[test]
fn nothing_outside_of_results_directories_changes() {
    let desk = Desk::new();
    let run = ["run", "randwrite-4k", "mem(size=1M)", "--ramp", "0", "--time", "20ms"];
    let record = desk.run(&[&run[..], &["--out", "record"]].concat());
    assert_eq!(record.code, 0, "{record}");
    nothing_outside_changes(&desk, 5, |number| {
        let (place, arguments) = command_on_results(number);
        if arguments[0] == "report" {
            copy(&desk.path().join("record"), &desk.path().join("theirs/results"));
        }
        let mut command = desk.command(&arguments);
        command.current_dir(desk.path().join(place));
        command
    });
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for file in fs::read_dir(from).unwrap().flatten() {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// Rounds of `kinds` commands, each made when the trap is set.
fn nothing_outside_changes(desk: &Desk, kinds: usize, command: impl Fn(usize) -> Command) {
    let Some(victims) = Victims::new(desk) else { return };
    let before = victims.state();
    let up = machine::traces_of(desk.path());
    let rounds = rounds();
    let (mut exchanges, mut codes) = (0, BTreeMap::new());
    for number in 0..rounds {
        let trap = Trap::new(desk, &victims);
        let (said, swaps) = round(desk, &trap, command(number));
        assert!(victims.state() == before, "round {number} changed root's files: {said}");
        assert_eq!(fs::read_dir(&trap.bait).unwrap().count(), 0);
        assert_eq!(machine::traces_of(desk.path()), up, "round {number}: {said}");
        exchanges += swaps;
        let of_kind: &mut BTreeMap<i32, usize> = codes.entry(number % kinds).or_default();
        *of_kind.entry(said.code).or_default() += 1;
        if said.code != 0 {
            eprintln!("round {number}: {said}");
        }
    }
    eprintln!("{exchanges} exchanges in {rounds} rounds; exit codes by command: {codes:?}");
    assert!(exchanges > 0, "nobody attacked");
    let done: BTreeSet<usize> =
        codes.iter().filter(|(_, codes)| codes.contains_key(&0)).map(|(kind, _)| *kind).collect();
    assert!(!done.is_empty(), "every command was kept from its work: {codes:?}");
}
