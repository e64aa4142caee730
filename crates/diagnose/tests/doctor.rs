//! The doctor's rules on machines that were built from documented formats.
#![allow(clippy::unwrap_used)]

mod machines;

use std::fmt::Write as _;

use iotax_diagnose::why::Why;
use iotax_diagnose::why::ebs::EbsWhy;
use iotax_diagnose::why::encryption::EncryptionWhy;
use iotax_diagnose::why::limits::LimitsWhy;
use iotax_diagnose::why::memory::MemoryWhy;
use iotax_diagnose::why::nfs::NfsWhy;
use iotax_diagnose::{Certainty, Finding, Meanwhile, Since, findings, named_causes};
use iotax_experiment::CloudChoice;

use iotax_record::Machine;
use iotax_record::machine::{Crypt, Device, MountSeen, NfsSeen, PressureAverages};
use iotax_wording::cause as wording;
use machines::{ALL, text as file};

fn machine(name: &str) -> Machine {
    serde_json::from_str(&file(name)).unwrap()
}

/// What the user says beside the machine; only of volumes whose kind no guest sees.
fn choice(name: &str) -> CloudChoice {
    let disk = match name {
        "aws-r6i-4xlarge-gp3" => "gp3:size=500G,iops=6000,bw=250M",
        "aws-c5-large-io2" => "io2:size=1000G,iops=16000",
        "aws-m5-large-gp2" => "gp2:size=100G",
        "aws-m5-large-st1" => "st1:size=2T",
        "aws-m7g-xlarge-gp3" => "gp3:size=10G,iops=4000,bw=750M",
        "report-ec2-gp2-burst" => "gp2:size=200G",
        _ => return CloudChoice::default(),
    };
    CloudChoice { disks: vec![disk.to_owned()], ..CloudChoice::default() }
}

fn found(name: &str) -> Vec<Finding> {
    findings(&machine(name), &choice(name))
}

/// As a text for people to compare.
fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in wording::in_order(findings) {
        let Finding { cause, about, certainty, seen, commands, .. } = finding;
        let (about, certainty) = (wording::components(about), wording::certainty(*certainty));
        writeln!(text, "{certainty}: {cause}, {about}\n  {}", wording::why(finding)).unwrap();
        for one in seen.iter().map(wording::observation) {
            let field = one.field.as_ref().map_or(String::new(), |field| format!(" {field}"));
            writeln!(text, "  - {}{field} = {}", one.file, one.value).unwrap();
        }
        for command in commands {
            writeln!(text, "  $ {command}").unwrap();
        }
    }
    text
}

fn causes(findings: &[Finding], at_least: Certainty) -> Vec<&str> {
    let sure = findings.iter().filter(|finding| finding.certainty >= at_least);
    sure.map(|finding| finding.cause).collect()
}

#[test]
fn machines_have_the_findings_that_they_had() {
    for name in ALL {
        insta::assert_snapshot!(name, text(&found(name)));
    }
}

#[test]
fn what_is_seen_comes_first() {
    let first = |name| found(name).swap_remove(0).cause;
    assert_eq!(first("azure-e16d-v5-encryption-at-host"), "double-encryption");
    assert_eq!(first("aws-r6i-4xlarge-gp3"), "ebs-volume-limit");
    assert_eq!(first("nfs-krb5p-nconnect"), "nfs-gss-window");
    assert_eq!(first("azure-dc8as-v5-sev-snp"), "bounce-buffers-full");
    assert_eq!(first("luks2-defaults"), "dm-crypt-workqueues");
    assert_eq!(
        causes(&found("pod-with-limits"), Certainty::Snapshot),
        ["cgroup-io-max", "cgroup-memory"]
    );
}

#[test]
fn disks_are_encrypted_twice_only_where_hardware_encrypts_them() {
    let of = |name| {
        let found = found(name);
        let twice = found.into_iter().filter(|finding| finding.cause == "double-encryption");
        twice.map(|finding| wording::components(&finding.about)).collect::<Vec<_>>()
    };
    assert_eq!(
        of("azure-e16d-v5-encryption-at-host"),
        ["sdb, temporary disk of /mnt/index", "sda, ephemeral OS disk of /srv/images"]
    );
    assert!(of("azure-e16s-v3-encryption-at-host").is_empty());
    let mut off = machine("azure-e16d-v5-encryption-at-host");
    off.cloud.as_mut().unwrap().encryption_at_host = Some(false);
    let found = findings(&off, &CloudChoice::default());
    assert!(!causes(&found, Certainty::ToBeTested).contains(&"double-encryption"));
}

