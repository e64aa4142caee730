//! `--drain`, where it makes no sense. What it finds is judged by `cargo xtask measure`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use support::Desk;

#[test]
fn results_of_other_tools_cannot_be_drained() {
    let desk = Desk::new();
    let fio = r#"{"fio version": "fio-3.33", "jobs": []}"#;
    std::fs::write(desk.path().join("a.json"), fio).unwrap();
    std::fs::write(desk.path().join("b.json"), fio).unwrap();
    let said = desk.run(&["compare", "a.json", "b.json", "--drain"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(said.err.starts_with("error: --drain has no effect on saved results"), "{said}");
}

#[test]
fn a_run_is_drained_beforehand_and_says_so() {
    let desk = Desk::new();
    let stack = "mem(size=16M) + throttle(iops=300, burst_iops=900, credits=1s)";
    let load = ["run", "randread-4k", stack, "--ramp", "0s", "--time", "300ms"];
    let said = desk.run(&[&load[..], &["--drain=3s", "--out", "out", "--format", "json"]].concat());
    assert_eq!(said.code, 0, "{said}");
    let result: Value = serde_json::from_str(&said.out).unwrap();
    let drained = &result["iotax"]["drained"][0];
    // Whether a level was found in that time is the machine's affair.
    assert!(drained["seconds"].is_f64() && drained["arm"] == "target", "{result:#}");
    let text = desk.run(&["report", "out"]);
    assert!(text.out.contains("\nBurst credits drained\n"), "{text}");
}
