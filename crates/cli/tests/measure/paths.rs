//! Known truth on network paths: a token bucket's rate, netem's delay and loss, and that a path is
//! no other than itself. Needs root. `IOTAX_REPEATS` says how often each is tried.

use std::fs;
use std::time::Duration;

use iotax_testing::{needs_programs, needs_root};
use iotax_vm::VmOutput;
use serde_json::Value;

use crate::support::Desk;
use crate::vm;

/// Verdicts that call two arms different.
const DIFFERENT: [&str; 3] = ["slower", "faster", "effect changed"];

fn repeats(usual: usize) -> usize {
    std::env::var("IOTAX_REPEATS").map_or(usual, |times| times.parse().unwrap())
}

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
            let short = ["--ramp", "1s", "--time", "3s", "--out", "out"];
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

#[test]
fn limits_finds_the_rate_of_a_token_bucket_each_time_and_each_way() {
    if !needs_root() || !needs_programs(&["ip", "tc"]) {
        return;
    }
    let desk = Desk::new();
    let searched = (0..repeats(2)).map(|at| {
        let out = format!("out{at}");
        let limits = ["limits", "--quick", "netns + tbf(rate=500Mbit)", "--format", "json"];
        let said = desk.run(&[&limits[..], &["--out", &out]].concat());
        assert_eq!(said.code, 0, "{said}");
        let found: Value = serde_json::from_str(&said.out).unwrap();
        let path = found["targets"][0]["path"].as_array().unwrap().clone();
        let of = |quantity: &str| {
            let cap = path.iter().find(|cap| cap["quantity"] == quantity).unwrap();
            let mbit = |per_s: &Value| per_s.as_f64().unwrap() * 8.0 / 1e6;
            (mbit(&cap["cap"]), mbit(&cap["wire"]["per_s"]), cap["kind"].clone())
        };
        let both = [of("bytes_to"), of("bytes_from")];
        eprintln!("Mbit/s of data, of frames, set by: {both:.1?}");
        both
    });
    let found: Vec<_> = searched.flatten().collect();
    let is_near = |(data, frames, _): &&(f64, f64, Value)| {
        (data / (500.0 * GOODPUT) - 1.0).abs() < 0.05 && (frames / 500.0 - 1.0).abs() < 0.05
    };
    let near = found.iter().filter(is_near).count();
    let throttles = found.iter().filter(|(.., kind)| kind == "throttle").count();
    eprintln!("{near} of {} within 5 %, {throttles} called a throttle", found.len());
    assert_eq!(near, found.len());
}

#[test]
fn a_path_is_not_called_other_than_itself() {
    if !needs_root() || !needs_programs(&["ip"]) {
        return;
    }
    let desk = Desk::new();
    let times = repeats(6);
    let mut called = Vec::new();
    for at in 0..times {
        let workload = ["tcp-stream", "tcp-rr", "udp-stream"][at % 3];
        let short = ["--time", "500ms", "--ramp", "200ms", "--format", "json"];
        let compare =
            ["compare", "--quick", "--no-depth-check", "-w", workload, "a=netns", "b=netns"];
        let out = format!("out{at}");
        let said = desk.run(&[&compare[..], &short, &["--out", &out]].concat());
        assert_eq!(said.code, 0, "{said}");
        let found: Value = serde_json::from_str(&said.out).unwrap();
        let first = &found["comparisons"][0];
        let verdict = first["verdict"].as_str().unwrap();
        let (metric, blocks) = (&first["metric"], &first["blocks"]);
        eprintln!(
            "{workload}: {metric} {verdict}, {} [{}, {}], {blocks} blocks",
            first["tax"], first["lo"], first["hi"]
        );
        if DIFFERENT.contains(&verdict) {
            called.push(workload);
        }
    }
    eprintln!("{} of {times} called different: {called:?}", called.len());
    // Of few comparisons one may be.
    assert!(called.len() <= (times / 20).max(1), "{called:?} of {times}");
}

/// The median round trip of a run, in milliseconds.
fn round_trip_ms(did: &VmOutput, run: &str) -> f64 {
    let said: Value = serde_json::from_str(&did.text(&format!("{run}.json"))).unwrap();
    said["jobs"][0]["read"]["lat_ns"]["percentile"]["50.000000"].as_f64().unwrap() / 1e6
}

/// Standard deviations of a binomial share: each of its intervals holds with 99.7 %, all of 20 with
/// 95 %.
const Z: f64 = 3.0;

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
    let times = repeats(3);
    let minutes = 5 + times as u64 / 2;
    let vm = vm.alone().limit(Duration::from_mins(minutes));
    let script = format!("times={times}\n{}", include_str!("../vm/netem.sh"));
    let did = vm.run(&script).success();
    let of = |name: &str| -> Vec<f64> {
        (1..=times).map(|number| round_trip_ms(&did, &format!("{name}.{number}"))).collect()
    };
    let (without, with) = (of("rr"), of("rr-2ms"));
    eprintln!("ms of a round trip: {without:.3?}, with netem(delay=2ms): {with:.3?}");
    let added = with.iter().zip(&without).map(|(with, without)| with - without - 2.0);
    let near = added.filter(|off| off.abs() < 0.2).count();
    let mut found = 0;
    for number in 1..=times {
        let (lost_without, sent_without) = lost(&did, &format!("udp.{number}"));
        let (lost_with, sent) = lost(&did, &format!("udp-loss.{number}"));
        let share = lost_with / sent - lost_without / sent_without;
        let is_found = (share - 0.01).abs() < Z * (0.01 * 0.99 / sent).sqrt();
        found += usize::from(is_found);
        eprintln!(
            "datagrams lost: {lost_without} of {sent_without}, with netem(loss=1%): {lost_with} of {sent}"
        );
    }
    eprintln!(
        "delay within 0.2 ms: {near} of {times}; loss within its interval: {found} of {times}"
    );
    assert_eq!((near, found), (times, times));
}
