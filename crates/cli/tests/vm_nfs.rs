//! What Kerberos costs on NFS, what the server granted, and what keeps Kerberos from being used: in
//! a guest that is KDC, server and client. Skipped loudly where there is no virtual machine.
#![allow(clippy::unwrap_used, reason = "tests")]

mod vm;

use std::collections::BTreeSet;
use std::time::Duration;

use iotax_vm::{NFS_SERVER, VmOutput};
use serde_json::Value;

const TRACES: &str = include_str!("vm/traces.sh");
const PROGRAMS: [&str; 7] =
    ["rpc.nfsd", "rpcbind", "mount.nfs", "krb5kdc", "kadmin.local", "kinit", "dmsetup"];

fn json(did: &VmOutput, name: &str) -> Value {
    let text = did.text(name);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

#[test]
fn kerberos_is_measured_in_one_command_found_on_a_mount_and_refused_where_it_cannot_be_had() {
    let vm = vm::guest(256 << 20).and_then(|vm| vm.with_programs(&PROGRAMS));
    let Some(vm) = vm else { return };
    let script = format!("{TRACES}\n{NFS_SERVER}\n{}", include_str!("vm/nfs-kerberos.sh"));
    let did = vm.limit(Duration::from_mins(30)).run(&script).success();
    insta::assert_snapshot!(did.stdout, @"
    --- TLS
    error: arm target: the kernel version is 6.1, but NFS over TLS (xprtsec) needs 6.5 or newer; use a newer kernel, sec=krb5p, or a tunnel (WireGuard) below the mount
    [exit 3]
    --- no principal of the server
    error: arm target: Kerberos reports an error: kvno: Server nfs/other.vm.test@VM.TEST not found in Kerberos database while getting credentials for nfs/other.vm.test@VM.TEST; the KDC has no principal nfs/other.vm.test; create it (kadmin: addprinc -randkey nfs/other.vm.test) and add its key on the server (kadmin: ktadd nfs/other.vm.test), or use the server name from an existing principal
    [exit 3]
    --- no name of the server
    error: arm target: 127.0.0.2 has no host name, but Kerberos identifies servers by name; use the server's NAME from its principal nfs/NAME, or add a name for the address to /etc/hosts
    [exit 3]
    --- no keytab
    error: arm target: there is neither a keytab (/etc/krb5.keytab) nor a ticket for root; join the realm (realm join, ipa-client-install), or add this machine's key (kadmin: ktadd host/THIS-HOST); with rpc.gssd -n, a ticket (kinit) is enough
    [exit 3]
    --- no principal of this machine
    error: arm target: FILE:/etc/krb5.keytab contains no principal that rpc.gssd uses for mounts (principals found: HTTP/nfs.vm.test@VM.TEST); add one of THIS-HOST$, root/THIS-HOST, nfs/THIS-HOST or host/THIS-HOST (kadmin: ktadd host/THIS-HOST)
    [exit 3]
    --- keys that the kernel cannot use
    error: arm target: host/nfs.vm.test@VM.TEST has only keys of type aes256-cts-hmac-sha384-192, which the NFS client in Linux 6.1 does not support; create a key of type aes256-cts-hmac-sha1-96 (kadmin: ktadd -e aes256-cts-hmac-sha1-96:normal)
    [exit 3]
    --- an old key
    error: arm target: Kerberos reports an error: kinit: Password incorrect while getting initial credentials; the key in the keytab is older than the KDC's; get the key again (kadmin: ktadd, or realm join)
    [exit 3]
    --- neither KDC nor rpc.gssd
    error: 2 targets cannot be used:
      arm target: Kerberos reports an error: kinit: Cannot contact any KDC for realm 'VM.TEST' while getting initial credentials; check that the KDC is running and that port 88 is open
      arm target: rpc.gssd, which obtains the tickets for Kerberos mounts, is not running; install the package nfs-common, and start rpc.gssd (systemctl start rpc-gssd)
    [exit 3]
    ");
    assert_suite(&json(&did, "suite.json"));
    let told = did.text("suite.txt");
    assert!(told.contains("Negotiated NFS options") && told.contains("sec=krb5p"), "{told}");
    let findings = json(&did, "doctor.json")["hosts"][0]["findings"].clone();
    let causes: Vec<&str> =
        findings.as_array().unwrap().iter().filter_map(|f| f["cause"].as_str()).collect();
    assert!(causes.contains(&"nfs-gss-window"), "{causes:?}");
    let lost = &json(&did, "lost.json")["iotax"]["arms"][0]["counters"]["nfs_client"];
    assert!(lost["credentials_again"].as_f64().unwrap() >= 1.0, "{lost}");
}

/// Every arm with what it was granted, calls over all of its connections, and every level with what
/// it changed.
fn assert_suite(suite: &Value) {
    let phases = suite["phases"].as_array().unwrap();
    let names: Vec<&str> = phases.iter().map(|phase| phase["workload"].as_str().unwrap()).collect();
    let kinds = ["random", "sequential", "git-checkout"];
    let of_level = |load: &str| kinds.map(|kind| format!("{kind} load={load}"));
    assert_eq!(names, [of_level("low"), of_level("high")].concat());
    let mut seen = BTreeSet::new();
    for phase in phases {
        let arms = phase["arms"].as_array().unwrap();
        assert_eq!(arms.len(), 4);
        for arm in arms {
            let name = arm["name"].as_str().unwrap();
            // Of so short a window a guest beside others may see nothing, or too little.
            let Some(mount) = arm["counters"]["nfs_mounts"].get(0) else { continue };
            let (sec, nconnect) = name.split_once('/').unwrap();
            assert_eq!(mount["granted"]["sec"], sec, "{arm}");
            assert_eq!(mount["granted"]["rsize_bytes"], 65536, "{arm}");
            let transports = mount["transports"].as_array().unwrap();
            assert_eq!(transports.len().to_string(), nconnect, "{arm}");
            if transports.iter().all(|one| one["sends_per_s"].as_f64() > Some(0.0)) {
                seen.insert(name);
            }
        }
        let shifts = phase["matrix"]["shifts"].as_array().unwrap();
        let settings: Vec<&str> =
            shifts.iter().map(|shift| shift["setting"]["level"].as_str().unwrap()).collect();
        assert_eq!(settings, ["krb5p", "4"]);
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}
