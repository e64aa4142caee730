//! Known differences are found, and called what they are.

use serde_json::Value;

use crate::support::Desk;

/// Short trials: what is tested is the path, not the precision.
const SHORT: [&str; 4] = ["--time", "300ms", "--ramp", "50ms"];

const JOBS: &str = "\
[global]
bs=4k
size=1M
ioengine=psync
time_based
runtime=300ms

[reads]
rw=randread

[writes]
stonewall
rw=write
";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

#[test]
fn a_delay_of_twice_the_latency_is_found_and_named() {
    let desk = Desk::new();
    let arms =
        ["base=mem(size=16M) + delay(latency=200us)", "slow=mem(size=16M) + delay(latency=400us)"];
    let options = ["compare", "--quick", "-w", "randread-4k", "--format", "json", "--out", "out"];
    let said = desk.run(&[&options[..], &SHORT, &arms].concat());
    assert_eq!(said.code, 0, "{said}");
    let result = json(&said.out);
    let first = &result["comparisons"][0];
    assert_eq!(first["arm"], "slow");
    assert_eq!(first["metric"], "throughput");
    assert_eq!(first["verdict"], "slower");
    let [tax, lo, hi] = ["tax", "lo", "hi"].map(|key| first[key].as_f64().unwrap());
    assert!(lo < tax && tax < hi && lo > 0.0, "{first}");
    assert!(first["blocks"].as_u64().unwrap() >= 3);
}

#[test]
fn each_phase_of_a_comparison_has_its_own_verdict() {
    let desk = Desk::new();
    std::fs::write(desk.path().join("two.fio"), JOBS).unwrap();
    let arms = ["base=mem(size=4M)", "slow=mem(size=4M) + delay(latency=300us)"];
    let options = ["compare", "--quick", "-w", "two.fio", "--out", "out", "--format", "json"];
    let said = desk.run(&[&options[..], &arms].concat());
    assert_eq!(said.code, 0, "{said}");
    let result = json(&said.out);
    for phase in result["phases"].as_array().unwrap() {
        assert_eq!(phase["comparisons"][0]["verdict"], "slower", "{said}");
    }
}
