//! iotax's own virtual disks, driven by iotax. Needs root and FUSE; skipped loudly without.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::process::Command;

use insta::assert_snapshot;
use iotax_testing::needs_fuse;
use support::{Desk, Said};

const UUID: &str = "68e2d1bb-dece-4b1c-9faf-b628e272418d";

/// A desk with a disk at `vm`, which is down when this is dropped.
struct Mounted(Desk);

impl Mounted {
    /// `None`, said loudly, where FUSE is missing.
    fn new(more: &[&str], stack: &str) -> Option<Self> {
        if !needs_fuse() {
            return None;
        }
        let desk = Desk::new();
        fs::create_dir(desk.path().join("vm")).unwrap();
        fs::write(desk.path().join("theirs"), vec![1; 8 << 20]).unwrap();
        let up = desk.run(&[&["disk", "up"], more, &[&format!("vm={stack}")]].concat());
        assert_eq!(up.code, 0, "{up}");
        Some(Self(desk))
    }

    fn run(&self, workload: &str, target: &str) -> Said {
        let short = ["--time", "500ms", "--ramp", "0", "--out"];
        let out = format!("out-{workload}-{}", target.replace('/', "-"));
        self.0.run(&[&["run", workload, target], &short[..], &[&out]].concat())
    }

    fn disk(&self) -> std::path::PathBuf {
        self.0.path().join("vm/disk")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.0.run(&["disk", "down", "--all", "--force"]);
    }
}

#[test]
fn a_disk_is_read_and_written_by_its_directory_and_by_its_file() {
    let Some(mounted) = Mounted::new(&[], "mem(size=16M) + delay(latency=50us)") else { return };
    for target in ["vm", "vm/disk"] {
        let before = fs::read(mounted.disk()).unwrap();
        let read = mounted.run("randread-4k", target);
        assert_eq!(read.code, 0, "{target}: {read}");
        assert_eq!(fs::read(mounted.disk()).unwrap(), before, "{target}");
        let written = mounted.run("randwrite-4k", target);
        assert_eq!(written.code, 0, "{target}: {written}");
        assert_ne!(fs::read(mounted.disk()).unwrap(), before, "{target}");
    }
    let arms = ["a=vm", "b=vm/disk", "--time", "500ms", "--ramp", "0", "--max-blocks", "2"];
    let both = [&["compare", "-w", "randread-4k", "--no-depth-check"], &arms[..]].concat();
    let both = mounted.0.run(&both);
    assert_eq!(both.code, 0, "{both}");
    let names: Vec<_> = fs::read_dir(mounted.0.path().join("vm")).unwrap().collect();
    assert_eq!(names.len(), 2, "nothing else is in a disk's directory");
}

#[test]
fn what_somebody_made_on_a_disk_is_not_written_over() {
    let Some(mounted) = Mounted::new(&[], "mem(size=16M)") else { return };
    let made =
        Command::new("mkfs.ext4").args(["-q", "-U", UUID]).arg(mounted.disk()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let before = fs::read(mounted.disk()).unwrap();
    assert_snapshot!(mounted.run("randwrite-4k", "vm"), @"
    error: arm target: DESK/vm: contains a file system (ext4), UUID 68e2d1bb-dece-4b1c-9faf-b628e272418d; name another device, or, if you do not need the data, wipe this one yourself (wipefs --all DESK/vm/disk)
    [exit 2]
    ");
    assert_eq!(fs::read(mounted.disk()).unwrap(), before);
    assert_eq!(mounted.run("randread-4k", "vm").code, 0);
}

#[test]
fn a_disk_on_a_file_of_the_users_is_only_read_unless_it_was_given_up() {
    let stack = "file(path=theirs, size=8M)";
    let Some(mounted) = Mounted::new(&[], stack) else { return };
    assert_snapshot!(mounted.run("randwrite-4k", "vm"), @"
    error: arm target: DESK/vm: is a read-only virtual disk, because its file already existed when the disk was created; to allow iotax to overwrite the file, take the disk down and mount it again with --write-to FILE
    [exit 2]
    ");
    assert_eq!(mounted.run("randread-4k", "vm").code, 0);
    drop(mounted);
    let Some(mounted) = Mounted::new(&["--write-to", "theirs"], stack) else { return };
    let written = mounted.run("randwrite-4k", "vm");
    assert_eq!(written.code, 0, "{written}");
}
