//! Layers made by iotax on a kernel that has them all: device mapper's encryption, control groups
//! of version 2, file servers. Skipped loudly where there is no virtual machine.
#![allow(clippy::unwrap_used, reason = "tests")]

mod vm;

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::Value;
use vm::{Vm, VmOutput};

const MIB: u64 = 1 << 20;
const LEFT: &str = include_str!("vm/list-left.sh");
const CRYPT: [(&str, &str); 3] =
    [("cryptsetup", "cryptsetup-bin"), ("dmsetup", "dmsetup"), ("mkfs.ext4", "e2fsprogs")];
const NFS: [(&str, &str); 5] = [
    ("rpc.nfsd", "nfs-kernel-server"),
    ("mount.nfs", "nfs-common"),
    ("krb5kdc", "krb5-kdc"),
    ("kadmin.local", "krb5-admin-server"),
    ("dmsetup", "dmsetup"),
];

/// A working directory on the guest's disk.
const WORK: &str = r#"
    mkfs.ext4 -q -F "$DISK"
    mkdir /media/w
    mount "$DISK" /media/w
    rmdir /media/w/lost+found"#;

fn guest(programs: &[(&str, &str)]) -> Option<Vm> {
    let vm = Vm::new(256 * MIB).and_then(|vm| vm.with_programs(programs))?;
    Some(vm.limit(Duration::from_mins(5)))
}

fn script(set_up: &str, rest: &str) -> String {
    format!("set -eu\n{LEFT}\n{set_up}\n{rest}")
}

/// The trials of a record, all of them complete.
fn trials(did: &VmOutput, record: &str) -> Vec<Value> {
    let text = did.text(&format!("{record}/trials.jsonl"));
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let trials: Vec<_> = lines.filter(|line| line.get("arm").is_some()).collect();
    assert!(!trials.is_empty(), "{text}");
    for trial in &trials {
        assert_eq!(trial["outcome"], "completed", "{trial}");
    }
    trials
}

fn reads_per_s(trial: &Value) -> f64 {
    let load = &trial["load"];
    load["jobs"][0]["read"]["ios"].as_f64().unwrap() / (load["window_ns"].as_f64().unwrap() / 1e9)
}