/// What is said of double encryption, of a machine and what its user tells.
fn twice(machine: &Machine, facts: &[&str]) -> String {
    let mut choice = CloudChoice::default();
    for fact in facts {
        choice.tell(fact).unwrap();
    }
    let found = findings(machine, &choice).into_iter();
    let found: Vec<_> = found.filter(|finding| finding.cause == "double-encryption").collect();
    text(&found)
}

#[test]
fn what_only_the_user_knows_decides_about_double_encryption() {
    let mut machine = machine("azure-e16d-v5-encryption-at-host");
    assert_eq!(twice(&machine, &["encryption-at-host=no"]), "");
    machine.cloud.as_mut().unwrap().encryption_at_host = None;
    insta::assert_snapshot!("double_encryption_nobody_says", twice(&machine, &[]));
    insta::assert_snapshot!(
        "double_encryption_the_user_says",
        twice(&machine, &["encryption-at-host=yes"])
    );
    assert_eq!(twice(&machine, &["encryption-at-host=no"]), "");
}

#[test]
fn a_size_with_encrypted_local_disks_is_to_be_tested() {
    let machine = machine("bare-metal-nvme");
    insta::assert_snapshot!(
        "double_encryption_of_a_size",
        twice(&machine, &["vm=Standard_E16d_v5"])
    );
    insta::assert_snapshot!(
        "double_encryption_of_a_size_with_encryption_at_host",
        twice(&machine, &["vm=standard_e16d_v5", "encryption-at-host=yes"])
    );
    for none in ["Standard_E16s_v5", "Standard_E16d_v4", "r6i.4xlarge", "Standard_DS1_v2"] {
        assert_eq!(twice(&machine, &[&format!("vm={none}")]), "", "{none}");
    }
}

#[test]
fn a_healthy_machine_is_quiet() {
    assert_eq!(causes(&found("bare-metal-nvme"), Certainty::ToBeTested), [""; 0]);
    assert_eq!(causes(&found("luks2-inline"), Certainty::ToBeTested), [""; 0]);
    assert_eq!(causes(&found("laptop-luks2"), Certainty::ToBeTested), ["nvme-power-states"]);
}

#[test]
fn what_only_root_may_read_is_said_to_be_unread() {
    let mut machine = machine("laptop-luks2");
    device(&mut machine, "dm-0").mapping.as_mut().unwrap().targets = None;
    let found = findings(&machine, &CloudChoice::default());
    assert_eq!(causes(&found, Certainty::ToBeTested), ["dm-crypt-workqueues", "nvme-power-states"]);
    assert_eq!(found[0].why, EncryptionWhy::Unread.into());
}

#[test]
fn every_cause_is_found_on_some_machine() {
    let all: Vec<_> = ALL.iter().flat_map(|name| found(name)).collect();
    let missing: Vec<_> =
        named_causes().filter(|cause| !all.iter().any(|finding| finding.cause == *cause)).collect();
    assert_eq!(missing, [""; 0]);
}

/// A machine, the cause that it shows, and what takes the cause away.
type Cure = (&'static str, &'static str, fn(&mut Machine));

fn device<'a>(machine: &'a mut Machine, name: &str) -> &'a mut Device {
    let devices = machine.nodes.iter_mut().filter_map(|node| node.layer.device_mut());
    devices.into_iter().find(|device| device.name == name).unwrap()
}

fn mount<'a>(machine: &'a mut Machine, point: &str) -> &'a mut MountSeen {
    let mounts = machine.nodes.iter_mut().filter_map(|node| node.layer.mount_mut());
    mounts.into_iter().find(|mount| mount.mount_point == point).unwrap()
}

fn crypt(machine: &mut Machine) -> &mut Crypt {
    let mapping = device(machine, "dm-0").mapping.as_mut().unwrap();
    mapping.targets.as_mut().unwrap()[0].crypt.as_mut().unwrap()
}

