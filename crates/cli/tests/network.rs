//! Network paths: this machine's to itself, and to a peer that was started by hand.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::fs;
use std::io::Read as _;
use std::process::{Command, Stdio};

use iotax_testing::needs_program;
use serde_json::Value;
use support::Desk;
use support::peer::Peer;

const SHORT: [&str; 4] = ["--time", "200ms", "--ramp", "50ms"];

fn json(desk: &Desk, words: &[&str]) -> Value {
    let said = desk.run(&[words, &SHORT, &["--format", "json"]].concat());
    assert_eq!(said.code, 0, "{said}");
    let value: Value = serde_json::from_str(&said.out).unwrap();
    // What fio knows no words for.
    value.get("iotax").unwrap_or(&value).clone()
}

#[test]
fn a_path_is_measured_from_all_sides() {
    let desk = Desk::new();
    let suite = json(&desk, &["net"]);
    let phases = suite["phases"].as_array().unwrap();
    let loads = phases.iter().map(|phase| phase["arms"][0]["network"]["load"].as_str().unwrap());
    assert_eq!(
        loads.collect::<Vec<_>>(),
        ["round_trips", "stream", "stream", "stream", "stream", "stream", "datagrams", "datagrams"]
    );
    let both = &phases[5]["arms"][0]["network"];
    let [to, from] = [0, 1].map(|way| both["each_way"][way].as_f64().unwrap());
    assert!(to > 0.0 && from > 0.0, "{both:#}");
    assert!((to + from) / both["bits_per_s"].as_f64().unwrap() - 1.0 < 1e-9, "{both:#}");
    for phase in phases {
        let network = &phase["arms"][0]["network"];
        assert!(network["bits_per_s"].as_f64().unwrap() > 0.0, "{network:#}");
        assert!(network["cpu_ns"].as_f64().unwrap() > 0.0, "{network:#}");
    }
}

#[test]
fn paths_are_compared_in_what_they_are_about() {
    let desk = Desk::new();
    let quick = ["--max-blocks", "3", "--no-depth-check"];
    let words = [&["compare", "-w", "tcp-rr", "a=loopback", "b=loopback"][..], &quick].concat();
    let compared = json(&desk, &words);
    let metrics = compared["comparisons"].as_array().unwrap().iter();
    let metrics: Vec<&str> = metrics.map(|c| c["metric"].as_str().unwrap()).collect();
    assert_eq!(metrics, ["round_trip", "p50", "cpu_per_request"]);
}

/// How much CPU time a flow gets on a machine that others use is anybody's guess: the record must
/// have what was used, and a record of a quiet machine is made of it.
#[test]
fn a_flow_that_one_core_limits_is_said_to_be() {
    let desk = Desk::new();
    let words = ["run", "tcp-stream", "loopback(cpus=apart)", "-n", "1", "--out", "out"];
    let said = desk.run(&[&words[..], &["--time", "1s", "--ramp", "50ms"]].concat());
    assert_eq!(said.code, 0, "{said}");
    let path = desk.path().join("out/trials.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let load = lines.iter_mut().find_map(|line| line.get_mut("load")).unwrap();
    let figure = |value: &Value| value.as_u64().unwrap();
    let job = &load["jobs"][0];
    let (own, far) = (
        figure(&job["cpu_user_ns"]) + figure(&job["cpu_system_ns"]),
        figure(&load["far_end"]["cpu_ns"]),
    );
    let window_ns = figure(&load["window_ns"]);
    let all = load["busiest"].as_array_mut().unwrap().iter_mut();
    let threads: Vec<&mut Value> = all.filter(|one| one["one"]["thread"].is_object()).collect();
    let [near, peer] = <[&mut Value; 2]>::try_from(threads).unwrap();
    assert_eq!((&near["end"], &near["one"]["thread"]["name"]), (&"near".into(), &"flow.0".into()));
    assert_eq!((&peer["end"], &peer["one"]["thread"]["name"]), (&"far".into(), &"peer".into()));
    assert_eq!(figure(&near["busy_ns"]), own);
    // In ticks, and the peer's other threads do next to nothing.
    assert!(figure(&peer["busy_ns"]).abs_diff(far) < 50_000_000, "{peer} {far}");
    peer["busy_ns"] = (window_ns * 99 / 100).into();
    load["system"]["cpu_busy_ns"] = window_ns.into();
    let changed: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(&path, changed.join("\n") + "\n").unwrap();
    let said = desk.run(&["report", "out", "--format", "json"]);
    let value: Value = serde_json::from_str(&said.out).unwrap();
    let warnings = value.get("iotax").unwrap_or(&value)["warnings"].as_array().unwrap().clone();
    let told = warnings.iter().find(|warning| warning["check"] == "one_core");
    let Some(told) = told else {
        // With a single CPU there is none left.
        assert_eq!(std::thread::available_parallelism().unwrap().get(), 1, "{warnings:?}");
        return;
    };
    let told = told["message"].as_str().unwrap();
    let begins = "flow limited by one core at the far end: thread `peer` used 99 % of a CPU while ";
    assert!(told.starts_with(begins), "{told}");
}

#[test]
fn a_search_for_caps_of_a_path_that_is_interrupted_tells_what_it_has() {
    let desk = Desk::new();
    let mut search = desk.command(&["limits", "--quick", "loopback", "--out", "out"]);
    let mut child = search.stdout(Stdio::null()).spawn().unwrap();
    let probes = desk.path().join("out/probes.jsonl");
    support::wait_for("two probes", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended before");
        fs::read_to_string(&probes).is_ok_and(|probes| probes.lines().count() > 2)
    });
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    assert!(!child.wait().unwrap().success());
    let report = desk.run(&["report", "out", "--format", "csv"]);
    assert_eq!(report.code, 0, "{report}");
    let rows: Vec<&str> = report.out.lines().skip(1).take(2).collect();
    assert!(
        rows[0].starts_with("loopback,\"streams to the peer, 1 at once\",131072,1,"),
        "{report}"
    );
    assert!(
        rows[1].starts_with("loopback,\"streams to the peer, 2 at once\",131072,1,"),
        "{report}"
    );
}

