//! Mounting, unmounting, and what is in between.

use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use iotax_layers::{Delay, Layer, Queue};
use iotax_testing::{needs_fuse, needs_program, skipped};
use iotax_vdisk::fuse::{MountOptions, mount};
use iotax_vdisk::{Error, MonotonicClock, Session, VirtualDisk};

use crate::{FILE, HOUR_NS, MIB, Scene, can_map_shared, mem, mount_entries, open_elsewhere};

#[test]
fn the_table_of_mounts_names_it_and_forgets_it() {
    let options = MountOptions { name: "iotax:a, b".to_owned(), ..MountOptions::default() };
    let Some(scene) = Scene::with(&[mem(MIB)], &options) else { return };
    let at = scene.mounted.at().to_owned();
    let entries = mount_entries(&at);
    assert_eq!(entries.len(), 1);
    assert!(entries[0].starts_with("iotax:a,\\040b "), "{entries:?}");
    assert!(entries[0].contains(" fuse.iotax rw,nosuid,nodev,"), "{entries:?}");

    let mut names: Vec<_> =
        at.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["disk", "stats.json"]);
    let mode = |name| at.join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("disk"), mode("stats.json")], [0o600, 0o444]);

    let Scene { mounted, dir } = scene;
    drop(mounted);
    assert_eq!(mount_entries(&at), [""; 0]);
    assert_eq!(dir.path().read_dir().unwrap().count(), 0);
}

#[test]
fn what_was_stored_in_a_mapping_and_not_synced_outlives_the_mount() {
    if !can_map_shared() {
        return;
    }
    let Some(scene) = Scene::of(&[mem(MIB)]) else { return };
    let disk = scene.disk().clone();
    scene.in_another_process("life::map_and_leave");
    drop(scene);
    let mut read = [0; 4096];
    Session::new(&disk, 1, 4096).unwrap().read_at(4096, &mut read).unwrap();
    assert_eq!(read, [7; 4096]);
}

#[test]
#[ignore = "the other process of the test above"]
fn map_and_leave() {
    // SAFETY: nobody else changes the file's bytes.
    let mapped = unsafe { memmap2::MmapMut::map_mut(&open_elsewhere()) };
    mapped.expect("Linux 6.6, for shared mappings of files with direct I/O")[4096..8192].fill(7);
}

#[test]
fn dropping_cuts_off_io_that_would_take_an_hour() {
    let delay = Layer::Delay(Delay { latency_ns: HOUR_NS, jitter_ns: 0 });
    let queue = Layer::Queue(Queue { workers: 1 });
    let options = MountOptions { threads: Some(1), ..MountOptions::default() };
    let Some(scene) = Scene::with(&[mem(MIB), delay, queue], &options) else { return };
    let file = scene.open();
    thread::scope(|scope| {
        let readers: Vec<_> = (0..4)
            .map(|index| {
                let file = &file;
                scope.spawn(move || file.read_at(&mut [0; 4096], 4096 * index))
            })
            .collect();
        scope.spawn(|| file.write_at(&[1], 65_536 + 77));
        // Five reads, one of them the write's, have reached the bottom, and are held back now.
        while scene.stats()["layers"][0]["reads"].as_u64() < Some(5) {
            thread::yield_now();
        }
        let at = scene.mounted.at().to_owned();
        drop(scene.mounted);
        assert_eq!(mount_entries(&at), [""; 0]);
        for reader in readers {
            assert!(reader.join().unwrap().is_err(), "cut off");
        }
    });
    assert!(file.read_at(&mut [0; 4096], 0).is_err());
}

#[test]
fn somebody_else_may_unmount_it() {
    let Some(scene) = Scene::of(&[mem(MIB)]) else { return };
    let at = scene.mounted.at().to_owned();
    assert!(!scene.mounted.has_ended());
    thread::scope(|scope| {
        let waiter = scope.spawn(|| scene.mounted.wait());
        assert!(Command::new("umount").arg(&at).status().unwrap().success());
        waiter.join().unwrap();
    });
    assert!(scene.mounted.has_ended());
    // What is mounted there meanwhile is none of ours.
    let other = VirtualDisk::open(&[mem(MIB)], Arc::new(MonotonicClock)).unwrap();
    let other = mount(&other, &at, &MountOptions::default()).unwrap();
    let Scene { mounted, dir: _dir } = scene;
    drop(mounted);
    assert_eq!(mount_entries(&at).len(), 1);
    drop(other);
    assert_eq!(mount_entries(&at), [""; 0]);
}