const CURES: [Cure; 18] = [
    ("luks2-defaults", "dm-crypt-small-sectors", |m| crypt(m).sector_bytes = 4096),
    ("luks2-defaults", "dm-crypt-workqueues", |m| {
        crypt(m).flags = ["no_read_workqueue", "no_write_workqueue"].map(str::to_owned).into();
    }),
    ("luks2-defaults", "dm-crypt-large-io", |m| {
        crypt(m).flags = vec!["submit_from_crypt_cpus".to_owned()];
    }),
    ("nfs-krb5p-nconnect", "nfs-gss-window", |m| {
        let nfs = mount(m, "/mnt/projects").nfs.as_mut().unwrap();
        nfs.options = nfs.options.replace("sec=krb5p", "sec=sys");
    }),
    ("nfs-krb5p-nconnect", "nfs-read-ahead", |m| {
        mount(m, "/mnt/projects").read_ahead_bytes = Some(15 << 20);
    }),
    ("nfs-krb5p-nconnect", "nfs-slots", |m| m.kernel.nfs_session_slots = Some(180)),
    ("workshop", "nfs-attribute-cache", |m| {
        let nfs = m.nodes.iter_mut().filter_map(|node| node.layer.mount_mut()?.nfs.as_mut());
        nfs.for_each(|nfs| nfs.options = nfs.options.replace("noac,", ""));
    }),
    ("nfs-krb5p-nconnect", "tunnel-mtu", |m| {
        let nfs = mount(m, "/mnt/projects").nfs.as_mut().unwrap();
        nfs.network.as_mut().unwrap().mtu_bytes = Some(1500);
    }),
    ("aws-r6i-4xlarge-gp3", "nvme-timeout", |m| {
        device(m, "nvme1n1").queue.timeout_ms = Some(4_294_967_295);
    }),
    ("azure-dc8as-v5-sev-snp", "bounce-buffers-full", |m| {
        m.confidential.log.clear();
        m.confidential.swiotlb.as_mut().unwrap().most_used_bytes = None;
    }),
    ("azure-e8bs-v5-scsi", "scsi-controller", |m| {
        for disk in ["sda", "sdb", "sdc"] {
            device(m, disk).transport = Some("nvme".to_owned());
        }
    }),
    ("azure-e8bs-v5-scsi", "queue-too-short", |m| device(m, "sdb").queue.depth = Some(64)),
    // A cache that fills its group is as it should be.
    ("pod-with-limits", "cgroup-memory", |m| {
        m.groups.memory.as_mut().unwrap().pressure = Some(PressureAverages::default());
    }),
    ("pod-with-limits", "cpu-quota", |m| {
        m.groups.cpu.as_mut().unwrap().throttled_periods = 480;
    }),
    ("pod-with-limits", "io-max-ignored", |m| {
        m.environment.kernel = Some("Linux 7.0.2-generic #1 SMP".to_owned());
    }),
    ("workshop", "loop-double-caching", |m| {
        device(m, "loop0").loop_file.as_mut().unwrap().is_direct = Some(true);
    }),
    ("workshop", "dirty-throttling", |m| m.memory.being_written_bytes = Some(0)),
    ("workshop", "swap-on-path", |m| m.memory.swaps[0].used_bytes = 0),
];

#[test]
fn a_cause_goes_with_what_shows_it() {
    for (name, cause, cure) in CURES {
        assert!(causes(&found(name), Certainty::ToBeTested).contains(&cause), "{name}: {cause}");
        let mut cured = machine(name);
        cure(&mut cured);
        let left = findings(&cured, &choice(name));
        assert!(!causes(&left, Certainty::ToBeTested).contains(&cause), "{name}: {cause}");
    }
}

/// How sure a cause is on a machine once something of it was changed, and why.
fn judged(name: &str, cause: &str, change: fn(&mut Machine)) -> (Certainty, Why) {
    let mut machine = machine(name);
    change(&mut machine);
    let found = findings(&machine, &choice(name));
    let found = found.into_iter().find(|finding| finding.cause == cause).unwrap();
    (found.certainty, found.why)
}

const DAY_S: u64 = 86_400;

/// An NFS mount that sent one call again, days ago.
fn once(m: &mut Machine) -> &mut NfsSeen {
    m.counting.watched_ms = Some(200);
    let nfs = mount(m, "/srv/share").nfs.as_mut().unwrap();
    *nfs = NfsSeen {
        transmissions: nfs.operations + 1,
        major_timeouts: 1,
        age_s: Some(3 * DAY_S),
        sent_again_while_watched: Some(0),
        ..nfs.clone()
    };
    nfs
}

