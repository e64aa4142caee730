//! Layers that encrypt, on this machine: what is written comes back, what lies below is not what
//! was written, keys are nowhere to be seen, and nothing is left behind.
#![allow(clippy::unwrap_used, reason = "a test; only functions under #[test] are known as such")]

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use iotax_experiment::{Stack, Target};
use iotax_inspect::{Mount, parse_mountinfo};
use iotax_load::IoTarget;
use iotax_rig::{Error, Obstacle, Rig};
use iotax_testing::skipped;
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};

mod common;
#[path = "common/machine.rs"]
mod machine;

use machine::{contains, processes, traces_of};

const BLOCK_BYTES: usize = 4096;
const BLOCKS: u64 = 1024;
/// What is looked for below the encryption.
const PLAIN: &[u8] = b"plain text of a block; ";

#[test]
fn luks() {
    hidden_and_returned("qemu-luks");
}

#[test]
fn luks_on_luks() {
    hidden_and_returned("qemu-luks + qemu-luks(key=128)");
}

#[test]
fn luks_on_a_block_device() {
    hidden_and_returned("loop + qemu-luks");
}

#[test]
fn ext4_on_luks() {
    hidden_and_returned("qemu-luks + ext4");
}

#[test]
fn ext4_on_luks_on_luks() {
    hidden_and_returned("qemu-luks + qemu-luks + ext4");
}

#[test]
fn gocryptfs_with_each_cipher() {
    for cipher in ["aes-gcm", "aes-siv", "xchacha"] {
        hidden_and_returned(&format!("ext4 + gocryptfs(cipher={cipher})"));
    }
}

#[test]
fn fscrypt() {
    hidden_and_returned("ext4 + fscrypt");
}

#[test]
fn fscrypt_on_luks() {
    hidden_and_returned("qemu-luks + ext4 + fscrypt");
}

/// The kernel lets 12 requests through unless it is told otherwise.
#[test]
fn a_deep_queue_gets_through_the_fuse_file_of_luks() {
    let bench = Bench::new();
    let Some(rig) = bench.up("qemu-luks") else { return };
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounts = parse_mountinfo(&text);
    let is_ours = |mount: &&Mount| mount.mount_point.starts_with(bench.path());
    let luks = mounts.iter().filter(is_ours).find(|mount| mount.file_system == "fuse").unwrap();
    // The arm's own, or the one that the system has; another arm's may be gone by now.
    let controls = mounts.iter().filter(|mount| mount.file_system == "fusectl");
    let controls = controls.clone().find(is_ours).or_else(|| controls.clone().next()).unwrap();
    let controls = controls.mount_point.join(luks.device.minor.to_string());
    let requests = fs::read_to_string(controls.join("max_background")).unwrap();
    assert_eq!(requests.trim(), "256");
    rig.down().unwrap();
    bench.nothing_is_left();
}

/// The others only mean something if this finds what they don't.
#[test]
fn without_encryption_the_plain_text_is_found() {
    for layers in ["loop", "ext4"] {
        let bench = Bench::new();
        let Some(mut rig) = bench.up(layers) else { return };
        write_and_read(rig.up(0).unwrap());
        assert!(bench.plain_text_is_below(), "{layers}");
        rig.down().unwrap();
        bench.nothing_is_left();
    }
}

#[test]
fn a_daemon_that_was_killed_leaves_nothing_either() {
    for layers in ["qemu-luks", "qemu-luks + ext4", "ext4 + gocryptfs"] {
        let bench = Bench::new();
        let Some(rig) = bench.up(layers) else { return };
        let daemons = processes(bench.path());
        assert_eq!(daemons.len(), 1, "{daemons:?}");
        kill_process(Pid::from_raw(daemons[0].0).unwrap(), Signal::KILL).unwrap();
        rig.down().unwrap();
        bench.nothing_is_left();
    }
}

