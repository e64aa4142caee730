//! Never on top of data: every device that holds any is refused, its bytes unchanged; a blank one
//! is blank again afterwards, however the run ended.
//!
//! The devices are loop devices on files of the test's. That takes root; without, all of it is
//! skipped, loudly.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a child tells where it is")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use iotax_experiment::{Spec, Stack, Target, Trims};
use iotax_load::{IoTarget, PeerSecrets};
use iotax_rig::{Error, GivenUp, Options, Rig, undo};
use iotax_testing::skipped;

mod common;

const MIB: usize = 1 << 20;

/// A file that is a block device for as long as this lives.
struct Disk {
    root: tempfile::TempDir,
    node: PathBuf,
}

impl Disk {
    /// A device with `content` at its start. `None`, said loudly, without root.
    fn new(content: &[u8]) -> Option<Self> {
        Self::with(content, &[])
    }

    fn with(content: &[u8], options: &[&str]) -> Option<Self> {
        // Not in /tmp, which is often a tmpfs.
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::write(root.path().join("disk"), content).unwrap();
        let file = fs::OpenOptions::new().write(true).open(root.path().join("disk")).unwrap();
        file.set_len(64 * MIB as u64).unwrap();
        let mut losetup = Command::new("losetup");
        losetup.args(["--find", "--show"]).args(options).arg(root.path().join("disk"));
        match losetup.output() {
            Ok(output) if output.status.success() => {
                let node = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
                Some(Self { root, node })
            }
            other => {
                skipped(&format!("loop devices need root and losetup: {other:?}"));
                None
            }
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn bytes(&self) -> Vec<u8> {
        run("sync", &[], &[&self.at("disk")]);
        fs::read(self.at("disk")).unwrap()
    }

    /// The stack on this device.
    fn stack(&self, above: &str) -> Target {
        let text = format!("dev(path={}){above}", self.node.display());
        Target::Stack(Stack::parse(&text).unwrap())
    }

    fn spec(&self, arms: &[(&str, &str)]) -> Spec {
        let arms: Vec<_> = arms.iter().map(|(name, above)| (*name, self.stack(above))).collect();
        common::writing(&arms)
    }

    fn open(&self, spec: &Spec, destroy: &[PathBuf]) -> Result<Rig, Error> {
        self.open_given(spec, &GivenUp::by_user(destroy))
    }

    fn open_given(&self, spec: &Spec, given_up: &GivenUp) -> Result<Rig, Error> {
        let options = Options {
            work_dir: self.root.path(),
            state_dir: Some(self.at("state")),
            progress: &mut |_| (),
            stop: Arc::default(),
            given_up,
            program: Path::new("iotax"),
            secrets: &PeerSecrets::new(),
        };
        Rig::open(spec, options)
    }

    /// Why `dev + ext4` with this `--destroy` is refused, names replaced. No byte may change.
    fn refusal(&self, destroy: &[PathBuf]) -> String {
        let before = self.bytes();
        let error = self.open(&self.spec(&[("a", " + ext4")]), destroy).unwrap_err();
        assert!(error.is_refusal(), "{error}");
        assert!(self.bytes() == before, "bytes changed");
        assert!(!self.at("state").exists(), "something was made");
        self.hide(&error.to_string())
    }

    fn hide(&self, text: &str) -> String {
        let node = self.node.to_str().unwrap();
        let text = text.replace(self.root.path().to_str().unwrap(), "ROOT").replace(node, "DEVICE");
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        for at in 1..words.len() {
            if words[at - 1].ends_with("UUID") {
                let rest = words[at].find([')', ',', ';']).unwrap_or(words[at].len());
                words[at].replace_range(..rest, "U-U-I-D");
            }
        }
        words.join(" ")
    }

    fn given_up(&self) -> Vec<PathBuf> {
        vec![self.node.clone()]
    }

    /// Whether the device is as it was: no signature, not mounted, no journal.
    fn assert_blank(&self) {
        assert_eq!(run("wipefs", &["--no-act"], &[&self.node]), "");
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains(self.root.path().to_str().unwrap()), "{mounts}");
        let journals = fs::read_dir(self.at("state/undo")).map_or(0, Iterator::count);
        assert_eq!(journals, 0);
        assert_eq!(fs::read_dir(self.at("state/run")).map_or(0, Iterator::count), 0);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.node).status();
    }
}

fn run(program: &str, options: &[&str], paths: &[&Path]) -> String {
    let output = Command::new(program).args(options).args(paths).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    assert!(output.status.success(), "{program}: {text}");
    text
}

