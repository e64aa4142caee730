//! Layers made by iotax on a kernel that has them all: device mapper's encryption, control groups
//! of version 2, file servers. Skipped loudly where there is no virtual machine.
#![allow(clippy::unwrap_used, reason = "tests")]

mod vm;

use std::time::Duration;

use insta::assert_snapshot;
use iotax_vm::{NFS_SERVER, Vm, VmOutput};
use serde_json::Value;

const MIB: u64 = 1 << 20;
const TRACES: &str = include_str!("vm/traces.sh");
const CRYPT: [&str; 3] = ["cryptsetup", "dmsetup", "mkfs.ext4"];
const PATHS: [&str; 4] = ["dmsetup", "ip", "nsenter", "tc"];
const NFS: [&str; 5] = ["rpc.nfsd", "mount.nfs", "krb5kdc", "kadmin.local", "dmsetup"];

/// A working directory on the guest's disk.
const WORK: &str = r#"
    mkfs.ext4 -q -F "$DISK"
    mount "$DISK" /mnt"#;

fn guest(programs: &[&str]) -> Option<Vm> {
    let vm = vm::guest(256 * MIB).and_then(|vm| vm.with_programs(programs))?;
    // Against hanging only: beside other work a guest takes several times as long.
    Some(vm.limit(Duration::from_mins(30)))
}

