//! What layers cost that only a virtual machine has for sure: dm-crypt, NFS with Kerberos, control
//! groups of version 2.

use std::fs;
use std::path::Path;
use std::time::Duration;

use iotax_vm::{NFS_SERVER, Vm, VmOutput};
use serde_json::Value;

use crate::vm;

const MIB: u64 = 1 << 20;
const TRACES: &str = include_str!("../vm/traces.sh");
const CRYPT: [&str; 3] = ["cryptsetup", "dmsetup", "mkfs.ext4"];
const NFS: [&str; 5] = ["rpc.nfsd", "mount.nfs", "krb5kdc", "kadmin.local", "dmsetup"];

/// One whose script measures times.
fn guest(disk_bytes: u64, programs: &[&str]) -> Option<Vm> {
    let vm = vm::guest(disk_bytes)?.with_programs(programs)?;
    Some(vm.alone().limit(Duration::from_mins(5)))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn verdict(result: &Value, metric: &str) -> String {
    let all = result["comparisons"].as_array().unwrap();
    let found = all.iter().find(|comparison| comparison["metric"] == metric).unwrap();
    found["verdict"].as_str().unwrap().to_owned()
}

/// Arm and reads per second of each trial.
fn rates(did: &VmOutput, record: &str) -> Vec<(String, f64)> {
    let text = did.text(&format!("{record}/trials.jsonl"));
    let trials = text.lines().map(json).filter(|line| line.get("arm").is_some());
    let rates: Vec<(String, f64)> = trials
        .map(|trial| {
            let load = &trial["load"];
            let reads = load["jobs"][0]["read"]["ios"].as_f64().unwrap();
            let seconds = load["window_ns"].as_f64().unwrap() / 1e9;
            (trial["arm"].as_str().unwrap().to_owned(), reads / seconds)
        })
        .collect();
    assert!(!rates.is_empty(), "{text}");
    rates
}

#[test]
fn past_the_work_queues_a_search_engine_reads_and_loads_faster_from_dm_crypt() {
    let Some(vm) = guest(1024 * MIB, &CRYPT) else { return };
    let vm = vm.memory(256 * MIB);
    let script = format!("{TRACES}\nBLOCKS=5\n{}", include_str!("../vm/work-queues.sh"));
    let compare = || {
        let did = vm.run(&script).success();
        let said = json(&did.text("compare.json"));
        (["throughput", "load_time"].map(|metric| verdict(&said, metric)), did)
    };
    let (mut verdicts, mut did) = compare();
    // Something else that begins or ends meanwhile makes noise of which nothing can be told.
    if verdicts.iter().any(|verdict| verdict == "undecided") {
        (verdicts, did) = compare();
    }
    assert_eq!(verdicts, ["faster", "faster"], "{did}");
    // How docs/examples/work-queues is made.
    if let Some(example) = std::env::var_os("IOTAX_TEST_EXAMPLE") {
        let keep = |from: &str, name| fs::copy(did.file(from), Path::new(&example).join(name));
        keep("record/report.html", "report.html").unwrap();
        keep("compare.txt", "summary.txt").unwrap();
    }
}

#[test]
fn a_directory_on_dm_crypt_is_read_at_more_than_a_hundred_per_second() {
    let Some(vm) = guest(256 * MIB, &CRYPT) else { return };
    let script = r#"
        modprobe -a dm-crypt xts
        head -c 64 /dev/urandom >/run/theirs
        cryptsetup open --batch-mode --type plain --cipher aes-xts-plain64 --key-size 512 \
            --key-file /run/theirs "$DISK" theirs
        mkfs.ext4 -q /dev/mapper/theirs
        mount /dev/mapper/theirs /mnt
        "$IOTAX" run randread-4k /mnt --set size=8M --time 300ms --ramp 0s --out theirs"#;
    let did = vm.run(&format!("{TRACES}\n{script}")).success();
    let rates = rates(&did, "theirs");
    assert!(rates[0].1 > 100.0, "{rates:?}");
}

#[test]
fn limits_of_version_2_hold_for_their_arm() {
    let Some(vm) = guest(256 * MIB, &CRYPT) else { return };
    let script = r#"
        mkfs.ext4 -q -F "$DISK"
        mount "$DISK" /mnt
        mount -t cgroup2 none /sys/fs/cgroup
        mkdir /sys/fs/cgroup/lone
        echo +io >/sys/fs/cgroup/cgroup.subtree_control
        echo 0 >/sys/fs/cgroup/lone/cgroup.procs
        "$IOTAX" compare -w randread-4k --dir /mnt --set size=8M --time 2s --ramp 1s \
            --max-blocks 2 --out rec 'free=file(size=16M) + ext4' \
            'limited=file(size=16M) + ext4 + cgroup-io(read_iops=50)'"#;
    let did = vm.run(&format!("{TRACES}\n{script}")).success();
    for (arm, rate) in rates(&did, "rec") {
        // The guest's clock ticks every 10 ms, and the guest may be slow.
        let holds = if arm == "free" { rate > 100.0 } else { (30.0..=55.0).contains(&rate) };
        assert!(holds, "{arm}: {rate} reads/s");
    }
}

#[test]
fn encryption_by_kerberos_never_looks_free() {
    let Some(vm) = guest(256 * MIB, &NFS) else { return };
    let script = r#"
        server='server=127.0.0.1, export=/export'
        "$IOTAX" compare -w randread-4k --set size=4M --time 1s --ramp 200ms --quick \
            --max-blocks 3 --format json "sys=nfs($server, sec=sys)" \
            "krb5p=nfs($server, sec=krb5p)" >kerberos.json"#;
    let did = vm.run(&format!("{TRACES}\n{NFS_SERVER}\n{script}")).success();
    let said = json(&did.text("kerberos.json"));
    assert_eq!(said["comparisons"][0]["metric"], "throughput");
    // Three blocks may not decide it.
    let verdict = verdict(&said, "throughput");
    assert!(["slower", "undecided"].contains(&verdict.as_str()), "{verdict}: {did}");
}

/// The matrix of the paper in small: four security modes, one connection or four, three workloads,
/// two levels of load. How docs/examples/nfs-matrix is made.
#[test]
fn the_matrix_of_kerberos_is_one_command() {
    let Some(vm) = guest(1024 * MIB, &NFS) else { return };
    let vm = vm.memory(768 * MIB).limit(Duration::from_mins(30));
    let script = r#"
        mkdir /media/n
        mount -t nfs4 -o vers=4.1,sec=krb5,nconnect=4 nfs.vm.test:/export /media/n
        "$IOTAX" doctor --no-metadata /media/n >doctor.txt
        umount /media/n
        "$IOTAX" compare nfs-kerberos nfs.vm.test:/export --matrix sec=sys,krb5,krb5i,krb5p \
            --matrix nconnect=1,4 --scale 0.005 --time 1s --ramp 200ms --max-blocks 6 \
            --out record >summary.txt
        "$IOTAX" report --format json record >compare.json"#;
    let did = vm.run(&format!("{TRACES}\n{NFS_SERVER}\n{script}")).success();
    assert!(did.text("doctor.txt").contains("NFS with Kerberos and nconnect"), "{did}");
    let said = json(&did.text("compare.json"));
    let phases = said["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 6);
    for phase in phases {
        assert_eq!(phase["arms"].as_array().unwrap().len(), 8);
    }
    // Encryption is what this guest's one CPU feels most.
    let large = phases.iter().find(|phase| phase["workload"] == "sequential load=high").unwrap();
    let effects = large["matrix"]["effects"].as_array().unwrap();
    let privacy = effects.iter().find(|effect| effect["setting"]["level"] == "krb5p").unwrap();
    assert_eq!(privacy["comparison"]["verdict"], "slower", "{did}");
    if let Some(example) = std::env::var_os("IOTAX_TEST_EXAMPLE") {
        let keep = |from: &str, name| fs::copy(did.file(from), Path::new(&example).join(name));
        for name in ["doctor.txt", "summary.txt"] {
            keep(name, name).unwrap();
        }
    }
}
