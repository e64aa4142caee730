//! Stacks beside clouds: RAIDs, drives, SMB, shares of the host, ZFS, FUSE, proxies. Machines of
//! public reports, machines that show each cause, and healthy ones.
#![allow(clippy::unwrap_used)]

mod machines;

use iotax_diagnose::why::Why;
use iotax_diagnose::why::proxy::ProxyWhy;
use iotax_diagnose::why::raid::{RaidWhy, Zones};
use iotax_diagnose::{Certainty, Finding, Lack, LayerCoverage, coverage, findings};
use iotax_experiment::CloudChoice;
use iotax_record::Machine;
use iotax_record::machine::{Device, Listener, MountSeen, ZfsSeen};
use iotax_wording::cause as wording;
use machines::{ALL, text};

fn machine(name: &str) -> Machine {
    serde_json::from_str(&text(name)).unwrap()
}

fn choice(disk: Option<&str>) -> CloudChoice {
    CloudChoice { disks: disk.into_iter().map(str::to_owned).collect(), ..CloudChoice::default() }
}

fn found(machine: &Machine) -> Vec<Finding> {
    findings(machine, &choice(None))
}

fn has(machine: &Machine, cause: &str) -> bool {
    found(machine).iter().any(|finding| finding.cause == cause)
}

/// A machine, what its user says its disk is, the cause to be named, and how sure at least.
type Case = (&'static str, Option<&'static str>, &'static str, Certainty);

const CASES: [Case; 16] = [
    ("raid0-unlike-members", None, "raid-unlike-members", Certainty::Likely),
    (
        "aws-m7g-xlarge-gp3",
        Some("gp3:size=10G,iops=4000,bw=750M"),
        "ebs-instance-limit",
        Certainty::Likely,
    ),
    ("raid6-dsync", None, "parity-raid", Certainty::Likely),
    ("wsl-9p", None, "9p-round-trips", Certainty::Likely),
    ("efs-local-proxy", None, "nfs-local-proxy", Certainty::Likely),
    ("report-ntfs3g-usb", None, "ntfs-fuse", Certainty::Likely),
    ("report-smr-resilver", None, "shingled-drive", Certainty::Likely),
    ("report-zfs-primarycache", None, "zfs-primarycache", Certainty::Likely),
    ("report-zfs-primarycache", None, "zfs-recordsize", Certainty::Likely),
    ("report-virtiofs-over-nfs", None, "shared-folder", Certainty::Likely),
    ("report-zfs-no-log", None, "zfs-sync", Certainty::ToBeTested),
    ("report-gke-standard-boot", None, "gcp-unnamed-disk", Certainty::Likely),
    ("report-ec2-gp2-burst", Some("gp2:size=200G"), "ebs-volume-burst", Certainty::ToBeTested),
    ("report-raid5-clickhouse", None, "parity-raid", Certainty::Likely),
    ("report-gluster-listing", None, "fuse-file-system", Certainty::Likely),
    ("report-lvmcache-smr", None, "rotating-drive", Certainty::Likely),
];

#[test]
fn machines_of_reports_have_their_cause() {
    for (name, disk, cause, at_least) in CASES {
        let found = findings(&machine(name), &choice(disk));
        let one = found.iter().find(|finding| finding.cause == cause);
        assert!(one.is_some_and(|one| one.certainty >= at_least), "{name}: {cause} of {found:?}");
    }
}

#[test]
fn healthy_stacks_are_quiet() {
    for name in ["raid10-healthy", "smb-healthy", "ntfs-kernel-healthy"] {
        assert_eq!(found(&machine(name)), [], "{name}");
    }
    let causes: Vec<_> =
        found(&machine("zfs-healthy")).into_iter().map(|finding| finding.cause).collect();
    assert_eq!(causes, ["copy-on-write-file-system"]);
    assert!(!has(&machine("drives"), "io-scheduler"));
    let of_ssd = found(&machine("drives"));
    assert!(
        of_ssd.iter().all(|finding| finding.about.iter().all(|one| one.name != "sdb")),
        "{of_ssd:?}"
    );
}

#[test]
fn the_instance_binds_bytes_though_the_volume_binds_iops() {
    let choice = choice(Some("gp3:size=10G,iops=4000,bw=750M"));
    let found = findings(&machine("aws-m7g-xlarge-gp3"), &choice);
    let why = |cause: &str| found.iter().find(|one| one.cause == cause).map(wording::why).unwrap();
    assert_eq!(
        why("ebs-instance-limit"),
        "The instance limit of m7g.xlarge caps I/O at 156.3 MB/s sustained (a burst reaches 786.4 MB/s for 52 min 4 s \
         with full credits)."
    );
    assert_eq!(
        why("ebs-volume-limit"),
        "The disk limit of gp3:size=10G,iops=4000,bw=750M caps I/O at 4,000 IOPS sustained."
    );
}

#[test]
fn what_goes_to_a_process_here_is_not_the_networks() {
    let mut machine = machine("efs-local-proxy");
    assert!(!has(&machine, "storage-shares-network"));
    let why = |machine: &Machine| {
        let found = found(machine);
        found.into_iter().find(|one| one.cause == "nfs-local-proxy").map(|one| one.why)
    };
    let proxy = |machine: &Machine| match why(machine) {
        Some(Why::Proxy(ProxyWhy::Local { program, has_tls, threads, cpus, .. })) => {
            (program, has_tls, threads, cpus)
        }
        other => panic!("{other:?}"),
    };
    let listener = |program: &str| Listener {
        program: program.to_owned(),
        threads: Some(1),
        cpu_ms: Some(20_000),
        age_ms: Some(100_000),
    };
    way(&mut machine).listener = Some(listener("efs-proxy"));
    let of = |program: &str, has_tls| (Some(program.to_owned()), Some(has_tls), Some(1), Some(0.2));
    assert_eq!(proxy(&machine), of("efs-proxy", true));
    // The kernel's own server listens at its own port, and no process does.
    way(&mut machine).listener = None;
    let mount = mount(&mut machine, "/srv/shared");
    mount.super_options = mount.super_options.replace("port=20385", "port=2049");
    let nfs = mount.nfs.as_mut().unwrap();
    nfs.options = nfs.options.replace("port=20385", "port=2049");
    assert_eq!(why(&machine), None);
    way(&mut machine).listener = Some(listener("ganesha.nfsd"));
    assert_eq!(proxy(&machine), of("ganesha.nfsd", false));
    way(&mut machine).server = "10.0.0.9".to_owned();
    assert_eq!(why(&machine), None);
    assert!(has(&machine, "storage-shares-network"));
}

fn way(machine: &mut Machine) -> &mut iotax_record::machine::NetworkPath {
    let nfs = mount(machine, "/srv/shared").nfs.as_mut().unwrap();
    nfs.network.as_mut().unwrap()
}

fn mount<'a>(machine: &'a mut Machine, point: &str) -> &'a mut MountSeen {
    let mounts = machine.nodes.iter_mut().filter_map(|node| node.layer.mount_mut());
    mounts.into_iter().find(|mount| mount.mount_point == point).unwrap()
}

