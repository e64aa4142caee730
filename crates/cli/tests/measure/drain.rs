//! Burst credits are spent before anything is measured.

use serde_json::Value;

use crate::support::Desk;

/// Three times the rate that lasts, for as long as the credits of eight seconds of that pay.
const BURSTING: &str = "mem(size=16M) + throttle(iops=300, burst_iops=900, credits=8s)";

/// A cap on I/Os and one on bytes, with credits of their own: 300 or 900 per second, 30 or 90 MiB.
const TWO_BUCKETS: &str =
    "mem(size=64M) + throttle(iops=300, burst_iops=900, bw=30M, burst_bw=90M, credits=8s)";
const THREE_PHASES: &str = "\
[global]
direct=1
rw=randread
iodepth=8
size=16M
time_based
runtime=2
[small]
bs=4k
[larger]
stonewall
bs=16k
[large]
stonewall
bs=512k
";

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
    assert!(text.out.contains("\nBurst credits drained\n"), "{text}");
}

#[test]
fn each_phase_of_a_suite_is_drained_and_labelled() {
    let desk = Desk::new();
    std::fs::write(desk.path().join("three.fio"), THREE_PHASES).unwrap();
    let said = desk.run(&["run", "three.fio", TWO_BUCKETS, "--drain=60s", "--out", "out"]);
    assert_eq!(said.code, 0, "{said}");
    let report = desk.run(&["report", "out", "--format", "json"]);
    let result: Value = serde_json::from_str(&report.out).unwrap();
    let phases = result["iotax"]["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 3);
    // The second uses the bucket that the first has emptied: no step, and not in vain.
    for (phase, (rate, has_step)) in
        phases.iter().zip([(300.0, true), (300.0, false), (60.0, true)])
    {
        let drained = &phase["drained"][0];
        let found = drained["rate_iops"].as_f64().unwrap_or_else(|| panic!("{drained}"));
        assert!((found / rate - 1.0).abs() < 0.1, "{found} instead of {rate}: {drained}");
        assert_eq!(drained["burst_iops"].is_null(), !has_step, "{drained}");
        assert!(has_step || drained["seconds"].as_f64().unwrap() < 20.0, "{drained}");
        assert_eq!(drained["regime"], "sustained", "{drained}");
        let iops = phase["arms"][0]["iops"].as_f64().unwrap();
        assert!((iops / rate - 1.0).abs() < 0.1, "{iops} instead of {rate}");
    }
}
