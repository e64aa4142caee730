//! Virtual disks as other programs see them. Needs root and FUSE; skipped loudly without.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../../rig/tests/common/machine.rs"]
#[allow(dead_code, reason = "each test binary uses its part")]
mod machine;
mod support;

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use iotax_testing::{needs_fuse, needs_program};
use serde_json::Value;
use support::Desk;

/// A desk with an empty directory for each of `names`; `None`, said loudly, where FUSE is missing.
fn desk(names: &[&str]) -> Option<Desk> {
    if !needs_fuse() {
        return None;
    }
    let desk = Desk::new();
    for name in names {
        fs::create_dir(desk.path().join(name)).unwrap();
    }
    Some(desk)
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

#[test]
fn data_verify_with_many_writes_in_flight() {
    let Some(desk) = desk(&["vm"]) else { return };
    if !needs_program("fio") {
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
fn disks_of_one_command_have_one_server() {
    let Some(desk) = desk(&["a", "b"]) else { return };
    let stack = "mem(size=16M) + throttle(iops=1000, group=vm)";
    let up = desk.run(&["disk", "up", &format!("a={stack}"), &format!("b={stack}")]);
    assert_eq!(up.out, "DESK/a/disk\nDESK/b/disk\n", "{up}");
    for name in ["a", "b"] {
        assert_eq!(fs::read(desk.path().join(name).join("disk")).unwrap().len(), 16 << 20);
    }
    let status: Value =
        serde_json::from_str(&desk.run(&["disk", "status", "--format", "json"]).out).unwrap();
    assert_eq!(status["disks"].as_array().unwrap().len(), 2);
    for disk in status["disks"].as_array().unwrap() {
        let read_bytes = disk["stats"]["layers"][1]["read_bytes"].as_u64();
        assert!(read_bytes >= Some(16 << 20), "{status}");
    }
    assert_eq!(desk.run(&["disk", "down", "a"]).out, "unmounted DESK/a\nunmounted DESK/b\n");
    assert_eq!(desk.run(&["disk", "status"]).out, "no virtual disk is mounted\n");
}

#[test]
fn what_was_built_is_told_with_its_sources() {
    let Some(desk) = desk(&["vm"]) else { return };
    let p10 = ["disk", "up", "vm", "--vm", "ds1_v2", "--disk", "P10"];
    let said = desk.run(&[&p10[..], &["--caching", "readonly", "--encryption-at-host"]].concat());
    assert_snapshot!(said, @"
    DESK/vm/disk
    DESK/vm: P10 on Standard_DS1_v2, caching read only; layers from bottom to top
      file(size=128G, thin)
          documented size [1]
      delay(latency=1ms)
          latency (an assumption, not documented)
      throttle(iops=500, bw=100000000, burst_iops=3500, burst_bw=170000000,
          credits=30m, unit=256k)
          disk limit of P10 [1]
      throttle(iops=4000, bw=32000k, group=Standard_DS1_v2-cached)
          VM cached limit of Standard_DS1_v2 [2]
      tier(size=43G)
          Standard_DS1_v2 cache [2]
      aes(sector=512)
          encryption at host, as requested
      Note: reads that miss the cache, and all writes, count only against the VM's
          cached limits, as measured on Standard_DS1_v2
    Note: Cached disks: reads served by the cache do not count against the disk's
      own limit. According to the documentation, cache misses also count against the
      VM's uncached limits, and so do writes to disks with read-only caching. These
      figures do not include that effect.
    Note: It is not known whether Standard_DS1_v2 (VM cached) can burst.
    Note: the temporary disk and cached disks share one bucket
    Note: the series page lists no burst limits
    [1] kubernetes-sigs/azuredisk-csi-driver:pkg/optimization/
        azure_skus_map.go@3ccc92fab197 ; MicrosoftDocs/azure-compute-docs:articles/
        virtual-machines/includes/managed-disks-bursting-2.md@2e4af98705e2
        (2024-12-12)
    [2] flexera-public/policy_templates:data/azure/
        azure_compute_instance_types.json@5bb88c4b80bf (2026-08-17)
    [exit 0]
    ");
    assert!(said.err.lines().all(|line| line.chars().count() <= 80));
    desk.run(&["disk", "down", "vm"]);
    let said = desk.run(&[&p10[..], &["--latency", "0s", "--format", "json"]].concat());
    let json: Value = serde_json::from_str(&said.out).unwrap();
    let made = &json["disks"][0];
    assert_eq!(
        (made["disk"].as_str(), json["vm"].as_str()),
        (Some("P10"), Some("Standard_DS1_v2"))
    );
    assert_eq!(made["layers"].as_array().unwrap().len(), 3);
    assert!(made["layers"][2]["sources"][0]["as_of"].is_string());
    assert_eq!(made["file"].as_str(), Some("DESK/vm/disk"));
    desk.run(&["disk", "down", "vm"]);
}

#[test]
fn a_local_disk_of_a_vm_is_up_beside_one_that_is_attached() {
    let Some(desk) = desk(&["ssd", "log"]) else { return };
    let asked = ["disk", "up", "ssd", "log", "--vm", "E16d_v5", "--disk", "local", "--disk", "E10"];
    let more =
        ["--size", "64M", "--hardware-encrypted", "--encryption-at-host", "--format", "json"];
    let said = desk.run(&[&asked[..], &more].concat());
    let json: Value = serde_json::from_str(&said.out).unwrap();
    let stacks = [&json["disks"][0], &json["disks"][1]].map(|disk| disk["stack"].as_str().unwrap());
    assert_snapshot!(stacks.join("\n"), @"
    file(size=64M, thin) + aes(sector=512) + delay(latency=100us) + throttle(iops=75000, bw=1000000000, group=Standard_E16d_v5-temporary) + aes(sector=512)
    file(size=64M, thin) + aes(sector=512) + delay(latency=1ms) + throttle(iops=500, bw=100000000, burst_iops=600, burst_bw=150000000, credits=30m, unit=256k) + throttle(iops=25600, bw=600000000, group=Standard_E16d_v5-uncached) + aes(sector=512)
    ");
    let file = fs::File::options().read(true).write(true).open(desk.path().join("ssd/disk"));
    let mut file = file.unwrap();
    file.write_all(&[7; 8192]).unwrap();
    file.sync_all().unwrap();
    let mut again = fs::File::open(desk.path().join("ssd/disk")).unwrap();
    let mut read = [0; 8192];
    again.read_exact(&mut read).unwrap();
    assert_eq!(read, [7; 8192]);
    drop((file, again));
    assert_eq!(desk.run(&["disk", "down", "--all"]).code, 0);
}

#[test]
fn disks_that_no_cloud_has_are_refused() {
    let desk = Desk::new();
    let said = |arguments: &[&str]| desk.run(&[&["disk", "up"], arguments].concat()).to_string();
    assert_snapshot!(said(&["vm", "--vm", "DS1_v9", "--disk", "P10"]), @"
    error: unknown VM size `DS1_v9`: did you mean Standard_DS1_v2, Standard_D11_v2 or Standard_D1_v2?
    [exit 2]
    ");
    assert_snapshot!(said(&["vm", "--vm", "DS1_v2", "--disk", "P11"]), @"
    error: unknown disk `P11`: did you mean P1, P10 or P15?
    Standard_DS1_v2 supports P1 to P80, E1 to E80, S4 to S80, premium-v2, ultra, local
    [exit 2]
    ");
    assert_snapshot!(said(&["vm", "--vm", "DS1_v2", "--disk", "P50", "--caching", "readonly"]), @"
    error: the host cannot cache P50; use caching=none
    Standard_DS1_v2 supports P1 to P80, E1 to E80, S4 to S80, premium-v2, ultra, local
    [exit 2]
    ");
    assert_snapshot!(said(&["vm", "--disk", "P10", "--caching", "readwrite"]), @"
    error: P10: write-back caching is not modeled; use readonly or none
    [exit 2]
    ");
    assert_snapshot!(said(&["vm", "--disk", "P10", "--caching", "all"]), @"
    error: option --caching: `all` is not supported; use none or readonly
    [exit 2]
    ");
    assert_snapshot!(said(&["vm", "--disk", "P10", "--credits", "200%"]), @"
    error: option --credits: `200%` is not a share: more than 100%
    use a percentage such as 5%, or a fraction such as 0.05
    [exit 2]
    ");
    assert_snapshot!(said(&["vm", "--disk", "local"]), @"
    error: a local disk belongs to a VM size; specify the VM size too
    [exit 2]
    ");
    assert_snapshot!(said(&["vm", "--vm", "E16s_v5", "--disk", "local"]), @"
    error: local of Standard_E16s_v5: the catalog lists no local disk of this kind for the VM size
    Standard_E16s_v5 supports P1 to P80, E1 to E80, S4 to S80, premium-v2, ultra
    [exit 2]
    ");
    assert_snapshot!(said(&["vm", "--disk", "premium-v2"]), @"
    error: premium-v2: the name does not imply a size; specify one, for example size=4G
    [exit 2]
    ");
    assert_snapshot!(said(&["vm", "--vm", "DS1_v2"]), @"
    error: the following required arguments were not provided:
      --disk <DISK>

    Usage: iotax disk up --disk <DISK> --vm <SIZE> <DIRECTORY=STACK>...

    For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(said(&["vm=mem", "--disk", "P10"]), @"
    error: `vm=mem` contains layers, but --disk already defines them; give only the directory
    [exit 2]
    ");
    assert_snapshot!(said(&["a", "b", "--disk", "P10"]), @"
    error: the number of disks (--disk: 1) differs from the number of mount directories (2); give one directory for each disk, in order
    [exit 2]
    ");
    let disks = ["--disk", "P4"].repeat(5);
    let directories = ["a", "b", "c", "d", "e"];
    assert_snapshot!(said(&[&directories[..], &disks, &["--vm", "DS1_v2"]].concat()), @"
    error: Standard_DS1_v2 supports at most 4 disks, not 5
    Standard_DS1_v2 supports P1 to P80, E1 to E80, S4 to S80, premium-v2, ultra, local
    [exit 2]
    ");
}

#[test]
fn disks_without_a_files_name_hold_their_own_data() {
    let Some(desk) = desk(&["a", "b"]) else { return };
    let up = desk.run(&["disk", "up", "a=file(size=1M)", "b=file(size=1M)"]);
    assert_eq!(up.code, 0, "{up}");
    let [a, b] = ["a/disk", "b/disk"].map(|name| desk.path().join(name));
    let before = fs::read(&b).unwrap();
    let mut file = fs::File::options().write(true).open(&a).unwrap();
    file.write_all(&[7; 4096]).unwrap();
    file.sync_all().unwrap();
    assert!(fs::read(&a).unwrap()[..4096] == [7; 4096]);
    assert!(fs::read(&b).unwrap() == before);
    drop(file);
    assert_eq!(desk.run(&["disk", "down", "--all"]).code, 0);
    for name in ["a", "b"] {
        assert_eq!(fs::read_dir(desk.path().join(name)).unwrap().count(), 0, "{name} is unmounted");
    }
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
            // It may still be on its way out.
            let undone = desk.run(&["undo"]);
            assert!(undone.out.contains("the virtual disk at DESK/vm"), "{undone}");
        } else {
            assert_snapshot!(desk.run(&["disk", "down", "vm"]).out, @"unmounted DESK/vm");
        }
        assert_eq!(fs::read_dir(desk.path().join("vm")).unwrap().count(), 0);
        assert_eq!(machine::traces_of(desk.path()), before);
    }
}

#[test]
fn a_disk_that_somebody_uses_stays_up_unless_forced() {
    let Some(desk) = desk(&["vm"]) else { return };
    assert_eq!(desk.run(&["disk", "up", "vm=mem(size=1M)"]).code, 0);
    let mut user = fs::File::open(desk.path().join("vm/disk")).unwrap();
    assert_snapshot!(desk.run(&["disk", "down", "vm"]).to_string(), @"
    error: DESK/vm is in use (fuser -vm DESK/vm lists the programs, and losetup -a lists the loop devices); stop everything that uses the disk, or add --force, which makes any further I/O on it fail
    [exit 3]
    ");
    let mut block = [0; 4096];
    user.read_exact(&mut block).unwrap();
    assert_eq!(desk.run(&["disk", "down", "--force", "vm"]).code, 0);
    assert!(user.read_exact(&mut block).is_err());
    assert_eq!(fs::read_dir(desk.path().join("vm")).unwrap().count(), 0);
}

#[test]
fn no_disk_hides_another_at_the_same_place() {
    let Some(desk) = desk(&["vm"]) else { return };
    let mount = "vm=mem(size=1M)";
    assert_snapshot!(desk.run(&["disk", "up", mount, mount]).to_string(), @"
    error: DESK/vm: another virtual disk is being mounted here; name a different directory for each disk
    [exit 2]
    ");
    // All at the same time.
    let ups = std::thread::scope(|scope| {
        let up = || scope.spawn(|| desk.run(&["disk", "up", mount]).code);
        let ups: Vec<_> = (0..4).map(|_| up()).collect();
        ups.into_iter().map(|up| up.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(ups.iter().filter(|code| **code == 0).count(), 1, "{ups:?}");
    assert_snapshot!(desk.run(&["disk", "up", mount]).to_string(), @"
    error: DESK/vm: a file system is already mounted here; name another directory, or unmount it (iotax disk down for a virtual disk, otherwise umount)
    [exit 2]
    ");
    let status = desk.run(&["disk", "status", "--format", "json"]);
    let status: Value = serde_json::from_str(&status.out).unwrap();
    let pid = status["disks"][0]["pid"].to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    while Path::new("/proc").join(&pid).join("exe").exists() {
        std::thread::yield_now();
    }
    assert_snapshot!(desk.run(&["disk", "up", mount]).to_string(), @"
    error: DESK/vm: the program that served this mount is gone; unmount it with iotax undo or umount
    [exit 3]
    ");
    assert_eq!(desk.run(&["undo"]).code, 0);
    assert_eq!(fs::read_dir(desk.path().join("vm")).unwrap().count(), 0);
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
    error: `file(size=1M)` does not name a directory; specify the mount directory and the layers, as in /mnt/disk='file(size=1G) + throttle(iops=4000)'
    [exit 2]
    ");
    assert_snapshot!(said(&["disk", "up", "none=file(size=1M)"]), @"
    error: DESK/none: does not exist; create the directory first, or check the spelling
    [exit 2]
    ");
    assert_snapshot!(said(&["disk", "up", "full=file(size=1M)"]), @"
    error: DESK/full: is not empty; name an empty directory
    [exit 2]
    ");
    assert_snapshot!(said(&["disk", "up", "full=file(size=1M) + ext4"]), @"
    error: file(size=1M) + loop + ext4: a virtual disk can only have in-process layers; see `iotax layers`
    [exit 2]
    ");
    assert_snapshot!(said(&["disk", "up", "full=file(size=1M) + trottle"]), @"
    error: unknown layer `trottle`; did you mean `throttle`?
      file(size=1M) + trottle
                      ^^^^^^^ column 17
    known layers: ALL
    [exit 2]
    ");
    assert_snapshot!(said(&["disk", "down", "full"]), @"
    error: DESK/full: no virtual disk is mounted here; `iotax disk status` lists all virtual disks, and `iotax undo` removes what a killed disk server left behind
    [exit 2]
    ");
    assert_snapshot!(said(&["disk", "down"]), @"
    error: no disk given; give the mount directory of a disk, or use --all
    [exit 2]
    ");
    assert_snapshot!(said(&["disk", "down", "--all"]), @"
    no virtual disk was mounted
    [exit 0]
    ");
}