fn device<'a>(machine: &'a mut Machine, name: &str) -> &'a mut Device {
    let devices = machine.nodes.iter_mut().filter_map(|node| node.layer.device_mut());
    devices.into_iter().find(|device| device.name == name).unwrap()
}

fn zfs(machine: &mut Machine) -> &mut ZfsSeen {
    mount(machine, "/tank/db").zfs.as_mut().unwrap()
}

fn options(machine: &mut Machine, point: &str, from: &str, to: &str) {
    let mount = mount(machine, point);
    mount.super_options = mount.super_options.replace(from, to);
}

/// A machine, the cause that it shows, and what takes the cause away.
type Cure = (&'static str, &'static str, fn(&mut Machine));

const CURES: [Cure; 24] = [
    ("raid6-dsync", "parity-raid", |m| device(m, "md0").raid_level = Some("raid10".to_owned())),
    ("lvm-raid6", "parity-raid", |m| {
        let mapping = device(m, "dm-8").mapping.as_mut().unwrap();
        "raid10 3 128".clone_into(&mut mapping.targets.as_mut().unwrap()[0].parameters);
    }),
    ("raid-faults", "raid-bitmap", |m| {
        device(m, "md127").raid.as_mut().unwrap().bitmap = Some("none".to_owned());
    }),
    ("raid-faults", "raid-rebuild", |m| {
        let raid = device(m, "md127").raid.as_mut().unwrap();
        (raid.action, raid.missing) = (Some("idle".to_owned()), Some(0));
    }),
    ("raid0-unlike-members", "raid-unlike-members", |m| {
        let first = device(m, "nvme1n1").clone();
        *device(m, "nvme2n1") = Device { name: "nvme2n1".to_owned(), ..first };
    }),
    ("drives", "rotating-drive", |m| {
        for name in ["sda", "sdc"] {
            device(m, name).queue.rotational = Some(false);
        }
    }),
    ("drives", "rotating-drive", |m| m.environment.hypervisor = Some("kvm".to_owned())),
    ("drives", "shingled-drive", |m| device(m, "sdc").queue.zoned = Some("none".to_owned())),
    ("report-smr-resilver", "shingled-drive", |m| {
        device(m, "sdc").model = Some("ATA WDC WD40EFRX-68W".to_owned());
    }),
    ("smb-faults", "smb-encryption", |m| options(m, "/mnt/secret", "seal,", "")),
    ("smb-faults", "smb-small-requests", |m| options(m, "/mnt/old", "61440", "4194304")),
    ("smb-faults", "smb-cache", |m| {
        options(m, "/mnt/direct", "cache=none", "cache=strict");
        options(m, "/mnt/old", "actimeo=0", "actimeo=30");
    }),
    ("smb-faults", "smb-single-channel", |m| {
        for point in ["/mnt/secret", "/mnt/old"] {
            options(m, point, "uid=0", "multichannel,max_channels=2,uid=0");
        }
    }),
    ("wsl-9p", "9p-round-trips", |m| "ext4".clone_into(&mut mount(m, "/mnt/e").file_system)),
    ("report-ntfs3g-usb", "ntfs-fuse", |m| {
        mount(m, "/media/user/usb-disk").contents = Some("exfat".to_owned());
    }),
    ("zfs-faults", "zfs-recordsize", |m| zfs(m).record_bytes = Some(16 << 10)),
    ("zfs-faults", "zfs-primarycache", |m| zfs(m).primary_cache = Some("all".to_owned())),
    ("zfs-faults", "zfs-sync", |m| zfs(m).sync = Some("disabled".to_owned())),
    ("report-zfs-no-log", "zfs-sync", |m| {
        let zfs = m.nodes[0].layer.mount_mut().unwrap().zfs.as_mut().unwrap();
        let mut log = zfs.vdevs[0].clone();
        "logs".clone_into(&mut log.role);
        zfs.vdevs.push(log);
    }),
    ("zfs-faults", "zfs-ashift", |m| zfs(m).ashift = Some(12)),
    ("zfs-faults", "zfs-special-vdev", |m| zfs(m).special_small_bytes = Some(16 << 10)),
    ("zfs-faults", "zfs-raidz", |m| "mirror".clone_into(&mut zfs(m).vdevs[0].kind)),
    ("report-gke-standard-boot", "gcp-unnamed-disk", |m| {
        m.cloud.as_mut().unwrap().disks[0].kind = Some("PERSISTENT-SSD".to_owned());
    }),
    ("report-virtiofs-over-nfs", "shared-folder", |m| {
        "xfs".clone_into(&mut mount(m, "/mnt/vast").file_system);
    }),
];

