//! Caps of virtual disks, as fio sees them.

use std::path::Path;
use std::process::Command;

use iotax_testing::{needs_fuse, needs_program};
use serde_json::Value;

use crate::support::Desk;

/// A desk with an empty directory for each of `names`; `None`, said loudly, without FUSE or fio.
fn desk(names: &[&str]) -> Option<Desk> {
    if !needs_fuse() || !needs_program("fio") {
        return None;
    }
    let desk = Desk::new();
    for name in names {
        std::fs::create_dir(desk.path().join(name)).unwrap();
    }
    Some(desk)
}

fn reads_per_second(file: &Path, options: &[&str]) -> f64 {
    let output = Command::new("fio")
        .args(["--name=test", "--direct=1", "--output-format=json", "--ioengine=libaio"])
        .args(["--rw=randread", "--time_based", "--runtime=3", "--ramp_time=1"])
        .arg(format!("--filename={}", file.display()))
        .args(options)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let json: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    json["jobs"][0]["read"]["iops"].as_f64().unwrap()
}

#[test]
fn caps_are_reached_and_never_exceeded_as_fio_sees_them() {
    let Some(desk) = desk(&["vm"]) else { return };
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
fn disks_of_one_command_get_together_what_the_bucket_of_their_group_lets_through() {
    let Some(desk) = desk(&["a", "b"]) else { return };
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
    assert_eq!(desk.run(&["disk", "down", "--all"]).code, 0);
}

#[test]
fn a_clouds_disks_keep_their_documented_limits_and_cached_reads_are_free_of_them() {
    let Some(desk) = desk(&["data", "log"]) else { return };
    let disks = ["--disk", "P10:caching=readonly", "--disk", "P30"];
    let options = ["--vm", "Standard_DS1_v2", "--credits", "0%", "--size", "4G"];
    let up = ["disk", "up", "data", "log"];
    let up = desk.run(&[&up[..], &disks, &options].concat());
    assert_eq!(up.out, "DESK/data/disk\nDESK/log/disk\n", "{up}");
    let [data, log] = ["data", "log"].map(|name| desk.path().join(name).join("disk"));
    // Of the disk, and of the VM for disks that are not cached.
    for (file, expected) in [(&data, 500.0), (&log, 3200.0)] {
        let options = ["--bs=4k", "--iodepth=32", "--norandommap"];
        let share = reads_per_second(file, &options) / expected;
        assert!((0.6..1.02).contains(&share), "{}: {share} of {expected}", file.display());
    }
    // A megabyte is missed within half a second, and then hit.
    let options = ["--bs=4k", "--iodepth=32", "--size=1M"];
    let hits_per_second = reads_per_second(&data, &options);
    assert!(hits_per_second > 1000.0, "{hits_per_second} are no more than the disk's limit");
    assert_eq!(desk.run(&["disk", "down", "--all"]).code, 0);
}