/// Bytes with parts written over them.
fn image(parts: &[(usize, &[u8])]) -> Vec<u8> {
    let mut image = vec![0; MIB];
    for (at, part) in parts {
        image[*at..at + part.len()].copy_from_slice(part);
    }
    image
}

/// The label of a physical volume, as LVM2's `lib/label/label.c` has it.
fn lvm() -> Vec<u8> {
    let mut label = [0; 512];
    label[..8].copy_from_slice(b"LABELONE");
    label[8] = 1;
    label[20] = 32;
    label[24..32].copy_from_slice(b"LVM2 001");
    label[32..64].copy_from_slice(b"0123456789abcdefghijklmnopqrstuv");
    let crc = label[20..].iter().fold(0xf597_a6cf_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ ((crc & 1) * 0xedb8_8320))
    });
    label[16..20].copy_from_slice(&crc.to_le_bytes());
    image(&[(512, &label)])
}

/// One Linux partition.
fn partition_table() -> Vec<u8> {
    let entry = [0, 0, 2, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0];
    image(&[(446, &entry), (510, &[0x55, 0xaa])])
}

fn luks() -> Vec<u8> {
    let uuid = b"11111111-2222-4333-8444-555555555555";
    image(&[(0, b"LUKS\xba\xbe\0\x01"), (168, uuid)])
}

fn swap() -> Vec<u8> {
    image(&[(1024, b"\x01\0\0\0\xff\0\0\0"), (1036, &[7; 16]), (4086, b"SWAPSPACE2")])
}

#[test]
fn a_device_that_was_not_given_up_is_refused() {
    let Some(disk) = Disk::new(&[]) else { return };
    insta::assert_snapshot!(disk.refusal(&[]), @"arm a: DEVICE: all data on it would be lost; if you do not need the data, add --destroy DEVICE");
}