#[test]
fn counters_of_long_ago_are_to_be_tested_unless_they_move() {
    let thrash = |change| judged("workshop", "page-cache-thrash", change);
    let (sure, why) = thrash(|m| {
        m.counting.up_s = Some(90 * DAY_S);
        m.counting.watched_ms = Some(200);
        m.counting.more_file_refaults = Some(0);
    });
    let since = |ago_s, more| {
        let meanwhile = Some(Meanwhile { more, watched_ms: 200 });
        Since { ago_s, meanwhile }
    };
    let of_thrash = |why: &Why| match why {
        Why::Memory(MemoryWhy::Thrash { since, .. }) => Some(*since),
        _ => None,
    };
    assert_eq!(sure, Certainty::ToBeTested);
    assert_eq!(of_thrash(&why), Some(since(Some(90 * DAY_S), 0)));
    let (sure, why) = thrash(|m| {
        m.counting.watched_ms = Some(200);
        m.counting.more_file_refaults = Some(7);
    });
    assert_eq!(sure, Certainty::Likely);
    assert_eq!(of_thrash(&why).unwrap().meanwhile, since(None, 7).meanwhile);
    // 620,411 pages are few in three months and many in an hour.
    assert_eq!(thrash(|m| m.counting.up_s = Some(90 * DAY_S)).0, Certainty::ToBeTested);
    assert_eq!(thrash(|m| m.counting.up_s = Some(3_600)).0, Certainty::Likely);

    let lossy = |change| judged("workshop", "nfs-retransmissions", change);
    let (sure, why) = lossy(|m| {
        once(m);
    });
    assert_eq!(sure, Certainty::ToBeTested);
    let Why::Nfs(NfsWhy::SentAgain { lost, .. }) = why else { panic!("{why:?}") };
    assert_eq!((lost.since, lost.timeouts), (since(Some(3 * DAY_S), 0), 1));
    assert_eq!(lossy(|m| once(m).sent_again_while_watched = Some(1)).0, Certainty::Likely);
    assert_eq!(lossy(|m| once(m).transmissions *= 2).0, Certainty::Likely);

    let (sure, why) = judged("nfs-krb5p-nconnect", "nfs-slots", |m| {
        mount(m, "/mnt/projects").nfs.as_mut().unwrap().age_s = Some(3 * DAY_S);
    });
    assert_eq!(sure, Certainty::ToBeTested);
    let Why::Nfs(NfsWhy::Slots { mounted_s, .. }) = why else { panic!("{why:?}") };
    assert_eq!(mounted_s, Some(3 * DAY_S));
    let (sure, why) = judged("aws-r6i-4xlarge-gp3", "ebs-volume-limit", |m| {
        m.counting.up_s = Some(1_000_000 * DAY_S);
    });
    assert_eq!(sure, Certainty::ToBeTested);
    let Why::Ebs(EbsWhy::Exceeded { up_s, .. }) = why else { panic!("{why:?}") };
    assert_eq!(up_s, Some(1_000_000 * DAY_S));
}

#[test]
fn an_assumed_latency_makes_nothing_likely() {
    let (sure, why) = judged("azure-e8bs-v5-scsi", "queue-too-short", |_| {});
    assert_eq!(sure, Certainty::ToBeTested);
    assert!(matches!(why, Why::Limits(LimitsWhy::Depth { takes: Some(_), .. })), "{why:?}");
}

#[test]
fn access_times_that_stay_in_memory_are_none() {
    let mut machine = machine("workshop");
    let has = |machine: &Machine| {
        let found = findings(machine, &CloudChoice::default());
        causes(&found, Certainty::ToBeTested).contains(&"strict-atime")
    };
    assert!(has(&machine));
    mount(&mut machine, "/srv/vault").super_options.push_str(",lazytime");
    assert!(!has(&machine));
}

#[test]
fn a_finding_says_what_was_seen_and_what_to_do() {
    for finding in ALL.iter().flat_map(|name| found(name)) {
        let Finding { cause, about, seen, commands, .. } = &finding;
        assert!(!about.is_empty() && !wording::why(&finding).is_empty(), "{finding:?}");
        assert!(!seen.is_empty(), "{cause} has no observation");
        assert!(commands.iter().all(|command| command.starts_with("iotax ")), "{finding:?}");
        assert!(!commands.is_empty(), "{cause} has no command");
    }
}