#[test]
fn a_cause_goes_with_what_shows_it() {
    for (name, cause, cure) in CURES {
        let mut machine = machine(name);
        assert!(has(&machine, cause), "{name}: {cause}");
        cure(&mut machine);
        assert!(!has(&machine, cause), "{name}: {cause}");
    }
}

#[test]
fn sizes_of_members_tell_where_the_speed_changes() {
    let machine = machine("raid0-unlike-members");
    let found = found(&machine);
    let why = &found.iter().find(|one| one.cause == "raid-unlike-members").unwrap().why;
    let Why::Raid(RaidWhy::Unlike { members, zones, .. }) = why else { panic!("{why:?}") };
    // Twice the smaller member's 100 GB.
    assert_eq!(*zones, Some(Zones { from_bytes: 2 * 99_965_363_814, larger: 1 }));
    let mut local: Vec<_> = members.iter().map(|member| member.kind.is_local).collect();
    local.sort();
    assert_eq!(local, [Some(false), Some(true)]);
}

#[test]
fn layers_without_rules_are_told() {
    let of = |name: &str| coverage(&machine(name), &choice(None));
    let none = |layers: &[LayerCoverage]| {
        let none =
            layers.iter().filter(|one| !one.has_rules).map(|one| wording::layer_kind(&one.kind));
        none.collect::<Vec<_>>()
    };
    assert_eq!(none(&of("unknown-layers")), ["gfs2", "device mapper cache", "rbd"]);
    assert_eq!(none(&of("report-lvmcache-smr")), ["device mapper cache"]);
    assert_eq!(none(&of("wsl-9p")), [""; 0]);
    let missing = |name: &str, layer: &str| {
        let layers = of(name);
        layers.into_iter().find(|one| one.name.starts_with(layer)).unwrap().missing
    };
    let kind = [Lack::KindOfDisk { example: "gp3:size=500G" }];
    assert_eq!(missing("aws-m7g-xlarge-gp3", "nvme1n1"), kind);
    let known = choice(Some("gp3:size=10G,iops=4000,bw=750M"));
    let known = coverage(&machine("aws-m7g-xlarge-gp3"), &known);
    assert!(known.iter().all(|one| one.missing.is_empty()), "{known:?}");
    assert_eq!(missing("efs-local-proxy", "/srv"), [Lack::Listener]);
    assert_eq!(missing("report-lvmcache-smr", "sda").len(), 1);
}

#[test]
fn every_machine_says_of_each_layer_whether_there_are_rules() {
    for name in ALL {
        let machine = machine(name);
        let layers = coverage(&machine, &choice(None));
        let is_network = machine.interfaces().next().is_some();
        assert!(!layers.is_empty() || is_network, "{name}");
        // Only those that were made for it lack rules.
        let lacks = layers.iter().any(|one| !one.has_rules);
        assert_eq!(
            lacks,
            ["unknown-layers", "report-lvmcache-smr"].contains(&name),
            "{name}: {layers:?}"
        );
    }
}
