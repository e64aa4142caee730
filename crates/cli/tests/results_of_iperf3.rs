//! Results of iperf3 as arms: what the receiver got is compared, and nothing is invented.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;
use support::Desk;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dialects/tests/fixtures/iperf3");
const PLAIN: &str = "plain=plain-1.json,plain-2.json,plain-3.json";
const WINDOW: &str = "window=window-1.json,window-2.json,window-3.json";

/// A desk with the fixtures on it.
fn desk() -> Desk {
    let desk = Desk::new();
    for entry in fs::read_dir(FIXTURES).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, desk.path().join(path.file_name().unwrap())).unwrap();
    }
    desk
}

#[test]
fn three_of_each_give_a_verdict_in_bandwidth() {
    let said = desk().run(&["compare", "--out", "out", PLAIN, WINDOW]);
    assert_eq!(said.code, 0, "{said}");
    assert_snapshot!(said.out, @"");
}

#[test]
fn datagrams_at_a_rate_are_compared_in_what_came() {
    let desk = desk();
    let said =
        desk.run(&["compare", "--format", "json", "--out", "out", "udp.json", "udpfast.json"]);
    assert_eq!(said.code, 0, "{said}");
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let metrics: Vec<&str> =
        report["tax"].as_array().unwrap().iter().filter_map(|row| row["metric"].as_str()).collect();
    assert!(metrics.contains(&"delivered"), "{metrics:?}");
}

#[test]
fn a_failed_run_is_refused() {
    let said = desk().run(&["compare", "tcp.json", "refused.json"]);
    assert_ne!(said.code, 0, "{said}");
    assert_snapshot!(said.err, @"");
}
