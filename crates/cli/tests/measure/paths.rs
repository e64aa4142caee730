//! Known truth on network paths: a token bucket's rate, and netem's delay and loss. Needs root.

use std::fs;
use std::time::Duration;

use iotax_testing::{needs_programs, needs_root};
use iotax_vm::VmOutput;
use serde_json::Value;

use crate::support::Desk;
use crate::vm;

/// Of a frame of 1514 bytes 66 are headers: Ethernet's, IPv4's, TCP's and its time stamps.
const GOODPUT: f64 = 1448.0 / 1514.0;

/// The job of the one trial of a record, and its window in seconds.
fn job(trials: &str) -> (Value, f64) {
    let mut lines = trials.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let trial = lines.find(|line| line.get("arm").is_some()).unwrap();
    let load = &trial["load"];
    (load["jobs"][0].clone(), load["window_ns"].as_f64().unwrap() / 1e9)
}

#[test]
fn the_rate_of_a_token_bucket_is_found() {
    if !needs_root() || !needs_programs(&["ip", "tc"]) {
        return;
    }
    let desk = Desk::new();
    let mut all: Vec<f64> = (0..5)
        .map(|_| {
            let short = ["--ramp", "1s", "--time", "3s", "--out", "out", "--quiet"];
            let run = ["run", "tcp-stream", "netns + tbf(rate=500Mbit)"];
            let said = desk.run(&[&run[..], &short].concat());
            assert_eq!(said.code, 0, "{said}");
            let (job, seconds) =
                job(&fs::read_to_string(desk.path().join("out/trials.jsonl")).unwrap());
            fs::remove_dir_all(desk.path().join("out")).unwrap();
            job["write"]["bytes"].as_f64().unwrap() * 8.0 / 1e6 / seconds
        })
        .collect();
    all.sort_by(f64::total_cmp);
    eprintln!("Mbit/s under a bucket of 500: {all:.1?}; its goodput: {:.1}", 500.0 * GOODPUT);
    assert!((all[2] / (500.0 * GOODPUT) - 1.0).abs() < 0.05, "{all:?}");
}

/// The median round trip of a run, in milliseconds.
fn round_trip_ms(did: &VmOutput, run: &str) -> f64 {
    let said: Value = serde_json::from_str(&did.text(&format!("{run}.json"))).unwrap();
    said["jobs"][0]["read"]["lat_ns"]["percentile"]["50.000000"].as_f64().unwrap() / 1e6
}

/// Datagrams lost, of so many.
fn lost(did: &VmOutput, record: &str) -> (f64, f64) {
    let (job, _) = job(&did.text(&format!("{record}/trials.jsonl")));
    let count = |name| job["udp"][name].as_f64().unwrap();
    (count("sent") - count("received"), count("sent"))
}

#[test]
fn the_delay_and_the_loss_of_netem_are_found() {
    let Some(vm) = vm::guest(1 << 20).and_then(|vm| vm.with_programs(&["ip", "tc"])) else {
        return;
    };
    let vm = vm.alone().limit(Duration::from_mins(5));
    let did = vm.run(include_str!("../vm/netem.sh")).success();
    let of = |name: &str| {
        let mut all: Vec<f64> =
            (1..=3).map(|number| round_trip_ms(&did, &format!("{name}.{number}"))).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let (without, with) = (of("rr"), of("rr-2ms"));
    eprintln!("ms of a round trip: {without:.3?}, with netem(delay=2ms): {with:.3?}");
    assert!((with[1] - without[1] - 2.0).abs() < 0.2, "{without:?} {with:?}");
    let ((lost_without, sent_without), (lost_with, sent)) =
        (lost(&did, "udp"), lost(&did, "udp-loss"));
    eprintln!(
        "datagrams lost: {lost_without} of {sent_without}, with netem(loss=1%): {lost_with} of {sent}"
    );
    let share = lost_with / sent - lost_without / sent_without;
    // Four standard deviations of a binomial share.
    assert!((share - 0.01).abs() < 4.0 * (0.01 * 0.99 / sent).sqrt(), "{share}");
}