fn script(set_up: &str, rest: &str) -> String {
    format!("{TRACES}\n{set_up}\n{rest}")
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

/// Checks that of so many trials all read and wrote, and read what they had written.
fn assert_verified(trials: &[Value], number: usize) {
    assert_eq!(trials.len(), number);
    for trial in trials {
        let job = &trial["load"]["jobs"][0];
        assert_eq!(job["verify_mismatches"], 0, "{trial}");
        assert!(job["write"]["ios"].as_u64().unwrap() > 50, "{trial}");
    }
}

#[test]
fn data_go_unharmed_through_every_kind_of_dm_crypt_with_the_options_asked_for() {
    let Some(vm) = guest(&CRYPT) else { return };
    let did = vm.run(&format!("{TRACES}\n{}", include_str!("vm/dm-crypt.sh"))).success();
    assert_snapshot!(did.stdout, @"
    the disk below a mapping:
    error: arm target: /dev/ubda: is part of dm-0; name another device
    the mapping, which has a file system:
    error: arm target: /dev/mapper/theirs: contains a file system (ext4), UUID 00000000-0000-4000-8000-000000000000; name another device, or, if you do not need the data, wipe this one yourself (wipefs --all /dev/mapper/theirs)
    the mapping, mounted:
    error: 2 targets cannot be used:
      arm target: /dev/mapper/theirs: is mounted at /mnt; name another device
      arm target: /dev/mapper/theirs: contains a file system (ext4), UUID 00000000-0000-4000-8000-000000000000; name another device, or, if you do not need the data, wipe this one yourself (wipefs --all /dev/mapper/theirs)
    plain:
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 0
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 0
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 0 1 no_read_workqueue
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 0 1 no_write_workqueue
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 0 1 same_cpu_crypt
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 0 1 sector_size:4096
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 0 1 submit_from_crypt_cpus
    0 16384 crypt aes-xts-plain64 KEY 0 MAPPING 0 1 no_read_workqueue
    luks2:
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 32768
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 32768
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 32768 1 no_read_workqueue
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 32768 1 no_write_workqueue
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 32768 1 same_cpu_crypt
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 32768 1 sector_size:4096
    0 16384 crypt aes-xts-plain64 KEY 0 LOOP 32768 1 submit_from_crypt_cpus
    0 16384 crypt aes-xts-plain64 KEY 0 MAPPING 0 1 no_read_workqueue
    cryptsetup was given 23 keys
    removed the device mapping iotax-RANDOM
    removed the loop device /dev/loopN
    removed /var/lib/iotax/run/.iotax-RANDOM
    removed the mount at /var/lib/iotax/run/.iotax-RANDOM/disk
    removed /var/lib/iotax/run/.iotax-RANDOM
    removed /mnt/fast/.iotax-RANDOM
    6 items removed; nothing is left.
    removed the mount at /var/lib/iotax/run/.iotax-RANDOM/ext4-1
    removed the device mapping iotax-RANDOM
    removed /var/lib/iotax/run/.iotax-RANDOM
    removed the signatures on /dev/mapper/blank
    4 items removed; nothing is left.
    ");
    assert_eq!(trials(&did, "theirs").len(), 1);
    for format in ["plain", "luks2"] {
        assert_verified(&trials(&did, format), 7);
    }
    assert_undone(&did);
}

#[test]
fn limits_of_version_2_hold_for_their_arm_and_a_lone_process_comes_back_to_its_group() {
    let Some(vm) = guest(&CRYPT) else { return };
    let rest = r#"
        mount -t cgroup2 none /sys/fs/cgroup
        lone() { (echo 0 >/sys/fs/cgroup/lone/cgroup.procs && exec "$@"); }
        compare() {
            lone "$IOTAX" compare -w randread-4k --dir /mnt --set size=8M --time 2s --ramp 1s \
                --max-blocks 2 --out rec 'free=file(size=16M) + ext4' \
                'limited=file(size=16M) + ext4 + cgroup-io(read_iops=50)'
        }
        mkdir /sys/fs/cgroup/lone
        traces /mnt >/run/before
        compare || echo "[exit $?]"
        echo +io >/sys/fs/cgroup/cgroup.subtree_control
        compare >out
        cat /sys/fs/cgroup/lone/cgroup.procs
        nothing_left /run/before /mnt
        echo "--- killed in the group with limits"
        printf '%s\n' '#!/bin/bash' 'echo $$ >/sys/fs/cgroup/lone/cgroup.procs && exec "$@"' >/run/lone
        chmod +x /run/lone
        start /run/lone "$IOTAX" run randread-4k 'file(size=16M) + ext4 + cgroup-io(read_iops=50)' \
            --dir /mnt --set size=8M --time 60s --out killed
        is_limited() { grep -qsx $pid /sys/fs/cgroup/iotax-*/cgroup.procs; }
        until_up $pid is_limited
        undo_killed /run/before /mnt
        cat /sys/fs/cgroup/lone/cgroup.procs"#;
    let did = vm.alone().run(&script(WORK, rest)).success();
    assert_snapshot!(did.stdout, @"
    [exit 3]
    --- killed in the group with limits
    removed the process sleep
    removed the cgroup /sys/fs/cgroup/iotax-RANDOM
    removed the mount at /var/lib/iotax/run/.iotax-RANDOM/ext4-1
    removed the loop device /dev/loopN
    removed /var/lib/iotax/run/.iotax-RANDOM
    removed the mount at /var/lib/iotax/run/.iotax-RANDOM/disk
    removed /var/lib/iotax/run/.iotax-RANDOM
    removed /mnt/.iotax-RANDOM
    8 items removed; nothing is left.
    ");
    assert_snapshot!(did.stderr, @"error: arm limited: I/O limits for cgroups are not available here: neither the controller blkio (cgroup version 1) nor the controller io (version 2) is enabled; for version 2, run echo +io > /sys/fs/cgroup/cgroup.subtree_control; in a container, use the host's cgroups");
    assert_eq!(trials(&did, "rec").len(), 4);
}

#[test]
fn every_arm_on_a_file_server_gets_the_options_asked_for_and_leaves_the_rest_alone() {
    let Some(vm) = guest(&NFS) else { return };
    let rest = include_str!("vm/nfs-arms.sh");
    let did = vm.run(&script(NFS_SERVER, rest)).success();
    assert_snapshot!(did.stdout, @"
    vers=3,rsize=65536,sec=krb5i
    vers=4.1,rsize=65536,nconnect=4,sec=sys
    vers=4.1,rsize=65536,sec=krb5
    vers=4.1,rsize=65536,sec=krb5i
    vers=4.1,rsize=65536,sec=krb5p
    vers=4.1,rsize=65536,sec=sys
    vers=4.2,rsize=32768,sec=krb5p
    --- without protection, and encrypted
    --- a mount that was there before
    error: arm target: nfs: nconnect=1 was requested, but the kernel reports nconnect=2; this mount shares its connections with an earlier mount from the same server: unmount the earlier one, or use the same nconnect value
    [exit 3]
    --- less than was asked for
    --- killed while another arm is driven
    removed /var/lib/iotax/run/.iotax-RANDOM/nfs-1/.iotax-RANDOM
    removed the mount at /var/lib/iotax/run/.iotax-RANDOM/nfs-1
    removed /var/lib/iotax/run/.iotax-RANDOM
    3 items removed; nothing is left.
    --- killed at any time
    precious
    ");
    assert_verified(&trials(&did, "options"), 7);
    let less = did.text("less.json");
    assert!(less.contains("rsize: requested 1048576 bytes, granted 65536"), "{less}");
    let said: Value = serde_json::from_str(&did.text("kerberos.json")).unwrap();
    assert_eq!(said["comparisons"][0]["metric"], "throughput");
    assert_undone(&did);
}

#[test]
fn network_layers_that_few_kernels_have_carry_load_hide_their_keys_and_go_when_killed() {
    let Some(vm) = guest(&PATHS) else { return };
    let did = vm.run(&format!("{TRACES}\n{}", include_str!("vm/network.sh"))).success();
    assert_snapshot!(did.stdout, @"
    lo 127.0.0.1/8
    eth0 198.18.0.2/24
    macsec1 198.18.1.2/24
    geneve2 198.18.2.2/24
    qdisc netem 1: root refcnt 2 limit 1000000 loss 1%
    qdisc tbf 2: parent 1:1 rate 1Gbit burst 250000b lat 50ms
    cipher suite: GCM-AES-128, using ICV length 16
    src 198.18.2.2 dst 198.18.2.1
    	proto esp spi 0x00000107 reqid 7 mode transport
    	aead rfc4106(gcm(aes)) KEY 128
    src 198.18.2.1 dst 198.18.2.2
    	proto esp spi 0x00000106 reqid 6 mode transport
    	aead rfc4106(gcm(aes)) KEY 128
    src 198.18.1.2 dst 198.18.1.1
    	proto esp spi 0x00000105 reqid 5 mode transport
    	aead rfc4106(gcm(aes)) KEY 128
    src 198.18.1.1 dst 198.18.1.2
    	proto esp spi 0x00000104 reqid 4 mode transport
    	aead rfc4106(gcm(aes)) KEY 128
    removed /var/lib/iotax/run/.iotax-RANDOM
    1 item removed; nothing is left.
    ip was given 6 keys
    ");
    for record in ["few", "all"] {
        let trial = &trials(&did, record)[0];
        let read = &trial["load"]["jobs"][0]["read"];
        assert_eq!(read["ios"], 20, "{record}: {read}");
    }
}

/// Checks that a kill hit a run with something up.
fn assert_undone(did: &VmOutput) {
    let undone: u32 = did.text("undone").trim().parse().unwrap();
    assert!(undone > 0, "no kill hit a run with something up: {did}");
}