#[test]
fn giving_up_another_device_gives_up_neither() {
    let (Some(disk), Some(other)) = (Disk::new(&[]), Disk::new(&[])) else { return };
    let refusal = disk.refusal(&[other.node.clone(), "/no/such".into()]);
    insta::assert_snapshot!(refusal.replace(other.node.to_str().unwrap(), "OTHER"), @"
    3 targets cannot be used:
      arm a: DEVICE: all data on it would be lost; if you do not need the data, add --destroy DEVICE
      OTHER: was named with --destroy, but no arm uses it; check the name, or leave out the option
      /no/such: was named with --destroy, but no arm uses it; check the name, or leave out the option
    ");
    assert!(other.bytes().iter().all(|byte| *byte == 0));
}

#[test]
fn devices_with_signatures_are_refused() {
    let refusal = |content: &[u8]| Disk::new(content).map(|disk| disk.refusal(&disk.given_up()));
    let Some(of_luks) = refusal(&luks()) else { return };
    insta::assert_snapshot!(of_luks, @"arm a: DEVICE: contains encrypted data (crypto_LUKS), UUID U-U-I-D; name another device, or, if you do not need the data, wipe this one yourself (wipefs --all DEVICE)");
    insta::assert_snapshot!(refusal(&lvm()).unwrap(), @"arm a: DEVICE: contains part of a volume (LVM2_member), UUID U-U-I-D; name another device, or, if you do not need the data, wipe this one yourself (wipefs --all DEVICE)");
    insta::assert_snapshot!(refusal(&partition_table()).unwrap(), @"arm a: DEVICE: contains a partition table (dos); name another device, or, if you do not need the data, wipe this one yourself (wipefs --all DEVICE)");
    insta::assert_snapshot!(refusal(&swap()).unwrap(), @"arm a: DEVICE: contains swap, UUID U-U-I-D; name another device, or, if you do not need the data, wipe this one yourself (wipefs --all DEVICE)");
    insta::assert_snapshot!(refusal("Dear diary,\n".repeat(99).as_bytes()).unwrap(), @"arm a: DEVICE: seems to contain text; name another device, or, if you do not need the data, overwrite the first and last MiB of this one yourself");
}

#[test]
fn a_device_with_a_file_system_is_refused_mounted_or_not() {
    let Some(disk) = Disk::new(&[]) else { return };
    run("mkfs.ext4", &["-q", "-L", "photos"], &[&disk.node]);
    insta::assert_snapshot!(disk.refusal(&disk.given_up()), @"arm a: DEVICE: contains a file system (ext4), label photos, UUID U-U-I-D; name another device, or, if you do not need the data, wipe this one yourself (wipefs --all DEVICE)");
    fs::create_dir(disk.at("mnt")).unwrap();
    run("mount", &["-o", "ro,noload"], &[&disk.node, &disk.at("mnt")]);
    let refusal = disk.refusal(&disk.given_up());
    run("umount", &[], &[&disk.at("mnt")]);
    insta::assert_snapshot!(refusal, @"
    2 targets cannot be used:
      arm a: DEVICE: is mounted at ROOT/mnt; name another device
      arm a: DEVICE: contains a file system (ext4), label photos, UUID U-U-I-D; name another device, or, if you do not need the data, wipe this one yourself (wipefs --all DEVICE)
    ");
}

/// A trim destroys data as a write does: both are refused in the same words.
#[test]
fn trims_are_refused_wherever_writes_are() {
    let Some(disk) = Disk::new(&luks()) else { return };
    let before = disk.bytes();
    let targets = [disk.node.clone(), disk.at("disk")].map(Target::Path);
    for target in targets.into_iter().chain([disk.stack(""), disk.stack(" + ext4")]) {
        for given_up in [vec![], disk.given_up()] {
            let refusal = |trims| {
                let spec = common::writing(&[("a", target.clone())]).with(|spec| {
                    let job = &mut spec.phases[0].jobs[0];
                    (job.read_percent, job.trims) = (0, trims);
                });
                let error = disk.open(&spec, &given_up).unwrap_err();
                assert!(error.is_refusal(), "{error}");
                error.to_string()
            };
            for trims in [Trims::Only, Trims::First] {
                assert_eq!(refusal(Some(trims)), refusal(None));
            }
        }
    }
    assert!(disk.bytes() == before, "bytes changed");
}

#[test]
fn a_device_below_another_is_refused() {
    let Some(disk) = Disk::new(&[]) else { return };
    let above = run("losetup", &["--find", "--show"], &[&disk.node]);
    let refusal = disk.refusal(&disk.given_up());
    run("losetup", &["--detach", &above], &[]);
    insta::assert_snapshot!(refusal.replace(above.strip_prefix("/dev/").unwrap(), "loopX"), @"arm a: DEVICE: is the backing device of loopX; detach the loop device first (losetup --detach)");
}

#[test]
fn a_device_that_another_program_has_open_is_refused() {
    let Some(disk) = Disk::new(&[]) else { return };
    let mut user = Command::new("sleep");
    let mut user = user.arg("60").stdin(fs::File::open(&disk.node).unwrap()).spawn().unwrap();
    let refusal = disk.refusal(&disk.given_up());
    user.kill().unwrap();
    user.wait().unwrap();
    insta::assert_snapshot!(refusal.replace(&user.id().to_string(), "PID"), @"arm a: DEVICE: is in use by sleep (process PID); stop that process first, or name another device");
}

#[test]
fn a_read_only_device_is_refused() {
    let Some(disk) = Disk::with(&[], &["--read-only"]) else { return };
    insta::assert_snapshot!(disk.refusal(&disk.given_up()), @"arm a: DEVICE: is read-only; name another device");
}

#[test]
fn a_device_that_another_run_has_is_refused() {
    let Some(disk) = Disk::new(&[]) else { return };
    let spec = disk.spec(&[("a", "")]);
    let rig = disk.open(&spec, &disk.given_up()).unwrap();
    let error = disk.open(&spec, &disk.given_up()).unwrap_err();
    insta::assert_snapshot!(disk.hide(&error.to_string()), @"arm a: DEVICE: is in use by another run of iotax; wait until that run ends, or name another device");
    rig.down().unwrap();
    disk.open(&spec, &disk.given_up()).unwrap().down().unwrap();
}

#[test]
fn everything_wrong_is_told_at_once_and_once_for_all_arms() {
    let Some(disk) = Disk::new(&swap()) else { return };
    let spec = disk.spec(&[("a", ""), ("b", " + ext4"), ("c", " + xfs")]);
    let error = disk.open(&spec, &[]).unwrap_err().to_string();
    insta::assert_snapshot!(disk.hide(&error), @"
    3 targets cannot be used:
      arm a, b, c: DEVICE: contains swap, UUID U-U-I-D; name another device, or, if you do not need the data, wipe this one yourself (wipefs --all DEVICE)
      arm a, b, c: DEVICE: all data on it would be lost; if you do not need the data, add --destroy DEVICE
      arm a, b, c: DEVICE: xfs needs at least 300 MiB; choose a larger size
    ");
}

#[test]
fn data_of_the_users_in_directories_and_files_stay() {
    let Some(disk) = Disk::new(&[]) else { return };
    fs::create_dir(disk.at("data")).unwrap();
    let data = disk.at("data/precious");
    fs::write(&data, "the user's").unwrap();
    let stack = |text: String| Target::Stack(Stack::parse(&text).unwrap());
    let arms = [
        ("dev", stack(format!("dev(path={})", disk.at("data").display()))),
        ("file", stack(format!("file(path={}, size=64M) + ext4", data.display()))),
        (
            "vdisk",
            stack(format!("vdisk(stack=\"file(path={}, size=64M)\") + ext4", data.display())),
        ),
        ("disk", stack(format!("vdisk(stack=\"file(path={}, size=64M)\")", disk.node.display()))),
    ];
    let error = disk.open(&common::writing(&arms), &[]).unwrap_err().to_string();
    insta::assert_snapshot!(disk.hide(&error), @"
    4 targets cannot be used:
      arm dev: ROOT/data: is not a block device; name a block device, or use file(size=...) or dir(path=...) instead
      arm file: ROOT/data/precious: the workload writes, but iotax did not create this file; name its directory instead, or a file that does not exist yet
      arm vdisk: ROOT/data/precious: already exists, and the layers would overwrite it; name a file that does not exist yet, or leave out the path
      arm disk: DEVICE: is a block device, not a file; to put system layers on it, use dev(path=...), which destroys the data on it
    ");
    let further = stack(format!("file(size=400M) + btrfs(mkfs={})", data.display()));
    let error = disk.open(&common::writing(&[("mkfs", further)]), &[]).unwrap_err().to_string();
    insta::assert_snapshot!(disk.hide(&error), @"arm mkfs: btrfs: mkfs=`ROOT/data/precious` names a file or device that mkfs would overwrite; leave out this argument, because iotax creates the file system only on the layer below");
    assert_eq!(fs::read_to_string(&data).unwrap(), "the user's");
    let arms = [("dir", stack(format!("dir(path={})", disk.at("data").display())))];
    let mut rig = disk.open(&common::writing(&arms), &[]).unwrap();
    let IoTarget::Path(private) = rig.up(0).unwrap() else { panic!("not a directory") };
    fs::write(private.join("job.0"), "ours").unwrap();
    rig.down().unwrap();
    assert_eq!(fs::read_dir(disk.at("data")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(data).unwrap(), "the user's");
}

#[test]
fn a_blank_device_is_blank_again_and_can_be_used_again() {
    let Some(disk) = Disk::new(&[]) else { return };
    symlink(&disk.node, disk.at("link")).unwrap();
    for _ in 0..2 {
        let spec = disk.spec(&[("a", " + ext4")]);
        let mut rig = disk.open(&spec, &[disk.at("link")]).unwrap();
        assert!(!rig.is_made_anew(0), "it is the only one");
        let IoTarget::Path(path) = rig.up(0).unwrap() else { panic!("not a directory") };
        fs::write(path.join("file"), vec![5; MIB]).unwrap();
        assert!(run("wipefs", &["--no-act"], &[&disk.node]).contains("ext4"));
        rig.down().unwrap();
        disk.assert_blank();
    }
}

#[test]
fn arms_on_one_device_take_turns() {
    let Some(disk) = Disk::new(&[]) else { return };
    let spec = disk.spec(&[("bare", ""), ("ext4", " + ext4"), ("loop", " + loop + ext4")]);
    let mut rig = disk.open(&spec, &disk.given_up()).unwrap();
    for arm in [1, 2, 2, 0, 1] {
        assert!(rig.is_made_anew(arm));
        match rig.up(arm).unwrap() {
            IoTarget::Own(path) => assert_eq!(path, disk.node),
            IoTarget::Path(path) => {
                fs::write(path.join(format!("file{arm}")), vec![5; MIB]).unwrap();
            }
            other => panic!("{other:?} is no disk of the system"),
        }
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let ours = mounts.matches(disk.root.path().to_str().unwrap()).count();
        assert_eq!(ours, usize::from(arm != 0), "{mounts}");
    }
    let site = rig.site(1).clone();
    assert_eq!(site.kind, "stack");
    let node = disk.node.to_str().unwrap();
    assert!(site.notes.iter().any(|note| note.contains("rebuilt") && note.contains(node)));
    rig.down().unwrap();
    disk.assert_blank();
}

#[test]
fn a_device_that_somebody_formats_between_two_turns_is_left_to_them() {
    let Some(disk) = Disk::new(&[]) else { return };
    let spec = disk.spec(&[("bare", ""), ("ext4", " + ext4")]);
    let mut rig = disk.open(&spec, &disk.given_up()).unwrap();
    rig.up(0).unwrap();
    run("mkfs.ext4", &["-q", "-F"], &[&disk.node]);
    let before = disk.bytes();
    let error = rig.up(1).unwrap_err().to_string();
    rig.down().unwrap();
    assert!(disk.bytes() == before);
    insta::assert_snapshot!(disk.hide(&error), @"arm ext4: DEVICE has changed since the run started: it contains a file system (ext4), UUID U-U-I-D; name another device, or, if you do not need the data, wipe this one yourself (wipefs --all DEVICE)");
}

/// The part of the child in the test below.
#[test]
fn what_a_device_holds_that_was_made_for_the_run_is_nobodys() {
    let Some(disk) = Disk::new(&[]) else { return };
    run("mkfs.ext4", &["-q", "-F"], &[&disk.node]);
    let devices = vec![disk.node.clone()];
    let spec = disk.spec(&[("bare", "")]);
    let theirs = disk.open_given(&spec, &GivenUp { devices: devices.clone(), are_new: false });
    assert!(theirs.unwrap_err().to_string().contains("ext4"));
    let mut rig = disk.open_given(&spec, &GivenUp { devices, are_new: true }).unwrap();
    rig.up(0).unwrap();
    rig.down().unwrap();
    assert_ne!(&disk.bytes()[0x438..0x43a], b"\x53\xef", "it was filled with data");
}

#[test]
#[ignore = "runs until it is killed"]
fn child() {
    let node = PathBuf::from(std::env::var_os("IOTAX_TEST_NODE").unwrap());
    let root = PathBuf::from(std::env::var_os("IOTAX_TEST_ROOT").unwrap());
    let stack = |above| {
        let text = format!("dev(path={}){above}", node.display());
        Target::Stack(Stack::parse(&text).unwrap())
    };
    let given_up = GivenUp::by_user(std::slice::from_ref(&node));
    let spec = common::writing(&[("ext4", stack(" + ext4")), ("loop", stack(" + loop + ext4"))]);
    loop {
        eprintln!("opening");
        let mut rig = Rig::open(
            &spec,
            Options {
                work_dir: &root,
                state_dir: Some(root.join("state")),
                progress: &mut |_| (),
                stop: Arc::default(),
                given_up: &given_up,
                program: Path::new("iotax"),
                secrets: &PeerSecrets::new(),
            },
        )
        .unwrap();
        for arm in [0, 1] {
            let IoTarget::Path(path) = rig.up(arm).unwrap() else { panic!("not a directory") };
            fs::write(path.join("file"), vec![5; MIB]).unwrap();
            eprintln!("up");
            if std::env::var_os("IOTAX_TEST_STAYS").is_some() {
                sleep(Duration::MAX);
            }
            // As long as a trial, next to the time that making and checking take.
            sleep(Duration::from_millis(20));
        }
        rig.down().unwrap();
        eprintln!("down");
    }
}

/// The child; one that `stays` does so as soon as it has a file system up.
fn spawn(disk: &Disk, stays: bool) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .envs(stays.then_some(("IOTAX_TEST_STAYS", "1")))
        .env("IOTAX_TEST_NODE", &disk.node)
        .env("IOTAX_TEST_ROOT", disk.root.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_run_leaves_no_signature_once_undone() {
    const KILLS: u32 = 16;
    // Events are counted rather than milliseconds: on a busy machine a round takes seconds.
    const MOST_EVENTS: u64 = 6;
    const LONGEST_WAIT_MS: u64 = 40;
    // One child in so many stays with a file system up: what the other kills hit, a busy machine
    // decides.
    const STAYS: u32 = 4;
    let Some(disk) = Disk::new(&[]) else { return };
    for kill in 0..KILLS {
        let stays = kill % STAYS == 0;
        let mut child = spawn(&disk, stays);
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let events = if stays { 2 } else { 1 + getrandom::u64().unwrap() % MOST_EVENTS };
        for _ in 0..events {
            let event = said.next().unwrap().unwrap();
            assert!(["opening", "up", "down"].contains(&event.as_str()), "{event}");
        }
        sleep(Duration::from_millis(getrandom::u64().unwrap() % LONGEST_WAIT_MS));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), None, "the child ended by itself: {status}");
        let report = undo(&disk.at("state"));
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        disk.assert_blank();
        let again = undo(&disk.at("state"));
        assert_eq!((again.removed.len(), again.problems.len()), (0, 0));
        let hit = report.removed.iter().any(|what| what.contains("signatures"));
        assert!(hit || !stays, "it had a file system on the device: {:?}", report.removed);
    }
}
