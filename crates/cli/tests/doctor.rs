//! `iotax doctor` as its user meets it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use insta::{assert_snapshot, with_settings};
use serde_json::Value;
use support::Desk;

/// A machine that was built from documented formats.
fn machine(name: &str) -> String {
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analyze/tests/machines");
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
    assert_eq!(said["stack"][0]["path"], ".");
    assert!(said["stack"][0]["top"]["mount"]["file_system"].is_string(), "{said:#}");
    assert!(said["findings"].is_array());
    assert!(said["machine"]["environment"]["cpus"].as_u64() >= Some(1));
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
fn a_saved_machine_says_the_same_elsewhere_and_names_nobody() {
    let desk = Desk::new();
    let original = machine("nfs-krb5p-nconnect");
    let told = json(&desk, &["doctor", "--machine", &original, "--format", "json"]);
    let host = told["machine"]["environment"]["host"].as_str().unwrap();
    let server = told["machine"]["nodes"][0]["mount"]["nfs"]["network"]["server"].as_str().unwrap();
    json(&desk, &["doctor", "--machine", &original, "--save", "there.json", "--format", "json"]);
    let text = std::fs::read_to_string(desk.path().join("there.json")).unwrap();
    assert!(!text.contains(host) && !text.contains(server), "{text}");
    let again = json(&desk, &["doctor", "--machine", "there.json", "--format", "json"]);
    let causes = |said: &Value| -> Vec<Value> {
        said["findings"].as_array().unwrap().iter().map(|found| found["cause"].clone()).collect()
    };
    assert_eq!(causes(&told), causes(&again));
    // What is there is never overwritten.
    let said = desk.run(&["doctor", "--machine", &original, "--save", "there.json"]);
    assert_snapshot!(said.err, @"error: there.json exists already: name another file");
    assert_eq!(said.code, 2);
    let whole = ["doctor", "--machine", &original, "--save", "whole.json", "--no-redact"];
    assert_eq!(desk.run(&whole).code, 0);
    let text = std::fs::read_to_string(desk.path().join("whole.json")).unwrap();
    assert!(text.contains(host) && text.contains(server), "{text}");
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
error: x.json is no machine: give a file that `iotax doctor --save` has written
[exit 2]
");
    assert_snapshot!(desk.run(&["doctor", "--machine", "y.json"]), @r"
error: cannot read y.json: No such file or directory (os error 2)
[exit 3]
");
    assert_snapshot!(desk.run(&["doctor", "--record", "z"]), @r"
error: z is not an iotax record: it does not exist; give the directory that a run printed as its results
[exit 3]
");
}

#[test]
fn results_are_joined_with_the_machine_they_are_from() {
    let desk = Desk::new();
    std::fs::write(desk.path().join("data"), vec![1; 8 << 20]).unwrap();
    let time = ["--time", "500ms", "--ramp", "100ms", "-q", "--out", "r"];
    let said = desk.run(&[&["run", "randread-4k", "data"], &time[..]].concat());
    assert_eq!(said.code, 0, "{said}");
    let told = json(&desk, &["doctor", "--record", "r", "--format", "json"]);
    assert!(told["causes"].is_array(), "{told:#}");
    assert!(told["stack"][0]["path"].as_str().unwrap().ends_with("/data"), "{told:#}");
    let text = desk.run(&["doctor", "--record", "r"]);
    assert!(text.out.contains("└─ "), "{text}");
}
