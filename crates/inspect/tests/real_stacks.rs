//! Stacks of this machine: a loop device over a file, and a mount that nobody serves. Needs root;
//! skipped loudly without.
#![allow(clippy::unwrap_used, reason = "a test; only functions under #[test] are known as such")]

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use iotax_inspect::{ProbeOptions, machine};
use iotax_record::Machine;
use iotax_record::machine::{Device, DeviceKind, MountSeen};
use iotax_testing::skipped;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

fn quick() -> ProbeOptions {
    ProbeOptions { metadata: None, ..ProbeOptions::default() }
}

fn device(machine: &Machine, place: usize) -> &Device {
    machine.nodes[place].layer.device().expect("a device")
}

fn mounted(machine: &Machine, place: usize) -> &MountSeen {
    machine.nodes[place].layer.mount().expect("a mount")
}

/// A loop device, gone when it is dropped.
struct Loop(PathBuf);

impl Loop {
    fn over(file: &Path) -> Option<Self> {
        let made = Command::new("losetup").args(["--find", "--show"]).arg(file).output().ok()?;
        let name = String::from_utf8(made.stdout).ok()?;
        made.status.success().then(|| Self(PathBuf::from(name.trim())))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

#[test]
fn a_loop_device_lies_on_its_file_and_what_that_lies_on() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().canonicalize().unwrap().join("a file");
    File::create(&file).unwrap().set_len(1 << 20).unwrap();
    let Some(looped) = Loop::over(&file) else {
        return skipped("needs root and losetup");
    };
    let seen = machine(&[&looped.0, directory.path()], &[], &quick());
    let top = seen.paths[0].top.unwrap();
    let device = device(&seen, top);
    assert_eq!(Path::new("/dev").join(&device.name), looped.0);
    assert_eq!((device.kind, device.size_bytes), (DeviceKind::Loop, 1 << 20));
    assert_eq!(device.loop_file.as_ref().unwrap().path, file.display().to_string());
    assert_eq!(device.loop_file.as_ref().unwrap().is_direct, Some(false));
    assert!(device.queue.logical_block_bytes.is_some());
    // Below it lies what the directory of its file lies on: one node, and no second of its kind.
    let below = &seen.nodes[top].below;
    assert_eq!(below.as_slice(), [seen.paths[1].top.unwrap()]);
    assert!(file.starts_with(&mounted(&seen, below[0]).mount_point));
    let text = serde_json::to_string(&seen).unwrap();
    assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), seen);
}

/// A mount, detached when it is dropped.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

#[test]
fn a_mount_that_nobody_serves_is_given_up_and_the_others_are_seen() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path().join("mount");
    fs::create_dir(&at).unwrap();
    // Whoever has this open is the server, and this one never answers.
    let server = OpenOptions::new().read(true).write(true).open("/dev/fuse");
    let made = server.ok().filter(|server| {
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", server.as_raw_fd());
        let options = CString::new(options).unwrap();
        mount("nobody", &at, "fuse", MountFlags::NODEV | MountFlags::NOSUID, &*options).is_ok()
    });
    let Some(server) = made else {
        return skipped("needs root and /dev/fuse");
    };
    let mount = Mounted(at.clone());
    let inside = ["a", "b", "c"].map(|name| at.join(name));
    let [a, b, c] = inside.each_ref().map(PathBuf::as_path);
    let seen = machine(&[&at, Path::new("/"), a, b, c, Path::new("/proc")], &[], &quick());
    assert_eq!(seen.paths[0].top, None);
    let problem = seen.paths[0].problem.as_deref().unwrap();
    assert_eq!(problem, "no response within a second: the server may be down");
    assert_eq!(mounted(&seen, seen.paths[1].top.unwrap()).mount_point, "/");
    // The others of that mount are not waited for.
    for path in &seen.paths[2..5] {
        let problem = path.problem.as_deref().unwrap();
        let expected =
            format!("not inspected: the server behind {} did not respond earlier", at.display());
        assert_eq!(problem, expected);
    }
    assert_eq!(mounted(&seen, seen.paths[5].top.unwrap()).mount_point, "/proc");
    // Without a server whoever waits for it is told so.
    drop(server);
    drop(mount);
}

#[test]
fn a_mount_in_memory_has_nothing_below() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path().canonicalize().unwrap().join("mount");
    fs::create_dir(&at).unwrap();
    if mount("memory", &at, "tmpfs", MountFlags::NOATIME, c"size=1m").is_err() {
        return skipped("needs root");
    }
    let made = Mounted(at.clone());
    let seen = machine(&[&at.join("..").join("mount")], &[], &quick());
    let top = seen.paths[0].top.unwrap();
    let mount = mounted(&seen, top);
    assert_eq!((mount.file_system.as_str(), mount.source.as_str()), ("tmpfs", "memory"));
    assert_eq!((mount.option("noatime"), mount.option("size")), (Some(""), Some("1024k")));
    assert_eq!(mount.mount_point, at.display().to_string());
    assert_eq!(seen.nodes.len(), 1);
    drop(made);
}