#[test]
fn data_go_unharmed_through_every_kind_of_dm_crypt_with_the_flags_asked_for() {
    let Some(vm) = guest(&CRYPT) else { return };
    let rest = r#"
        "$IOTAX" compare -w randread-4k --dir /media/w --set size=8M --set read_percent=50 \
            --set verify=true --time 1s --ramp 0s --max-blocks 1 --out rec \
            'as-it-comes=file(size=16M) + dmcrypt + ext4' \
            'bypassed=file(size=16M) + dmcrypt(no_read_workqueue, no_write_workqueue) + ext4' \
            'luks=file(size=16M) + dmcrypt(format=luks2, sector_size=4096, same_cpu_crypt) + ext4' \
            'twice=file(size=16M) + dmcrypt(key_size=256) + dmcrypt(submit_from_crypt_cpus) + ext4' \
            >out &
        run=$!
        # All arms are up side by side until the run ends.
        while kill -0 $run 2>/dev/null; do
            dmsetup table >now 2>/dev/null
            [ "$(grep -c crypt now)" -lt 5 ] || mv now tables
            grep -lE '[0-9a-f]{64}' /proc/[0-9]*/cmdline 2>/dev/null || true
            sleep 0.1
        done
        wait $run
        sed -E 's/^iotax-[0-9a-f]{16}: //; s/ (0{32,}|:64:logon:[^ ]*) / KEY /; s/ [0-9]+:[0-9]+ / DEV /' \
            tables | sort
        left /media/w"#;
    let did = vm.run(&script(WORK, rest)).success();
    assert_snapshot!(did.stdout, @"
    0 32768 crypt aes-xts-plain64 KEY 0 DEV 0
    0 32768 crypt aes-xts-plain64 KEY 0 DEV 0
    0 32768 crypt aes-xts-plain64 KEY 0 DEV 0 1 submit_from_crypt_cpus
    0 32768 crypt aes-xts-plain64 KEY 0 DEV 0 2 no_read_workqueue no_write_workqueue
    0 32768 crypt aes-xts-plain64 KEY 0 DEV 32768 2 same_cpu_crypt sector_size:4096
    ");
    let trials = trials(&did, "rec");
    assert_eq!(trials.len(), 4);
    for trial in &trials {
        let job = &trial["load"]["jobs"][0];
        assert_eq!(job["verify_mismatches"], 0, "{trial}");
        assert!(job["write"]["ios"].as_u64().unwrap() > 50, "{trial}");
    }
}

#[test]
fn limits_of_version_2_hold_for_their_arm_and_a_lone_process_comes_back_to_its_group() {
    let Some(vm) = guest(&CRYPT) else { return };
    let rest = r#"
        mount -t cgroup2 none /sys/fs/cgroup
        lone() { (echo 0 >/sys/fs/cgroup/lone/cgroup.procs && exec "$@"); }
        compare() {
            lone "$IOTAX" compare -w randread-4k --dir /media/w --set size=8M --time 2s --ramp 1s \
                --max-blocks 2 --out rec 'free=file(size=16M) + ext4' \
                'limited=file(size=16M) + ext4 + cgroup-io(read_iops=200)'
        }
        mkdir /sys/fs/cgroup/lone
        compare || echo "[exit $?]"
        echo +io >/sys/fs/cgroup/cgroup.subtree_control
        compare >out
        cat /sys/fs/cgroup/lone/cgroup.procs
        left /media/w"#;
    let did = vm.run(&script(WORK, rest)).success();
    assert_snapshot!(did.stdout, @"[exit 3]");
    assert_snapshot!(did.stderr, @"error: arm limited: no cgroup has I/O limits (controller blkio of version 1, or io of version 2); with version 2: echo +io > /sys/fs/cgroup/cgroup.subtree_control; in a container: run with the host's cgroups");
    for trial in trials(&did, "rec") {
        let rate = reads_per_s(&trial);
        // The guest's clock ticks every 10 ms.
        let holds =
            if trial["arm"] == "free" { rate > 1000.0 } else { (190.0..=210.0).contains(&rate) };
        assert!(holds, "{rate} reads/s: {trial}");
    }
}

#[test]
fn every_arm_on_a_file_server_gets_the_options_asked_for_and_leaves_the_rest_alone() {
    let Some(vm) = guest(&NFS) else { return };
    let rest = r#"
        echo precious >/srv/nfs/export/precious
        rmdir /srv/nfs/export/lost+found 2>/dev/null || true
        sys='server=nfs.vm.test, export=/export, vers=4.1'
        "$IOTAX" compare -w randread-4k --set size=4M --set read_percent=50 --set verify=true \
            --time 500ms --ramp 0s --max-blocks 2 --out rec "sys=nfs($sys, sec=sys)" \
            "four=nfs($sys, nconnect=4)" \
            'krb5p=nfs(server=nfs.vm.test, export=/export, vers=4.2, sec=krb5p, rsize=32k)' >out &
        run=$!
        while kill -0 $run 2>/dev/null; do
            grep iotax /proc/mounts || true
            sleep 0.05
        done >mounts
        wait $run
        sed -E 's/.*(vers=[^,]*,rsize=[0-9]*).*proto=tcp(,nconnect=.)?.*(,sec=[^,]*).*/\1\2\3/' mounts | sort -u
        left /srv/nfs/export
        ls -A /srv/nfs/export

        echo "--- a mount that was there before"
        mkdir /media/n
        mount -t nfs4 -o vers=4.1,nconnect=2 nfs.vm.test:/export /media/n
        "$IOTAX" run randread-4k "nfs($sys)" --set size=4M || echo "[exit $?]"
        umount /media/n
        "$IOTAX" run randread-4k "nfs($sys, rsize=3000)" --set size=4M || echo "[exit $?]"

        echo "--- killed while another arm is driven"
        "$IOTAX" compare -w randread-4k --set size=4M --time 20s --ramp 0s "nfs=nfs($sys)" \
            'mem=mem(size=4M)' >/dev/null 2>&1 &
        run=$!
        until grep -q iotax /proc/mounts; do sleep 0.1; done
        while grep -q iotax /proc/mounts; do sleep 0.1; done
        kill -KILL $run
        wait $run 2>/dev/null || true
        ls -A /srv/nfs/export | wc -l
        "$IOTAX" undo | tail -n 1
        left /srv/nfs/export
        ls -A /srv/nfs/export"#;
    let did = vm.run(&script(include_str!("vm/nfs.sh"), rest)).success();
    assert_snapshot!(did.stdout, @"
    vers=4.1,rsize=65536,nconnect=4,sec=sys
    vers=4.1,rsize=65536,sec=sys
    vers=4.2,rsize=32768,sec=krb5p
    precious
    --- a mount that was there before
    [exit 3]
    [exit 3]
    --- killed while another arm is driven
    2
    3 things removed, nothing is left.
    precious
    ");
    assert_snapshot!(did.stderr, @"
    error: arm target: nfs was to have nconnect=1, but the kernel made it with nconnect=2; the client shares connections with a mount of the same server that was there before: unmount that, or ask for as many
    error: arm target: nfs was to have rsize=3000, but the kernel made it with rsize=2048; that is what client and server agreed on: ask for that
    ");
    for trial in trials(&did, "rec") {
        assert_eq!(trial["load"]["jobs"][0]["verify_mismatches"], 0, "{trial}");
    }
}
