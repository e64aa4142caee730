//! `iotax doctor` as its user meets it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use insta::{assert_snapshot, with_settings};
use serde_json::Value;
use support::Desk;

/// A machine that was built from documented formats.
fn machine(name: &str) -> String {
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../diagnose/tests/machines");
    machines.join(format!("{name}.json")).display().to_string()
}

fn json(desk: &Desk, args: &[&str]) -> Value {
    let said = desk.run(args);
    assert_eq!(said.code, 0, "{}", said.err);
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn this_machine_is_looked_at() {
    let desk = Desk::new();
    let said = json(&desk, &["doctor", "--no-metadata", "--format", "json"]);
    assert_eq!(said["hosts"][0]["stack"][0]["path"], ".");
    assert!(said["hosts"][0]["stack"][0]["top"]["mount"]["file_system"].is_string(), "{said:#}");
    assert!(said["hosts"][0]["findings"].is_array());
    assert!(said["hosts"][0]["machine"]["environment"]["cpus"].as_u64() >= Some(1));
    assert_eq!(said["causes"], Value::Null, "nothing was measured");
    assert!(desk.names().is_empty(), "it only reads");
}

#[test]
fn a_path_that_is_not_there_is_an_error_of_the_environment() {
    let said = Desk::new().run(&["doctor", "--no-metadata", "nowhere/at/all"]);
    assert_eq!(said.code, 3, "{said}");
    assert!(said.out.contains("nowhere/at/all\n  No such file or directory"), "{said}");
}

#[test]
fn machines_are_told_in_80_columns() {
    for name in ["azure-e16d-v5-encryption-at-host", "nfs-krb5p-nconnect", "luks2-defaults"] {
        let said = Desk::new().run(&["doctor", "--machine", &machine(name)]);
        assert_eq!(said.code, 0, "{said}");
        // Commands are to be pasted.
        let is_wide = |line: &&str| line.chars().count() > 80 && !line.contains("  iotax ");
        let wide: Vec<_> = said.out.lines().filter(is_wide).collect();
        assert!(wide.is_empty(), "{wide:#?}");
        with_settings!({ snapshot_suffix => name }, { assert_snapshot!(said.out) });
    }
}

#[test]
fn what_is_to_be_tested_is_folded_unless_all_is_asked_for() {
    let desk = Desk::new();
    let machine = machine("laptop-luks2");
    let folded = desk.run(&["doctor", "--machine", &machine]).out;
    let (_, findings) = folded.split_once("To be tested").unwrap();
    assert_snapshot!(findings, @"
    : possible causes, each with a command that shows whether the cause
      matters here
      nvme-power-states  nvme0n1 of /home/user
          iotax run randread-4k /home/user --set rate=1 --time 30s

      full details  the same command with --all
      one cause     iotax doctor --explain NAME
    ");
    let whole = desk.run(&["doctor", "--machine", &machine, "--all"]).out;
    let (_, findings) = whole.split_once("To be tested").unwrap();
    assert_snapshot!(findings, @"
    : NVMe disks enter power-saving states when idle (nvme0n1 of
      /home/user)
      If nvme0n1 has sleep states, the driver allows those with a wake-up time of up
      to 100 ms. The first I/O after a pause waits for the wake-up.
        seen    /sys/module/nvme_core/parameters/default_ps_max_latency_us: 100000
        test    iotax run randread-4k /home/user --set rate=1 --time 30s
                iotax run randread-4k /home/user
        remedy  Set `nvme_core.default_ps_max_latency_us=0` at boot, or lower the
                disk's `power/pm_qos_latency_tolerance_us`.
        source  Linux, commit c5552fde102f: nvme: Enable autonomous power state
                transitions (undated); 1 more
        more    iotax doctor --explain nvme-power-states
    ");
    let as_json = ["doctor", "--machine", &machine, "--format", "json"];
    let all = [&as_json[..], &["--all"]].concat();
    assert_eq!(desk.run(&as_json).out, desk.run(&all).out, "a program gets all anyway");
}

/// What a part of the options is refused with, in a line.
#[test]
fn a_fact_that_only_the_user_knows_is_part_of_the_findings() {
    let desk = Desk::new();
    let machine = machine("bare-metal-nvme");
    let told = |facts: &[&str]| {
        let facts = facts.iter().flat_map(|fact| ["--fact", *fact]);
        let args = ["doctor", "--machine", &machine].into_iter().chain(facts);
        desk.run(&args.collect::<Vec<_>>())
    };
    assert!(!told(&[]).out.contains("double-encryption"));
    let size = told(&["vm=Standard_E16d_v5"]).out;
    let (_, findings) = size.split_once("To be tested").unwrap();
    assert_snapshot!(findings, @"
    : possible causes, each with a command that shows whether the cause
      matters here
      double-encryption   nvme0n1, disk of /var/lib/db
          iotax run driver-searcher /var/lib/db --scale 0.05
      azure-burst         Standard_E16d_v5
          iotax limits --burst=40m --vm Standard_E16d_v5 /var/lib/db
      fsync-network-disk  /var/lib/db
          iotax run randwrite-4k /var/lib/db --set fsync-every=1
      first-touch         nvme0n1
          iotax limits /dev/nvme0n1

      full details  the same command with --all
      one cause     iotax doctor --explain NAME

    Not checked
      - nvme0n1 (nvme disk): its disk type (--fact disk=P30)
    ");
    assert!(!told(&["vm=Standard_E16d_v5", "encryption-at-host=no"]).out.contains("double"));
    assert_snapshot!(told(&["encryption=yes"]), @"
    error: option --fact: unknown fact `encryption`
      encryption=yes
      ^^^^^^^^^^ column 1
    known facts: caching, disk, encryption-at-host, vm
    [exit 2]
    ");
    assert_snapshot!(told(&["caching=some"]), @"
    error: --fact caching=some: use none, readonly or readwrite
    [exit 2]
    ");
    assert_snapshot!(told(&["vm=Standard_E16d_v55"]), @"
    error: unknown VM size `Standard_E16d_v55`: did you mean Standard_E16d_v5, Standard_D16d_v5 or Standard_E16_v5?
    [exit 2]
    ");
    assert_snapshot!(told(&["disk=P10", "disk=P20"]), @"
    error: --fact disk is given 2 times; give it once for all targets, or once for each target in order
    [exit 2]
    ");
}

#[test]
fn layers_without_rules_are_named_in_text_and_json() {
    let desk = Desk::new();
    let text = desk.run(&["doctor", "--machine", &machine("unknown-layers")]).out;
    let (_, said) = text.split_once("memory").unwrap();
    let (_, said) = said.split_once("\n\n").unwrap();
    assert_snapshot!(said, @"
    None of the known causes was found in /vol (xfs) and nvme0n1 (nvme disk).

    Not checked
      - /shared (gfs2): iotax has no rules for gfs2
      - dm-3 (device mapper cache): iotax has no rules for device mapper cache
      - rbd0 (rbd): iotax has no rules for rbd
    ");
    let said =
        json(&desk, &["doctor", "--machine", &machine("unknown-layers"), "--format", "json"]);
    let layers = said["hosts"][0]["coverage"].as_array().unwrap();
    let none: Vec<_> = layers.iter().filter(|one| one["has_rules"] == false).collect();
    let kinds: Vec<_> = none.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["gfs2", "device mapper cache", "rbd"]);
    let healthy = desk.run(&["doctor", "--machine", &machine("raid10-healthy")]).out;
    assert!(healthy.contains("None of the known causes was found in /srv/db (xfs), md0 (raid10)"));
    assert!(!healthy.contains("Not checked"), "{healthy}");
}

fn refused(desk: &Desk, args: &[&str]) -> String {
    let said = desk.run(&[&["doctor"], args].concat());
    assert_eq!(said.code, 2, "{args:?}: {said}");
    assert!(said.out.is_empty(), "{said}");
    said.err.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn options_that_make_no_sense_together_are_refused() {
    let desk = Desk::new();
    let of_this_machine: [&[&str]; 3] =
        [&["/tmp"], &["--no-metadata"], &["--metadata-address", "127.0.0.1:1"]];
    let of_limits: [&[&str]; 4] =
        [&["--vm", "v"], &["--disk", "P10"], &["--caching", "none"], &["--variant", "nvme"]];
    let elsewhere: [&[&str]; 2] = [&["--machine", "m"], &["--record", "r"]];
    let of_findings: [&[&str]; 3] = [&["--save", "s"], &["--no-redact"], &["--all"]];
    let with = |first: &[&str], others: &[&[&str]]| {
        let each = others.iter().map(|other| refused(&desk, &[first, other].concat()));
        each.collect::<Vec<_>>().join("\n")
    };
    let all = [&of_this_machine[..], &of_limits, &elsewhere, &of_findings].concat();
    assert_snapshot!(with(&["--explain", "read-ahead"], &all), @r"
error: the argument '--explain [<CAUSE>]' cannot be used with '[PATH]...'
error: the argument '--explain [<CAUSE>]' cannot be used with '--no-metadata'
error: the argument '--explain [<CAUSE>]' cannot be used with '--metadata-address <ADDRESS>'
error: the argument '--explain [<CAUSE>]' cannot be used with '--vm <NAME>'
error: the argument '--explain [<CAUSE>]' cannot be used with '--disk <DISK>'
error: the argument '--explain [<CAUSE>]' cannot be used with '--caching <MODE>'
error: the argument '--explain [<CAUSE>]' cannot be used with '--variant <KIND>'
error: the argument '--explain [<CAUSE>]' cannot be used with '--machine <FILE>'
error: the argument '--explain [<CAUSE>]' cannot be used with '--record <DIR>'
error: the argument '--explain [<CAUSE>]' cannot be used with '--save <FILE>'
error: the argument '--explain [<CAUSE>]' cannot be used with '--no-redact'
error: the argument '--explain [<CAUSE>]' cannot be used with '--all'
");
    assert_snapshot!(with(&["--machine", "m"], &of_this_machine), @r"
error: the argument '--machine <FILE>' cannot be used with '[PATH]...'
error: the argument '--machine <FILE>' cannot be used with '--no-metadata'
error: the argument '--machine <FILE>' cannot be used with '--metadata-address <ADDRESS>'
");
    let others = [&of_this_machine[..], &of_limits, &elsewhere[..1]].concat();
    assert_snapshot!(with(&["--record", "r"], &others), @r"
error: the argument '--record <DIR>' cannot be used with '[PATH]...'
error: the argument '--record <DIR>' cannot be used with '--no-metadata'
error: the argument '--record <DIR>' cannot be used with '--metadata-address <ADDRESS>'
error: the argument '--record <DIR>' cannot be used with '--vm <NAME>'
error: the argument '--record <DIR>' cannot be used with '--disk <DISK>'
error: the argument '--record <DIR>' cannot be used with '--caching <MODE>'
error: the argument '--record <DIR>' cannot be used with '--variant <KIND>'
error: the argument '--record <DIR>' cannot be used with '--machine <FILE>'
");
    assert!(desk.names().is_empty(), "nothing was written");
}

#[test]
fn a_saved_machine_says_the_same_elsewhere_and_names_nobody() {
    let desk = Desk::new();
    let original = machine("nfs-krb5p-nconnect");
    let told = json(&desk, &["doctor", "--machine", &original, "--format", "json"]);
    let host = told["hosts"][0]["machine"]["environment"]["host"].as_str().unwrap();
    let server = told["hosts"][0]["machine"]["nodes"][0]["mount"]["nfs"]["network"]["server"]
        .as_str()
        .unwrap();
    json(&desk, &["doctor", "--machine", &original, "--save", "there.json", "--format", "json"]);
    let text = std::fs::read_to_string(desk.path().join("there.json")).unwrap();
    assert!(!text.contains(host) && !text.contains(server), "{text}");
    let key = desk.path().join("there.json.key.json");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let key = std::fs::read_to_string(key).unwrap();
    assert!(key.contains(host) && key.contains(server), "{key}");
    let again = json(&desk, &["doctor", "--machine", "there.json", "--format", "json"]);
    let causes = |said: &Value| -> Vec<Value> {
        said["hosts"][0]["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| found["cause"].clone())
            .collect()
    };
    assert_eq!(causes(&told), causes(&again));
    // What is there is never overwritten.
    let said = desk.run(&["doctor", "--machine", &original, "--save", "there.json"]);
    assert_snapshot!(said.err, @"error: there.json already exists; choose another file");
    assert_eq!(said.code, 2);
    std::fs::remove_file(desk.path().join("there.json")).unwrap();
    let said = desk.run(&["doctor", "--machine", &original, "--save", "there.json"]);
    assert_snapshot!(said.err, @"error: there.json.key.json already exists; choose another file");
    assert!(!desk.path().join("there.json").exists(), "nothing leaves without its key");
    let whole = ["doctor", "--machine", &original, "--save", "whole.json", "--no-redact"];
    assert_eq!(desk.run(&whole).code, 0);
    let text = std::fs::read_to_string(desk.path().join("whole.json")).unwrap();
    assert!(text.contains(host) && text.contains(server), "{text}");
    assert!(!desk.path().join("whole.json.key.json").exists(), "nothing was replaced");
}

#[test]
fn causes_are_explained_and_typos_are_told() {
    let desk = Desk::new();
    assert_snapshot!(desk.run(&["doctor", "--explain", "dm-crypt-workqueues"]));
    let number = desk.run(&["doctor", "--explain", "2.1"]);
    assert_eq!(number.out, desk.run(&["doctor", "--explain", "dm-crypt-workqueues"]).out);
    assert_snapshot!(desk.run(&["doctor", "--explain", "dmcrypt-workqueue"]), @r"
error: no known cause `dmcrypt-workqueue`: did you mean dm-crypt-workqueues?
[exit 2]
");
    let all = json(&desk, &["doctor", "--explain", "--format", "json"]);
    let all = all["causes"].as_array().unwrap();
    assert!(all.len() > 60, "{}", all.len());
    assert!(all.iter().all(|cause| !cause["sources"].as_array().unwrap().is_empty()));
}

#[test]
fn files_that_are_no_machine_are_refused() {
    let desk = Desk::new();
    std::fs::write(desk.path().join("x.json"), "{\"a\": 1}").unwrap();
    assert_snapshot!(desk.run(&["doctor", "--machine", "x.json"]), @r"
error: x.json is not a saved machine; pass a file written by `iotax doctor --save`
[exit 2]
");
    assert_snapshot!(desk.run(&["doctor", "--machine", "y.json"]), @"
    error: cannot read y.json: No such file or directory (os error 2)
    [exit 2]
    ");
    assert_snapshot!(desk.run(&["doctor", "--record", "z"]), @r"
error: z is not an iotax results directory: it does not exist; pass the directory that the run printed at the end
[exit 2]
");
}

#[test]
fn results_are_joined_with_the_machine_they_are_from() {
    let desk = Desk::new();
    std::fs::write(desk.path().join("data"), vec![1; 8 << 20]).unwrap();
    let time = ["--time", "500ms", "--ramp", "100ms", "--out", "r"];
    let said = desk.run(&[&["run", "randread-4k", "data"], &time[..]].concat());
    assert_eq!(said.code, 0, "{said}");
    let told = json(&desk, &["doctor", "--record", "r", "--format", "json"]);
    assert!(told["causes"].is_array(), "{told:#}");
    assert!(told["hosts"][0]["stack"][0]["path"].as_str().unwrap().ends_with("/data"), "{told:#}");
    let text = desk.run(&["doctor", "--record", "r"]);
    assert!(text.out.contains("└─ "), "{text}");
}
