//! Burst credits are spent before anything is measured.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use support::Desk;

/// Three times the rate that lasts, for as long as the credits of eight seconds of that pay.
const BURSTING: &str = "mem(size=16M) + throttle(iops=300, burst_iops=900, credits=8s)";

#[test]
fn a_run_after_draining_shows_what_lasts() {
    let desk = Desk::new();
    let load = ["run", "randread-4k", BURSTING, "--set", "depth=8", "--ramp", "0s", "--time", "2s"];
    let options = ["--drain=60s", "--out", "out", "--format", "json"];
    let said = desk.run(&[&load[..], &options].concat());
    assert_eq!(said.code, 0, "{said}");
    let result: Value = serde_json::from_str(&said.out).unwrap();
    let result = &result["iotax"];
    let drained = &result["drained"][0];
    let near = |value: &Value, wanted: f64| {
        let value = value.as_f64().unwrap_or_else(|| panic!("{drained}"));
        assert!((value / wanted - 1.0).abs() < 0.1, "{value} instead of {wanted}: {drained}");
    };
    near(&drained["burst_iops"], 900.0);
    near(&drained["rate_iops"], 300.0);
    assert_eq!(drained["regime"], "sustained", "{drained}");
    near(&result["arms"][0]["iops"], 300.0);

    let text = desk.run(&["report", "out"]);
    assert!(text.out.contains("\nDrained beforehand\n"), "{text}");
}

#[test]
fn results_of_other_tools_cannot_be_drained() {
    let desk = Desk::new();
    let fio = r#"{"fio version": "fio-3.33", "jobs": []}"#;
    std::fs::write(desk.path().join("a.json"), fio).unwrap();
    std::fs::write(desk.path().join("b.json"), fio).unwrap();
    let said = desk.run(&["compare", "a.json", "b.json", "--drain"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(said.err.starts_with("error: --drain says how to run a load"), "{said}");
}