/// Runs itself with programs in front of the real ones that keep what they are given.
#[test]
fn keys_are_in_no_argument_no_environment_and_no_file() {
    let name = "keys_are_in_no_argument_no_environment_and_no_file";
    let Some(seen) = env::var_os(ROLE).map(PathBuf::from) else {
        let watch = "d=$(mktemp -d SEEN/XXXXXX)\ncat > $d/input\nprintf '%s\\n' \"$@\" > $d/said\n\
                     env >> $d/said\nexec REAL \"$@\" < $d/input";
        return with_shims(name, &DAEMONS_AND_TOOLS, watch);
    };
    // The pass phrase of both qemu-luks, the key of fscrypt; another arm's pass phrase.
    for (layers, keys) in [("qemu-luks + qemu-luks + ext4 + fscrypt", 2), ("ext4 + gocryptfs", 3)] {
        let bench = Bench::new();
        let Some(rig) = bench.up(layers) else { return };
        let seen = files_below(&seen);
        let inputs = of_name(&seen, "input").map(|path| fs::read(path).unwrap());
        let secrets: BTreeSet<Vec<u8>> = inputs.filter(|input| !input.is_empty()).collect();
        assert_eq!(secrets.len(), keys, "{layers}");
        let mut places: Vec<PathBuf> = of_name(&seen, "said").cloned().collect();
        for process in fs::read_dir("/proc").unwrap().flatten() {
            places.extend(["cmdline", "environ"].map(|name| process.path().join(name)));
        }
        places.extend(files_below(&bench.at("state")));
        places.extend(files_below(&bench.at("work")));
        for place in places {
            // Processes come and go.
            let Ok(bytes) = fs::read(&place) else { continue };
            for secret in &secrets {
                let is_there = contains(&bytes, secret) || contains(&bytes, &hexadecimal(secret));
                assert!(!is_there, "a key is in {}", place.display());
            }
        }
        rig.down().unwrap();
        bench.nothing_is_left();
    }
}

/// Runs itself with programs in front of the real ones that fail.
#[test]
fn a_daemon_that_fails_says_why_and_leaves_nothing() {
    let name = "a_daemon_that_fails_says_why_and_leaves_nothing";
    if env::var_os(ROLE).is_none() {
        let fail = "case \"$*\" in *version*) exec REAL \"$@\";; *-init*) exec REAL \"$@\";; esac\n\
                    echo out of order >&2\nexit 3";
        return with_shims(name, &["qemu-storage-daemon", "gocryptfs"], fail);
    }
    let failures =
        ["qemu-luks + ext4", "qemu-luks + qemu-luks", "ext4 + gocryptfs"].map(|layers| {
            let bench = Bench::new();
            let error = bench.open(layers).unwrap_err();
            bench.nothing_is_left();
            error.to_string()
        });
    insta::assert_snapshot!(failures.join("\n"), @"
    arm a: qemu-storage-daemon failed (exit status: 3): out of order
    arm a: qemu-storage-daemon failed (exit status: 3): out of order
    arm a: gocryptfs failed (exit status: 3): out of order
    ");
}

fn hidden_and_returned(layers: &str) {
    let bench = Bench::new();
    let Some(mut rig) = bench.up(layers) else { return };
    let traces = traces_of(bench.path());
    assert!(traces.len() >= 2, "{traces:?}");
    write_and_read(rig.up(0).unwrap());
    assert!(!bench.plain_text_is_below(), "plain text below {layers}");
    rig.down().unwrap();
    bench.nothing_is_left();
}

/// Directories for one rig.
struct Bench {
    root: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("work")).unwrap();
        Self { root }
    }

    fn path(&self) -> &Path {
        self.root.path()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn open(&self, layers: &str) -> Result<Rig, Error> {
        let stack = Stack::parse(&format!("file(size=64M) + {layers}")).unwrap();
        let spec = common::spec(&[("a", Target::Stack(stack))]);
        let stop = Arc::new(AtomicBool::new(false));
        let work_dir = self.at("work");
        let state_dir = Some(self.at("state"));
        Rig::open(&spec, common::options(&work_dir, state_dir, &mut |_| (), &stop))
    }

    /// The rig, up; `None`, said loudly, if this machine cannot.
    fn up(&self, layers: &str) -> Option<Rig> {
        let mut rig = match self.open(layers) {
            Ok(rig) => rig,
            Err(error) if is_lacking(&error) => {
                skipped(&format!("{layers}: {error}"));
                return None;
            }
            Err(error) => panic!("{layers}: {error}"),
        };
        rig.up(0).unwrap();
        Some(rig)
    }

    /// Whether the storage that everything lies on has what was written to the top.
    fn plain_text_is_below(&self) -> bool {
        let files = files_below(&self.at("work"));
        let disk = of_name(&files, "disk").next().unwrap();
        contains(&fs::read(disk).unwrap(), PLAIN)
    }

    fn nothing_is_left(&self) {
        assert_eq!(traces_of(self.path()), BTreeSet::new());
        assert_eq!(files_below(self.path()), Vec::<PathBuf>::new());
    }
}

