//! Network paths made by iotax on this machine: load goes over every layer, through the interfaces,
//! queues and tables that it is made of, and nothing is left. Layers that few kernels have are
//! tried in a virtual machine: `vm_layers.rs`.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../../rig/tests/common/machine.rs"]
#[allow(dead_code, reason = "each test binary uses its part")]
mod machine;
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};

use iotax_testing::{needs_programs, needs_root};
use serde_json::Value;
use support::{Desk, wait_for};

const PROGRAMS: [&str; 10] =
    ["ip", "tc", "nft", "ethtool", "wg", "wireguard-go", "openvpn", "ssh", "sshd", "swanctl"];

/// What iotax may leave nowhere: on this desk, among this machine's interfaces, in its rules.
fn state(desk: &Desk) -> (BTreeSet<String>, BTreeSet<String>, String) {
    let interfaces = fs::read_dir("/sys/class/net").unwrap().flatten();
    let interfaces = interfaces.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let tables = Command::new("nft").args(["list", "tables"]).output().unwrap();
    let tables = String::from_utf8(tables.stdout).unwrap();
    (machine::traces_of(desk.path()), interfaces, tables)
}

/// The trial of a run over a path that ends after so many bytes, however long they take.
fn trial(desk: &Desk, workload: &str, bytes: u64, path: &str) -> Value {
    let size = format!("io-size={bytes}");
    let short = ["--ramp", "0", "--time", "60s", "--set", &size, "--out", "out"];
    let said = desk.run(&[&["run", workload, path], &short[..]].concat());
    assert_eq!(said.code, 0, "{workload} over {path}: {said}");
    let trials = fs::read_to_string(desk.path().join("out/trials.jsonl")).unwrap();
    fs::remove_dir_all(desk.path().join("out")).unwrap();
    let trials = trials.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let trial = trials.into_iter().find(|line| line.get("arm").is_some()).unwrap();
    assert_eq!(trial["outcome"], "completed", "{trial}");
    trial
}

#[test]
fn requests_streams_and_datagrams_go_over_every_layer_and_nothing_is_left() {
    if !needs_root() || !needs_programs(&PROGRAMS) {
        return;
    }
    let desk = Desk::new();
    let before = state(&desk);
    for path in [
        "netns",
        "loopback",
        "netns + vxlan",
        "netns + bridge",
        "netns + wireguard",
        "netns + openvpn(cipher=aes-128-gcm) + vxlan + openvpn(cipher=chacha20-poly1305)",
        "netns + ssh + vxlan + ssh(cipher=aes-256-gcm)",
        "netns + libipsec + vxlan + libipsec(cipher=aes-128-cbc-sha256)",
        "netns + libipsec(cipher=aes-256-gcm)",
        "netns + conntrack + conntrack",
        "netns + dnat",
        "loopback + tls(cipher=aes-128-gcm)",
        "netns + dnat + tls",
        "netns + mtu(bytes=1280)",
        "netns + offload(tso=false, gso=false, gro=false)",
        "netns + tbf(rate=500Mbit)",
        "netns + htb(rate=500Mbit)",
        "netns + bridge + tbf(rate=1Gbit) + htb(rate=1Gbit) + vxlan + vxlan + bridge + wireguard \
         + offload(gro=false) + mtu(bytes=1200) + tbf(rate=1Gbit) + dnat",
    ] {
        let requests = trial(&desk, "tcp-rr", 20 * 64, path);
        let answered = &requests["load"]["jobs"][0]["read"];
        assert_eq!(answered["ios"], 20, "{path}: {answered}");
        assert_eq!(answered["bytes"], 20 * 64, "{path}: {answered}");
        let stream = trial(&desk, "tcp-stream", 16 * (128 << 10), path);
        let sent = &stream["load"]["jobs"][0]["write"]["bytes"];
        assert_eq!(*sent, 16 * (128 << 10), "{path}: {sent}");
        if path.contains("tls") {
            continue;
        }
        let datagrams = trial(&desk, "udp-stream", 20 * 1200, path);
        let arrived = &datagrams["load"]["jobs"][0]["udp"]["received"];
        assert!(arrived.as_u64().unwrap() > 10, "{path}: {arrived}");
    }
    assert_eq!(state(&desk), before);
}

/// Counters of the queue of a kind at the near end's interface over a trial: drops, and times over
/// the limit.
fn held_back(trial: &Value, kind: &str) -> [i64; 2] {
    let interfaces = trial["counters"]["interfaces"].as_array().unwrap();
    let near = interfaces.iter().find(|one| one["end"] == "near" && one["name"] == "eth0").unwrap();
    let qdiscs = near["qdiscs"].as_array().unwrap();
    let qdisc = qdiscs.iter().find(|qdisc| qdisc["kind"] == kind).unwrap();
    // A column is its first value and differences.
    [2, 3].map(|counter| {
        let column = qdisc["counters"][counter].as_array().unwrap();
        column.iter().skip(1).map(|more| more.as_i64().unwrap()).sum()
    })
}

