//! The doctor's rules on machines that were built from documented formats.
#![allow(clippy::unwrap_used, missing_docs)]

mod machines;

use std::fmt::Write as _;

use iotax_analyze::doctor::{Certainty, Finding, findings, named_causes};
use iotax_spec::CloudChoice;

use machines::{ALL, machine};

/// What the user says beside the machine; only of volumes whose kind no guest sees.
fn choice(name: &str) -> CloudChoice {
    let disk = match name {
        "aws-r6i-4xlarge-gp3" => "gp3:size=500G,iops=6000,bw=250M",
        "aws-c5-large-io2" => "io2:size=1000G,iops=16000",
        "aws-m5-large-gp2" => "gp2:size=100G",
        "aws-m5-large-st1" => "st1:size=2T",
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
    for finding in findings {
        let Finding { cause, about, certainty, seen, why, commands } = finding;
        writeln!(text, "{}: {cause}, {about}\n  {why}", certainty.name()).unwrap();
        for one in seen {
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
    sure.map(|finding| finding.cause.as_str()).collect()
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
        causes(&found("pod-with-limits"), Certainty::Seen),
        ["cgroup-io-max", "cgroup-memory", "cpu-quota"]
    );
}

#[test]
fn disks_are_encrypted_twice_only_where_hardware_encrypts_them() {
    let of = |name| {
        let found = found(name);
        let twice = found.into_iter().filter(|finding| finding.cause == "double-encryption");
        twice.map(|finding| finding.about).collect::<Vec<_>>()
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

#[test]
fn a_healthy_machine_is_quiet() {
    assert_eq!(causes(&found("bare-metal-nvme"), Certainty::ToBeTested), [""; 0]);
    assert_eq!(causes(&found("luks2-inline"), Certainty::ToBeTested), [""; 0]);
    assert_eq!(causes(&found("laptop-luks2"), Certainty::ToBeTested), ["nvme-power-states"]);
}

#[test]
fn every_cause_is_found_on_some_machine() {
    let all: Vec<_> = ALL.iter().flat_map(|name| found(name)).collect();
    let missing: Vec<_> =
        named_causes().filter(|cause| !all.iter().any(|finding| finding.cause == *cause)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn a_finding_says_what_was_seen_and_what_to_do() {
    for finding in ALL.iter().flat_map(|name| found(name)) {
        let Finding { cause, about, seen, why, commands, .. } = &finding;
        assert!(!about.is_empty() && !why.is_empty(), "{finding:?}");
        assert!(!seen.is_empty(), "{cause} has no observation");
        assert!(commands.iter().all(|command| command.starts_with("iotax ")), "{finding:?}");
        assert!(!commands.is_empty(), "{cause} has no command");
    }
}