#[test]
fn connections_are_encrypted_if_they_stay() {
    let desk = Desk::new();
    let ran = json(&desk, &["run", "tcp-rr", "loopback + tls(cipher=chacha20-poly1305)"]);
    assert_eq!(ran["arms"][0]["network"]["load"], "round_trips", "{ran:#}");
    let past = ["udp-stream", "tcp-connect"].map(|workload| {
        let refused = desk.run(&["run", workload, "loopback + tls"]);
        assert_eq!(refused.code, 2, "{refused}");
        refused.err
    });
    insta::assert_snapshot!(past.join("\n"), @"
    error: arm `target`, job `datagrams`: engine: udp_stream cannot use loopback + tls, which encrypts only long-lived TCP connections
    remove the top layer, or choose tcp-stream or tcp-rr

    error: arm `target`, job `connections`: engine: tcp_connect cannot use loopback + tls, which encrypts only long-lived TCP connections
    remove the top layer, or choose tcp-stream or tcp-rr
    ");
}

#[test]
fn what_the_kernel_copied_all_the_same_is_said() {
    let desk = Desk::new();
    let words = ["run", "tcp-stream", "loopback", "--set", "zero-copy=true", "-n", "1"];
    let ran = json(&desk, &words);
    assert_eq!(ran["arms"][0]["network"]["copied"], 1.0, "{ran:#}");
    let said = desk.run(&[&words[..], &SHORT].concat());
    let told = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("zero-copy requested, but the kernel copied all data"), "{said}");
    let encrypted = [&words[..2], &["loopback + tls"], &words[3..]].concat();
    insta::assert_snapshot!(desk.run(&encrypted).err, @"
    error: arm `target`, job `flow`: zero-copy: to encrypt the data, loopback + tls copies it
    leave out zero-copy, or remove the top layer
    ");
}

#[test]
fn a_peer_serves_whoever_has_its_token() {
    let desk = Desk::new();
    let peer = Peer::start();
    let token = peer.token.as_str();
    fs::write(desk.path().join("token"), token).unwrap();
    fs::write(desk.path().join("other"), "5a".repeat(32)).unwrap();
    let at = |file: &str| format!("peer(address={}, token={file})", peer.address);
    let ran = json(&desk, &["run", "tcp-stream", &at("token")]);
    assert_eq!(ran["arms"][0]["network"]["load"], "stream", "{ran:#}");

    let refused = desk.run(&["run", "tcp-rr", &at("other")]);
    assert_eq!(refused.code, 3, "{refused}");
    assert!(refused.err.contains("it rejected the token"), "{refused}");

    let without = desk.run(&["run", "tcp-rr", &format!("tcp://{}", peer.address)]);
    assert!(without.err.contains("IOTAX_TOKEN_FILE"), "{without}");

    let record = desk.run(&["run", "tcp-rr", &at("token"), "--time", "50ms", "--out", "record"]);
    assert_eq!(record.code, 0, "{record}");
    for entry in fs::read_dir(desk.path().join("record")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(token), "a record has no secret");
    }
}

#[test]
fn a_record_keeps_the_way_to_the_peer() {
    if !needs_program("ip") {
        return;
    }
    let desk = Desk::new();
    let peer = Peer::handed(&"5a".repeat(32));
    fs::write(desk.path().join("token"), &peer.token).unwrap();
    let target = format!("peer(address={}, token=token)", peer.address);
    let ran = desk.run(&["run", "tcp-rr", &target, "--time", "50ms", "--out", "record"]);
    assert_eq!(ran.code, 0, "{ran}");
    let seen = desk.run(&["doctor", "--record", "record", "--format", "json"]);
    let seen: Value = serde_json::from_str(&seen.out).unwrap();
    let machine = &seen["hosts"][0]["machine"];
    assert_eq!(machine["paths"][0]["path"], format!("tcp://{}", peer.address), "{machine:#}");
    let nodes = machine["nodes"].as_array().unwrap().iter();
    let interfaces: Vec<_> = nodes.filter_map(|node| node["interface"]["name"].as_str()).collect();
    assert_eq!(interfaces, ["lo"], "{machine:#}");
    assert!(machine["network"]["tcp"]["most_send_bytes"].is_u64(), "{machine:#}");
}

#[test]
fn a_peer_that_was_handed_its_token_ends_with_whoever_did() {
    let mut peer = Peer::handed(&"5a".repeat(32));
    drop(peer.process.stdin.take());
    assert!(peer.process.wait().unwrap().success());
    let mut rest = String::new();
    peer.process.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "", "the token is not said again");
}
