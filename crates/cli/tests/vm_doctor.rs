//! What is seen of real layers: NFS with Kerberos, dm-crypt, an overlay, control groups of version
//! 2. Skipped loudly where there is no virtual machine.
#![allow(clippy::unwrap_used, reason = "tests")]

mod vm;

use std::path::Path;
use std::time::Duration;

use iotax_record::Machine;
use iotax_record::machine::{DeviceKind, Node, SeenLayer};
use iotax_vm::NFS_SERVER;
use serde_json::Value;

const PROGRAMS: [&str; 7] =
    ["rpc.nfsd", "mount.nfs", "krb5kdc", "kadmin.local", "cryptsetup", "dmsetup", "ip"];

/// A layer in few words.
fn word(node: &Node) -> String {
    match &node.layer {
        SeenLayer::Mount(mount) => format!("{} on {}", mount.file_system, mount.mount_point),
        SeenLayer::Device(device) => device.name.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn layers_are_seen_with_all_that_the_kernel_tells_of_them_but_no_key() {
    let vm = vm::guest(256 << 20).and_then(|vm| vm.with_programs(&PROGRAMS));
    let Some(vm) = vm else { return };
    let script = format!("{NFS_SERVER}\n{}", include_str!("vm/doctor.sh"));
    let did = vm.limit(Duration::from_mins(30)).run(&script).success();
    let machine = Machine::read(&did.file("root.json")).unwrap();
    assert_stacks(&machine);
    assert_nfs(&machine);
    assert_limits(&machine);

    let said: Value = serde_json::from_str(&did.text("nobody.json")).unwrap();
    let unseen: Vec<_> = said["hosts"][0]["unseen"].as_array().unwrap().iter().collect();
    let hows: Vec<_> = unseen.iter().filter_map(|unseen| unseen["how"].as_str()).collect();
    assert_eq!(hows, ["as root: dmsetup table whole", "as root: dmsetup table crypt"]);

    let key = "3030303030303030";
    assert!(did.text("tables").contains(key), "{}", did.text("tables"));
    for file in ["root.json", "nobody.json", "stdout"] {
        assert!(!did.text(file).contains(key), "{file}");
    }
}

fn assert_stacks(machine: &Machine) {
    let under = |path: usize| machine.under(&machine.paths[path]).into_iter().map(word).collect();
    let stacks: [Vec<String>; 3] = [under(0), under(1), under(2)];
    assert_eq!(stacks[0], ["nfs4 on /media/n"]);
    assert_eq!(stacks[1], ["ext4 on /media/c", "dm-1", "dm-0", "loop0", "tmpfs on /run"]);
    // Its directories are named as they were before it became the root.
    assert_eq!(stacks[2], ["overlay on /"]);
    let [whole, crypt] = ["dm-1", "dm-0"].map(|name| {
        let device = machine.devices().find(|device| device.name == name).unwrap();
        assert_eq!(device.kind, DeviceKind::Mapped);
        device.mapping.clone().unwrap()
    });
    assert_eq!(whole.targets.unwrap()[0].kind, "linear");
    let target = crypt.targets.as_ref().unwrap()[0].clone();
    assert!(target.version.unwrap().starts_with("1."));
    let crypt = target.crypt.unwrap();
    assert_eq!((crypt.cipher.as_str(), crypt.sector_bytes), ("aes-xts-plain64", 4096));
    assert_eq!(crypt.flags, ["allow_discards", "no_read_workqueue"]);
    let ext4 = machine.mounts().find(|mount| mount.file_system == "ext4").unwrap();
    assert!(ext4.option("noatime").is_some(), "{ext4:?}");
    for feature in ["has_journal", "quota"] {
        assert!(ext4.features.iter().any(|name| name == feature), "{ext4:?}");
    }
    let looped = machine.devices().find(|device| device.kind == DeviceKind::Loop).unwrap();
    assert_eq!(looped.loop_file.as_ref().unwrap().path, "/run/image");
}

fn assert_nfs(machine: &Machine) {
    let mount = machine.mounts().find(|mount| mount.file_system == "nfs4").unwrap();
    assert!(mount.read_ahead_bytes.is_some(), "{mount:?}");
    let nfs = mount.nfs.as_ref().unwrap();
    assert_eq!((nfs.option("sec"), nfs.option("nconnect")), (Some("krb5p"), Some("2")));
    assert_eq!(nfs.transports.len(), 2);
    assert!(nfs.transports.iter().all(|connection| connection.most_slots > Some(0)), "{nfs:?}");
    assert!(nfs.operations > 0 && nfs.transmissions >= nfs.operations, "{nfs:?}");
    let network = nfs.network.as_ref().unwrap();
    assert_eq!((network.server.as_str(), network.interface.as_str()), ("127.0.0.1", "lo"));
    assert_eq!((network.mtu_bytes, network.ipsec), (Some(65536), Some(false)));
}

fn assert_limits(machine: &Machine) {
    let [io] = machine.groups.io.as_slice() else { panic!("{:?}", machine.groups) };
    assert_eq!((io.group.as_str(), io.path.as_str()), ("/lone", "/media/c"));
    assert_eq!((io.read_iops, io.write_iops), (Some(1000.0), None));
    assert_eq!(Path::new(&io.file), Path::new("/sys/fs/cgroup/lone/io.max"));
    let memory = machine.groups.memory.as_ref().unwrap();
    assert_eq!((memory.group.as_str(), memory.max_bytes), ("/lone", Some(300 << 20)));
    assert!(memory.current_bytes.unwrap() > 0 && memory.page_cache_bytes.is_some(), "{memory:?}");
}