fn is_lacking(error: &Error) -> bool {
    let Error::Refused { refusals } = error else { return false };
    refusals.iter().all(|refusal| matches!(refusal.obstacle, Obstacle::Lacks { .. }))
}

fn write_and_read(place: IoTarget<'_>) {
    match place {
        IoTarget::Own(node) => on_device(node),
        IoTarget::Path(directory) => in_directory(directory),
        IoTarget::Disk(_) | IoTarget::Peer(_) | IoTarget::Several(_) => {
            panic!("a stack of the system is a device or a directory")
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(4096))]
struct Block([u8; BLOCK_BYTES]);

/// Begins with its number, so that a block in another's place is found.
fn block(number: u64) -> Block {
    let mut block = Block([0; BLOCK_BYTES]);
    let text = PLAIN.iter().cycle();
    block.0[8..].iter_mut().zip(text).for_each(|(to, from)| *to = *from);
    block.0[..8].copy_from_slice(&number.to_le_bytes());
    block
}

/// 16 blocks in flight, by as many threads.
fn on_device(node: &Path) {
    let direct = i32::try_from(OFlags::DIRECT.bits()).unwrap();
    let file = &OpenOptions::new().read(true).write(true).custom_flags(direct).open(node).unwrap();
    let in_flight = |work: fn(&File, u64)| {
        thread::scope(|scope| {
            for thread in 0..16 {
                scope.spawn(move || {
                    (0..BLOCKS).filter(|n| n % 16 == thread).for_each(|n| work(file, n));
                });
            }
        });
    };
    in_flight(|file, number| {
        file.write_all_at(&block(number).0, number * BLOCK_BYTES as u64).unwrap();
    });
    file.sync_all().unwrap();
    in_flight(|file, number| {
        let mut found = Block([0; BLOCK_BYTES]);
        file.read_exact_at(&mut found.0, number * BLOCK_BYTES as u64).unwrap();
        assert_eq!(found, block(number));
    });
}

fn in_directory(directory: &Path) {
    let path = directory.join("file");
    let mut file = File::create(&path).unwrap();
    for number in 0..BLOCKS {
        file.write_all(&block(number).0).unwrap();
    }
    file.sync_all().unwrap();
    // Of this file alone: what others test of caches must not see it.
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    let found = fs::read(&path).unwrap();
    let expected: Vec<u8> = (0..BLOCKS).flat_map(|number| block(number).0).collect();
    assert!(found == expected, "{} bytes differ from what was written", found.len());
}

/// Regular files below a directory, on its own file system.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    let device = fs::symlink_metadata(directory).unwrap().dev();
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            let facts = fs::symlink_metadata(&path).unwrap();
            let list = if facts.is_dir() { &mut directories } else { &mut files };
            if facts.dev() == device {
                list.push(path);
            }
        }
    }
    files
}

fn of_name<'a>(files: &'a [PathBuf], name: &'a str) -> impl Iterator<Item = &'a PathBuf> {
    files.iter().filter(move |path| path.ends_with(name))
}

fn hexadecimal(bytes: &[u8]) -> Vec<u8> {
    let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Set in the tests that run themselves, to the directory that the shims write to.
const ROLE: &str = "IOTAX_TEST_SEEN";
const DAEMONS_AND_TOOLS: [&str; 4] = ["qemu-storage-daemon", "cryptsetup", "gocryptfs", "xfs_io"];

/// Runs the test of that name in a process whose PATH begins with a directory in which each of
/// these programs is this shell script, with REAL and SEEN replaced.
fn with_shims(test: &str, programs: &[&str], script: &str) {
    let root = tempfile::tempdir().unwrap();
    let (shims, seen) = (root.path().join("shims"), root.path().join("seen"));
    fs::create_dir(&shims).unwrap();
    fs::create_dir(&seen).unwrap();
    let path = env::var("PATH").unwrap() + ":/usr/sbin:/usr/bin:/sbin:/bin";
    for program in programs {
        let mut places = env::split_paths(&path).map(|directory| directory.join(program));
        let Some(real) = places.find(|place| place.exists()) else { continue };
        let script = script.replace("REAL", real.to_str().unwrap());
        let script = script.replace("SEEN", seen.to_str().unwrap());
        let shim = shims.join(program);
        fs::write(&shim, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("PATH", format!("{}:{path}", shims.display()))
        .env(ROLE, &seen)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
    if let Some((_, why)) = said.split_once("SKIPPED ") {
        skipped(why.lines().next().unwrap());
    }
}
