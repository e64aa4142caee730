//! Inspects this machine as it is.

use iotax_record::machine::{DeviceKind, MountSeen};

use super::*;

fn quick() -> ProbeOptions {
    ProbeOptions { metadata: None, ..ProbeOptions::default() }
}

fn mount_of(machine: &Machine, path: usize) -> &MountSeen {
    machine.nodes[machine.paths[path].top.unwrap()].layer.mount().expect("a mount")
}

#[test]
fn the_root_is_a_mount_and_has_a_disk_at_its_bottom_where_it_lies_on_one() {
    let machine = machine(&[Path::new("/")], &[], &quick());
    assert_eq!(machine.format, MACHINE_FORMAT);
    assert_eq!(mount_of(&machine, 0).mount_point, "/");
    let under = machine.under(&machine.paths[0]);
    let bottoms = under.iter().filter(|node| node.below.is_empty());
    for bottom in bottoms {
        match &bottom.layer {
            SeenLayer::Device(device) => {
                assert!(matches!(device.kind, DeviceKind::Disk | DeviceKind::Memory), "{device:?}");
                assert!(device.size_bytes > 0 && device.queue.logical_block_bytes.is_some());
            }
            SeenLayer::Route(_) | SeenLayer::Interface(_) => panic!("{bottom:?}"),
            // In a container the disk may be the host's.
            SeenLayer::Mount(mount) => assert!(!mount.source.starts_with("/dev/"), "{mount:?}"),
        }
    }
    assert!(machine.memory.available_bytes.is_some());
    assert!(machine.taken.parse::<jiff::Timestamp>().is_ok());
}

#[test]
fn places_of_every_kind_are_looked_at_and_a_missing_one_is_a_problem() {
    let paths = ["/proc/self", "/sys", "/dev/null", "/dev/shm", "/no/such/place", ""];
    let paths = paths.map(Path::new);
    let machine = machine(&paths, &[], &quick());
    assert_eq!(machine.paths.len(), paths.len());
    assert_eq!(mount_of(&machine, 0).file_system, "proc");
    assert_eq!(mount_of(&machine, 1).file_system, "sysfs");
    for missing in [4, 5] {
        assert_eq!(machine.paths[missing].top, None);
        let problem = machine.paths[missing].problem.as_deref().unwrap();
        assert!(problem.starts_with("No such file or directory"), "{problem}");
    }
}

#[test]
fn a_machine_is_the_same_after_it_was_saved() {
    let seen = machine(&[Path::new("/"), Path::new("/proc")], &[], &quick());
    let text = serde_json::to_string(&seen).unwrap();
    assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), seen);
}

#[test]
fn no_path_at_all_still_tells_of_the_machine() {
    let machine = machine(&[], &[], &quick());
    assert_eq!((machine.paths.len(), machine.nodes.len()), (0, 0));
    assert!(machine.environment.cpus >= 1);
}

#[test]
fn what_the_kernel_does_not_show_is_said_to_be_unseen() {
    let without = tempfile::tempdir().unwrap();
    let unseen: Vec<_> = absent(false, without.path()).collect();
    assert_eq!(unseen.len(), 2);
    assert_eq!(unseen[1].how, "with /sys mounted: iotax doctor");
    assert_eq!(absent(true, Path::new("/sys")).count(), 0);
}

#[test]
fn a_machine_that_told_of_itself_is_not_asked_again() {
    let known = Environment { host: Some("known".to_owned()), ..Environment::default() };
    let machine = machine(&[], &[], &ProbeOptions { environment: Some(known.clone()), ..quick() });
    assert_eq!(machine.environment, known);
}