#[test]
fn a_queue_that_holds_packets_back_or_drops_them_is_in_the_record() {
    if !needs_root() || !needs_programs(&PROGRAMS) {
        return;
    }
    let desk = Desk::new();
    let free = trial(&desk, "tcp-stream", 16 << 20, "netns + tbf(rate=100Gbit, burst=16M)");
    assert_eq!(held_back(&free, "tbf")[0], 0, "{free}");
    let held = trial(&desk, "tcp-stream", 1 << 20, "netns + tbf(rate=20Mbit)");
    assert!(held_back(&held, "tbf")[1] > 10, "{held}");
    // The queue is shorter than what a socket has under way.
    let lossy = trial(&desk, "udp-stream", 1000 * 1200, "netns + tbf(rate=5Mbit, burst=16k)");
    assert!(held_back(&lossy, "tbf")[0] > 0, "{lossy}");
    let short = ["--ramp", "0", "--time", "1s", "-n", "1", "--out", "out"];
    let said = desk.run(&[&["run", "tcp-stream", "netns + tbf(rate=20Mbit)"], &short[..]].concat());
    for told in
        ["Queues (qdisc)", "near eth0 tbf 1:", "queue tbf 1: of near eth0 exceeded its limit"]
    {
        assert!(said.out.replace("\n    ", " ").contains(told), "{told}: {said}");
    }
}

/// The peer of a run that is under way.
fn peer(desk: &Desk, child: &mut Child) -> String {
    let mut found = None;
    wait_for("the peer", || {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before");
        let all = machine::processes(desk.path());
        found = all.into_iter().find(|(_, line)| line.contains(" peer --listen")).map(|(id, _)| id);
        found.is_some()
    });
    found.unwrap().to_string()
}

#[test]
fn load_passes_through_what_each_layer_is_made_of() {
    if !needs_root() || !needs_programs(&PROGRAMS) || !needs_programs(&["nsenter"]) {
        return;
    }
    let desk = Desk::new();
    let before = state(&desk);
    let path = "netns + conntrack + mtu(bytes=1400) + offload(tso=false) + tbf(rate=1Gbit) \
                + htb(rate=500Mbit) + vxlan + bridge + wireguard(by=wireguard-go) + dnat";
    let run = ["run", "tcp-rr", path, "--ramp", "0", "--time", "600s", "--out", "out"];
    let mut child = desk.command(&run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let peer = peer(&desk, &mut child);
    let at_far_end = |command: &str| {
        let mut nsenter = Command::new("nsenter");
        nsenter.args([&format!("--net=/proc/{peer}/ns/net"), "sh", "-c", command]);
        String::from_utf8(nsenter.output().unwrap().stdout).unwrap()
    };
    // The topmost interface is WireGuard's, whose name is random; all below carry what it does.
    let interfaces =
        "cat /proc/net/dev | sed -nE 's/^ *(eth0|vxlan1|br2|f[0-9a-f]+): *([0-9]+) .*/\\2/p'";
    wait_for("load at every interface", || {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before");
        let received = at_far_end(interfaces);
        let bytes: Vec<u64> = received.lines().map(|line| line.parse().unwrap()).collect();
        bytes.len() == 4 && bytes.iter().all(|bytes| *bytes > 10_000)
    });
    // The kernel counts packets sent before a qdisc has its class; the count is not part of its setup.
    let qdiscs =
        "tc qdisc show dev eth0 | sed -E 's/ (refcnt|direct_packets_stat) [0-9]+//; s/ *$//'";
    insta::assert_snapshot!(at_far_end(qdiscs), @"
    qdisc tbf 1: root rate 1Gbit burst 250000b lat 50ms
    qdisc htb 2: parent 1:1 r2q 10 default 0x1 direct_qlen 1000
    ");
    insta::assert_snapshot!(at_far_end("ip -oneline link show eth0 | grep -o 'mtu [0-9]*'"), @"mtu 1400");
    insta::assert_snapshot!(at_far_end("ethtool -k eth0 | grep -E '^(tcp|generic)-segm'"), @"
    tcp-segmentation-offload: off
    generic-segmentation-offload: on
    ");
    insta::assert_snapshot!(at_far_end("nft list ruleset"), @r#"
    table ip iotax_conntrack {
    	chain input {
    		type filter hook input priority filter; policy accept;
    		iifname "eth0" ct state invalid drop
    	}

    	chain output {
    		type filter hook output priority filter; policy accept;
    		oifname "eth0" ct state invalid drop
    	}
    }
    "#);
    let sent = at_far_end("tc -s class show dev eth0 | grep -A1 'class htb' | tail -1");
    let sent: u64 = sent.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(sent > 10_000, "{sent}");
    child.kill().unwrap();
    child.wait().unwrap();
    let undone = desk.run(&["undo"]);
    assert_eq!(undone.code, 0, "{undone}");
    assert_eq!(state(&desk), before);
}
