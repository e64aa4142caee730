//! Virtual disks as other programs see them. Needs root and FUSE; skipped loudly without.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "tests: skipping is said")]

#[path = "../../rig/tests/common/machine.rs"]
#[allow(dead_code, reason = "each test binary uses its part")]
mod machine;
mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;
use support::Desk;

/// A desk with an empty directory for each of `names`; `None`, said loudly, where FUSE is missing.
fn desk(names: &[&str]) -> Option<Desk> {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root || !Path::new("/dev/fuse").exists() {
        assert!(std::env::var_os("CI").is_none(), "CI must be root and have /dev/fuse");
        eprintln!("SKIPPED disk: needs root and /dev/fuse");
        return None;
    }
    let desk = Desk::new();
    for name in names {
        fs::create_dir(desk.path().join(name)).unwrap();
    }
    Some(desk)
}

fn has_fio() -> bool {
    let found = Command::new("fio").arg("--version").output().is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "CI must have fio");
    if !found {
        eprintln!("SKIPPED disk: fio is not installed (apt-get install fio)");
    }
    found
}

/// fio's JSON for one job on `file`.
fn fio(file: &Path, options: &[&str]) -> Value {
    let output = Command::new("fio")
        .args(["--name=test", "--direct=1", "--output-format=json", "--ioengine=libaio"])
        .arg(format!("--filename={}", file.display()))
        .args(options)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap()
}

fn reads_per_second(file: &Path, options: &[&str]) -> f64 {
    let timed = ["--rw=randread", "--time_based", "--runtime=3", "--ramp_time=1"];
    let json = fio(file, &[&timed[..], options].concat());
    json["jobs"][0]["read"]["iops"].as_f64().unwrap()
}

#[test]
fn caps_are_reached_and_never_exceeded_as_fio_sees_them() {
    let Some(desk) = desk(&["vm"]) else { return };
    if !has_fio() {
        return;
    }
    let up = desk.run(&["disk", "up", "vm=file(size=64M) + throttle(iops=2000, bw=32M)"]);
    assert_eq!(up.out, "DESK/vm/disk\n", "{up}");
    let file = desk.path().join("vm/disk");
    let cases = [
        (&["--bs=4k", "--iodepth=1"][..], 2000.0),
        (&["--bs=4k", "--iodepth=32"], 2000.0),
        (&["--bs=64k", "--iodepth=4"], 512.0),
    ];
    for (options, expected) in cases {
        let share = reads_per_second(&file, options) / expected;
        // Nothing lets more through; a machine busy with other tests holds fio back.
        assert!((0.6..1.02).contains(&share), "{options:?}: {share} of {expected}");
    }
    assert_eq!(desk.run(&["disk", "down", "vm"]).code, 0);
}

#[test]
fn data_verify_with_many_writes_in_flight() {
    let Some(desk) = desk(&["vm"]) else { return };
    if !has_fio() {
        return;
    }
    desk.run(&["disk", "up", "vm=file(size=32M) + aes + queue"]);
    let verify =
        ["--rw=randwrite", "--bs=4k", "--iodepth=16", "--verify=crc32c", "--verify_state_save=0"];
    let json = fio(&desk.path().join("vm/disk"), &verify);
    assert_eq!(json["jobs"][0]["error"], 0);
    assert_eq!(json["jobs"][0]["read"]["total_ios"], 8192, "all of it was read back");
    assert_eq!(desk.run(&["disk", "down", "--all"]).code, 0);
}

#[test]
fn disks_of_one_command_share_the_bucket_of_a_group() {
    let Some(desk) = desk(&["a", "b"]) else { return };
    if !has_fio() {
        return;
    }
    let stack = "mem(size=16M) + throttle(iops=1000, group=vm)";
    let up = desk.run(&["disk", "up", &format!("a={stack}"), &format!("b={stack}")]);
    assert_eq!(up.out, "DESK/a/disk\nDESK/b/disk\n", "{up}");
    let [a, b] = ["a", "b"].map(|name| desk.path().join(name).join("disk"));
    let options = ["--bs=4k", "--iodepth=4"];
    let both = std::thread::scope(|scope| {
        let a = scope.spawn(|| reads_per_second(&a, &options));
        let b = reads_per_second(&b, &options);
        a.join().unwrap() + b
    });
    // With a bucket each it would be 2000.
    assert!((500.0..1100.0).contains(&both), "{both} of 1000 together");
    let status: Value =
        serde_json::from_str(&desk.run(&["disk", "status", "--format", "json"]).out).unwrap();
    assert_eq!(status["disks"].as_array().unwrap().len(), 2);
    assert!(status["disks"][0]["stats"]["layers"][1]["reads"].as_u64().unwrap() > 1000);
    // They have one server.
    assert_eq!(desk.run(&["disk", "down", "a"]).code, 0);
    assert_eq!(desk.run(&["disk", "status"]).out, "no virtual disk is up\n");
}

