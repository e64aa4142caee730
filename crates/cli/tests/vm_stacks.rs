//! What is seen, found and said of real RAIDs, of a file system without rules, and of NFS through a
//! process of this machine. Skipped loudly where there is no virtual machine.
#![allow(clippy::unwrap_used, reason = "tests")]

mod vm;

use std::time::Duration;

use iotax_record::Machine;
use iotax_record::machine::DeviceKind;
use iotax_vm::NFS_SERVER;

const PROGRAMS: [&str; 9] = [
    "rpc.nfsd", "mount.nfs", "krb5kdc", "kadmin.local", "dmsetup", "ip", "losetup", "mkfs.minix",
    "python3",
];

#[test]
fn raids_a_file_system_without_rules_and_a_proxy_are_told_apart() {
    let vm = vm::guest(256 << 20).and_then(|vm| vm.with_programs(&PROGRAMS));
    let Some(vm) = vm else { return };
    let script = format!("{NFS_SERVER}\n{}", include_str!("vm/stacks.sh"));
    let did = vm.limit(Duration::from_mins(30)).run(&script).success();
    let machine = Machine::read(&did.file("root.json")).unwrap();
    assert_raid(&machine);
    assert_proxy(&machine);
    let text = did.text("text").split_whitespace().collect::<Vec<_>>().join(" ");
    for heading in [
        "Likely: Parity RAID: a small write reads and writes several members, and a flush waits for all",
        "Likely: NFS through a process on this machine (efs-proxy, stunnel) (/media/p",
    ] {
        assert!(text.contains(heading), "{heading}: {text}");
    }
    assert!(text.contains("/media/minix (minix): iotax has no rules for minix"), "{text}");
}

fn assert_raid(machine: &Machine) {
    let raid = machine.devices().find(|device| device.kind == DeviceKind::Raid).unwrap();
    assert_eq!((raid.raid_level.as_deref(), raid.stripe_bytes), (Some("raid5"), Some(65536)));
    let state = raid.raid.as_ref().unwrap();
    assert_eq!((state.members, state.missing), (Some(3), Some(0)), "{state:?}");
    assert!(state.stripe_cache.is_some() && state.action.is_some(), "{state:?}");
    let legs = machine.devices().find(|device| device.kind == DeviceKind::Mapped).unwrap();
    let target = &legs.mapping.as_ref().unwrap().targets.as_ref().unwrap()[0];
    assert_eq!(target.kind, "raid");
    assert!(target.parameters.starts_with("raid5_ls 3 128"), "{target:?}");
}

fn assert_proxy(machine: &Machine) {
    let mount = machine.mounts().find(|mount| mount.file_system == "nfs4").unwrap();
    let way = mount.nfs.as_ref().unwrap().network.as_ref().unwrap();
    let listener = way.listener.as_ref().unwrap();
    assert!(listener.program.starts_with("python"), "{listener:?}");
    assert!(listener.threads >= Some(3) && listener.age_ms > Some(0), "{listener:?}");
}
