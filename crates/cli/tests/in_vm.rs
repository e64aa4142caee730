//! iotax on layers that only a virtual machine has for sure. Skipped loudly where there is none.
#![allow(clippy::unwrap_used, reason = "tests")]

mod vm;

use std::fs;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::Value;
use vm::{Vm, VmOutput};

const MIB: u64 = 1 << 20;
const CRYPT: [(&str, &str); 3] =
    [("cryptsetup", "cryptsetup-bin"), ("dmsetup", "dmsetup"), ("mkfs.ext4", "e2fsprogs")];
const NFS: [(&str, &str); 4] = [
    ("rpc.nfsd", "nfs-kernel-server"),
    ("mount.nfs4", "nfs-common"),
    ("krb5kdc", "krb5-kdc"),
    ("kadmin.local", "krb5-admin-server"),
];

/// Checks that a `run` with `--format json` into this file measured without an error.
fn assert_measured(did: &VmOutput, file: &str) {
    let text = did.text(file);
    let said: Value = serde_json::from_str(&text).unwrap();
    let job = &said["jobs"][0];
    assert_eq!(job["error"], 0, "{text}");
    assert!(job["read"]["total_ios"].as_u64().unwrap() > 100, "{text}");
}

#[test]
fn a_directory_on_dm_crypt_is_measured_with_and_without_work_queues() {
    let Some(vm) = Vm::new(256 * MIB).and_then(|vm| vm.with_programs(&CRYPT)) else { return };
    let did = vm.run(include_str!("vm/dm-crypt.sh")).success();
    assert_snapshot!(did.stdout, @r"
    default: 0 524288 crypt aes-xts-plain64 KEY 0 98:0 0
    lost+found
    bypassed: 0 524288 crypt aes-xts-plain64 KEY 0 98:0 0 2 no_read_workqueue no_write_workqueue
    lost+found
    ");
    for name in ["default", "bypassed"] {
        assert_measured(&did, &format!("{name}.json"));
    }
}

#[test]
fn past_the_work_queues_a_search_engine_reads_and_loads_faster_from_dm_crypt() {
    let Some(vm) = Vm::new(1024 * MIB).and_then(|vm| vm.with_programs(&CRYPT)) else { return };
    let vm = vm.memory(256 * MIB).limit(Duration::from_mins(5));
    let script = format!("BLOCKS=5\n{}", include_str!("vm/work-queues.sh"));
    let did = vm.run(&script).success();
    assert_snapshot!(did.stdout, @r"
    bypassed: 0 1048576 crypt aes-xts-plain64 KEY 0 98:0 1048576 2 no_read_workqueue no_write_workqueue
    default: 0 1048576 crypt aes-xts-plain64 KEY 0 98:0 0
    ");
    let said: Value = serde_json::from_str(&did.text("compare.json")).unwrap();
    for metric in ["throughput", "load_time"] {
        let all = said["comparisons"].as_array().unwrap();
        let found = all.iter().find(|comparison| comparison["metric"] == metric).unwrap();
        assert_eq!(found["verdict"], "faster", "{metric}: {did}");
    }
}

#[test]
fn a_directory_on_nfs_is_measured_with_every_kind_of_kerberos() {
    let Some(vm) = Vm::new(128 * MIB).and_then(|vm| vm.with_programs(&NFS)) else { return };
    let measure = r#"
        mkdir /media/n
        for sec in sys krb5 krb5i krb5p; do
            timeout 40 mount -t nfs4 -o vers=4.1,sec=$sec 127.0.0.1:/export /media/n
            grep -o "nfs4.*sec=[a-z0-9]*" /proc/mounts | sed 's/ .*,/ /'
            "$IOTAX" run randread-4k /media/n --set size=16M --time 1s --ramp 0s -n 1 \
                --format json --out $sec >$sec.json
            umount /media/n
        done
        ls -A /srv/nfs/export"#;
    let did = vm.run(&format!("{}{measure}", include_str!("vm/nfs.sh"))).success();
    assert_snapshot!(did.stdout, @r"
    nfs4 sec=sys
    nfs4 sec=krb5
    nfs4 sec=krb5i
    nfs4 sec=krb5p
    ");
    for sec in ["sys", "krb5", "krb5i", "krb5p"] {
        assert_measured(&did, &format!("{sec}.json"));
    }
}

#[test]
fn a_hung_script_is_ended_and_what_it_wrote_kept() {
    let Some(vm) = Vm::new(MIB) else { return };
    let did = vm.limit(Duration::from_secs(1)).run("echo before; sleep 100 & sleep 100");
    assert_eq!((did.status, did.stdout.as_str()), (124, "before\n"), "{did}");
}

#[test]
fn the_guest_writes_nowhere_but_into_its_share() {
    let Some(vm) = Vm::new(MIB) else { return };
    let mark = format!("/usr/iotax-vm-test-{}", std::process::id());
    let did = vm.run(&format!("echo guest >{mark} && cp {mark} kept; exit 3"));
    assert_eq!((did.status, did.text("kept").as_str()), (3, "guest\n"), "{did}");
    assert!(fs::metadata(&mark).is_err(), "{mark} came through");
}

#[test]
fn a_guest_that_dies_shows_its_console() {
    let Some(vm) = Vm::new(MIB) else { return };
    let Err(console) = vm.try_run("echo c >/proc/sysrq-trigger; sleep 100") else {
        panic!("it lived")
    };
    assert!(console.contains("Kernel panic"), "{console}");
}