#[test]
fn nothing_is_left_after_down_nor_after_a_kill_and_undo() {
    let Some(desk) = desk(&["vm"]) else { return };
    let before = machine::traces_of(desk.path());
    for kill in [false, true] {
        let up = desk.run(&["disk", "up", "vm=file(size=4M) + aes"]);
        assert_eq!(up.code, 0, "{up}");
        fs::write(desk.path().join("other"), [1; 4096]).unwrap();
        let status = desk.run(&["disk", "status", "--format", "json"]);
        let status: Value = serde_json::from_str(&status.out).unwrap();
        let undone = desk.run(&["undo"]);
        assert!(desk.path().join("vm/disk").exists(), "a living disk is left alone: {undone}");
        if kill {
            let pid = status["disks"][0]["pid"].to_string();
            assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
            while Path::new("/proc").join(&pid).join("exe").exists() {
                std::thread::yield_now();
            }
            let undone = desk.run(&["undo"]);
            assert!(undone.out.contains("the virtual disk at DESK/vm"), "{undone}");
        } else {
            assert_snapshot!(desk.run(&["disk", "down", "vm"]).out, @"took down DESK/vm");
        }
        assert_eq!(fs::read_dir(desk.path().join("vm")).unwrap().count(), 0);
        assert_eq!(machine::traces_of(desk.path()), before);
    }
}

#[test]
fn a_file_of_the_users_is_served_read_only_unless_it_is_given() {
    let Some(desk) = desk(&["vm"]) else { return };
    let precious = desk.path().join("precious.img");
    let data = vec![7; 1 << 20];
    fs::write(&precious, &data).unwrap();
    let stack = "vm=file(path=precious.img, size=1M)";
    assert_eq!(desk.run(&["disk", "up", stack]).code, 0);
    let served = desk.path().join("vm/disk");
    assert_eq!(fs::read(&served).unwrap(), data);
    let write = fs::File::options().write(true).open(&served);
    assert_eq!(write.unwrap_err().kind(), std::io::ErrorKind::ReadOnlyFilesystem);
    desk.run(&["disk", "down", "vm"]);
    assert_eq!(fs::read(&precious).unwrap(), data);

    assert_eq!(desk.run(&["disk", "up", stack, "--write-to", "precious.img"]).code, 0);
    fs::File::options().write(true).open(&served).unwrap();
    desk.run(&["disk", "down", "vm"]);
}

#[test]
fn mistakes_are_named_before_anything_is_made() {
    let Some(desk) = desk(&["full"]) else { return };
    fs::write(desk.path().join("full/file"), "").unwrap();
    let said = |arguments: &[&str]| desk.run(arguments).to_string();
    assert_snapshot!(said(&["disk", "up", "file(size=1M)"]), @"
    error: `file(size=1M)` names no directory; write where to mount it and its layers: /mnt/disk='file(size=1G) + throttle(iops=4000)'
    [exit 2]
    ");
    assert_snapshot!(said(&["disk", "up", "none=file(size=1M)"]), @"
    error: arm file(size=1M): DESK/none: does not exist; make the directory first, or check the spelling
    [exit 3]
    ");
    assert_snapshot!(said(&["disk", "up", "full=file(size=1M)"]), @"
    error: arm file(size=1M): DESK/full: is not empty; name an empty directory
    [exit 3]
    ");
    assert_snapshot!(said(&["disk", "up", "full=file(size=1M) + ext4"]), @"
    error: file(size=1M) + loop + ext4: a virtual disk has layers of iotax's own process only; see `iotax layers`
    [exit 2]
    ");
    assert_snapshot!(said(&["disk", "up", "full=file(size=1M) + trottle"]), @"
    error: unknown layer `trottle`; did you mean `throttle`?
      file(size=1M) + trottle
                      ^^^^^^^ column 17
    known layers: mem, file, dir, dev, tmpfs, nfs, vdisk, aes, queue, delay, cache, tier, fault, throttle, flash, cgroup-io, loop, luks, dmcrypt, ext4, xfs, btrfs, fscrypt, gocryptfs
    [exit 2]
    ");
    assert_snapshot!(said(&["disk", "down", "full"]), @"
    error: DESK/full: no virtual disk is mounted here; `iotax disk status` lists them, and `iotax undo` removes what a killed one left
    [exit 2]
    ");
    assert_snapshot!(said(&["disk", "down"]), @"
    error: say which disk, or --all
    [exit 2]
    ");
    assert_snapshot!(said(&["disk", "down", "--all"]), @"
    no virtual disk was up
    [exit 0]
    ");
}