#[test]
fn a_mount_on_top_of_another_leaves_that_one_alone() {
    let Some(below) = Scene::of(&[mem(MIB)]) else { return };
    let disk = VirtualDisk::open(&[mem(2 * MIB)], Arc::new(MonotonicClock)).unwrap();
    let above = mount(&disk, below.mounted.at(), &MountOptions::default()).unwrap();
    let size = || below.path().metadata().unwrap().len();
    assert_eq!(size(), 2 * MIB);
    drop(above);
    assert_eq!(size(), MIB);
}

#[test]
fn a_read_only_mount_refuses_to_write() {
    let options = MountOptions { read_only: true, ..MountOptions::default() };
    let Some(scene) = Scene::with(&[mem(MIB)], &options) else { return };
    let Scene { mounted, dir } = scene;
    let path = dir.path().join("disk");
    let error = std::fs::OpenOptions::new().write(true).open(&path).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ReadOnlyFilesystem);
    assert_eq!(std::fs::read(&path).unwrap().len() as u64, MIB);
    drop(mounted);
}

#[test]
fn a_user_without_privileges_mounts_through_the_helper() {
    const NOBODY: u32 = 65_534;
    if !needs_fuse() {
        return;
    }
    if !needs_program("fusermount3") {
        return;
    }
    let device = std::fs::metadata("/dev/fuse").unwrap();
    if device.permissions().mode() & 0o006 != 0o006 {
        return skipped("/dev/fuse is not for every user here: udev makes it so, or chmod 666");
    }
    // A copy, since the user may not be let into the directory of the build.
    let home = tempfile::tempdir().unwrap();
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = home.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let output = Command::new(program)
        .args(["--ignored", "--exact", "life::mount_as_a_user"])
        .env(FILE, dir.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir("/")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    assert_eq!(mount_entries(dir.path()), [""; 0]);
}

#[test]
#[ignore = "the other process of the test above"]
fn mount_as_a_user() {
    let at = std::env::var_os(FILE).unwrap();
    let at = Path::new(&at);
    let disk = VirtualDisk::open(&[mem(MIB)], Arc::new(MonotonicClock)).unwrap();
    let options = MountOptions { name: "a, b\\".to_owned(), ..MountOptions::default() };
    let mounted = mount(&disk, at, &options).unwrap();
    let entries = mount_entries(at);
    assert!(entries[0].starts_with("a,\\040b\\134 "), "{entries:?}");
    std::fs::OpenOptions::new()
        .write(true)
        .open(at.join("disk"))
        .unwrap()
        .write_all_at(&[7; 100], 50)
        .unwrap();
    drop(mounted);
    assert_eq!(mount_entries(at), [""; 0]);
    let mut read = [0; 512];
    Session::new(&disk, 1, 512).unwrap().read_at(0, &mut read).unwrap();
    assert_eq!((read[49], read[50], read[149], read[150]), (0, 7, 7, 0));
    let missing = mount(&disk, Path::new("/proc"), &MountOptions::default());
    assert!(matches!(missing, Err(Error::Mount { .. })), "not this user's directory");
}

#[test]
fn a_place_that_is_none_is_refused() {
    if !needs_fuse() {
        return;
    }
    let disk = VirtualDisk::open(&[mem(MIB)], Arc::new(MonotonicClock)).unwrap();
    let refused = |at: &str| match mount(&disk, Path::new(at), &MountOptions::default()) {
        Err(error @ Error::Mount { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    insta::assert_snapshot!(refused("/nonexistent/dir"), @"cannot mount the disk at /nonexistent/dir: No such file or directory (os error 2): create the directory first");
    insta::assert_snapshot!(refused("/dev/null"), @"cannot mount the disk at /dev/null: Not a directory (os error 20): specify a directory");
}
