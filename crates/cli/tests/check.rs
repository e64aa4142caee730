//! `iotax check`: caps, applications and known problems of a disk in one minute.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use serde_json::Value;
use support::Desk;

#[test]
fn a_disk_is_checked_and_the_record_says_the_same_again() {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("data")).unwrap();
    let said = desk.run(&["check", "data", "--no-metadata", "--format", "json", "--out", "out"]);
    assert_eq!(said.code, 0, "{said}");
    let result: Value = serde_json::from_str(&said.out).unwrap();
    let target = &result["limits"]["targets"][0];
    assert!(target["unloaded_latency_ns"].as_f64().unwrap() > 0.0, "{target:#}");
    let phases = result["fitness"]["phases"].as_array().unwrap();
    let names: Vec<&str> = phases.iter().map(|phase| phase["workload"].as_str().unwrap()).collect();
    assert_eq!(names, ["etcd", "PostgreSQL", "Kafka"]);
    for (phase, is_judged) in phases.iter().zip([true, false, true]) {
        let judged = phase["requirements"].as_array().map_or(0, Vec::len);
        assert_eq!(judged > 0, is_judged, "{phase:#}");
    }
    assert_eq!(result["doctor"]["hosts"].as_array().unwrap().len(), 1);
    // Latency alone, and each application.
    let rows = result["overview"].as_array().unwrap();
    assert!(rows.len() >= 4, "{rows:#?}");
    assert_eq!(fs::read_dir(desk.path().join("data")).unwrap().count(), 0, "files are left");

    let again = desk.run(&["report", "out", "--format", "json"]);
    assert_eq!(again.code, 0, "{again}");
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["overview"], result["overview"]);
    let text = desk.run(&["report", "out", "-q"]);
    assert!(text.out.contains("etcd") && text.out.contains("Kafka"), "{text}");
    let page = fs::read_to_string(desk.path().join("out/report.html")).unwrap();
    assert_eq!(
        page.matches("<details class=\"chapter\"").count(),
        3 + 3,
        "phases are chapters, too"
    );
    // A check has neither, and does not pass for lack of them.
    for none in [["--format", "csv"], ["--format", "junit"], ["--fail-if", "iops < 1"]] {
        let said = desk.run(&[&["report", "out"][..], &none].concat());
        assert_eq!(said.code, 2, "{none:?} {said}");
    }
    let part = desk.run(&["report", "out/limits", "--fail-if", "iops < 1"]);
    assert_ne!(part.code, 2, "{part}");
}

#[test]
fn what_is_no_directory_is_refused_with_what_measures_it() {
    let desk = Desk::new();
    fs::write(desk.path().join("data.img"), "precious").unwrap();
    let file = desk.run(&["check", "./data.img"]);
    assert_eq!(file.code, 2);
    insta::assert_snapshot!(file.err);
    let none = desk.run(&["check", "./none"]);
    assert_eq!(none.code, 2);
    insta::assert_snapshot!(none.err);
    let csv = desk.run(&["check", "--format", "csv"]);
    assert_eq!(csv.code, 2);
    insta::assert_snapshot!(csv.err);
    assert_eq!(fs::read_dir(desk.path()).unwrap().count(), 1);
}
