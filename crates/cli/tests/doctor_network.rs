//! `iotax doctor` on network paths, with faults planted in namespaces that vanish with the test.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use iotax_testing::{needs_programs, needs_root};
use serde_json::Value;
use support::{Desk, wait_for};

const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Network namespaces in a row, joined by pairs of interfaces: `e0` leads back, `e1` on. Number 0
/// is where the doctor is; a peer listens in the last.
struct Row {
    desk: Desk,
    holders: Vec<Child>,
}

impl Row {
    fn of(count: usize) -> Self {
        let hold = |_| {
            let mut child = Command::new("unshare")
                .args(["--net", "--mount", "sh", "-c", "mount -t sysfs sysfs /sys; echo; exec cat"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            // A line, once it is there.
            let mut line = [0];
            std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
            child
        };
        let row = Self { desk: Desk::new(), holders: (0..count).map(hold).collect() };
        fs::write(row.token(), TOKEN).unwrap();
        for at in 0..count {
            row.sh(at, "ip link set lo up; echo 1 > /proc/sys/net/ipv4/ip_forward");
        }
        for at in 1..count {
            let back = row.holders[at].id();
            row.sh(at - 1, &format!("ip link add e1 type veth peer name e0 netns {back}"));
            row.sh(at - 1, &format!("ip addr add 198.18.{at}.1/24 dev e1; ip link set e1 up"));
            row.sh(at, &format!("ip addr add 198.18.{at}.2/24 dev e0; ip link set e0 up"));
            if at < count - 1 {
                continue;
            }
            for near in 0..at {
                row.sh(
                    near,
                    &format!("ip route replace default via 198.18.{}.2 || true", near + 1),
                );
            }
            for far in 1..=at {
                row.sh(far, &format!("ip route add 198.18.1.0/24 via 198.18.{far}.1 || true"));
            }
        }
        row
    }

    fn token(&self) -> PathBuf {
        self.desk.path().join("token")
    }

    fn inside(&self, at: usize, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--net", "--mount", "--target"]).arg(self.holders[at].id().to_string());
        command.arg("--").arg(program);
        command.env("IOTAX_STATE_DIR", self.desk.path().join("state")).stdin(Stdio::null());
        command
    }

    fn sh(&self, at: usize, script: &str) {
        let done = self.inside(at, "sh").args(["-c", script]).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{script}\n{said}");
    }

    /// What the doctor says where it stands.
    fn doctor(&self, args: &[&str]) -> Value {
        let mut command = self.inside(0, env!("CARGO_BIN_EXE_iotax"));
        command.args(["doctor", "--no-metadata", "--format", "json"]).args(args);
        let output = command.env("IOTAX_TOKEN_FILE", self.token()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}\n{said}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// A peer in the last namespace, until it is dropped.
    fn peer(&mut self) -> String {
        let last = self.holders.len() - 1;
        let child = self
            .inside(last, env!("CARGO_BIN_EXE_iotax"))
            .args(["peer", "--listen", "0.0.0.0:7474", "--token-file"])
            .arg(self.token())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let ports = format!("/proc/{}/net/tcp", self.holders[last].id());
        self.holders.push(child);
        wait_for("the peer", || {
            let ended = self.holders.last_mut().unwrap().try_wait().unwrap();
            assert!(ended.is_none(), "the peer ended");
            fs::read_to_string(&ports).unwrap().contains(":1D32 ")
        });
        format!("tcp://198.18.{last}.2:7474")
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        for child in &mut self.holders {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What was found, each cause with how sure it is.
fn found(said: &Value) -> Vec<(String, String)> {
    let findings = said["hosts"][0]["findings"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    findings.iter().map(|one| (text(&one["cause"]), text(&one["certainty"]))).collect()
}

fn has(said: &Value, cause: &str, certainty: &str) {
    let found = found(said);
    let is_it = found.iter().any(|(name, sure)| name == cause && sure == certainty);
    assert!(is_it, "{cause}, {certainty}: {found:?}");
}

fn ready() -> bool {
    needs_root() && needs_programs(&["ip", "tc", "ethtool", "nft", "nsenter", "unshare"])
}

#[test]
fn a_healthy_path_has_nothing_that_hurts() {
    if !ready() {
        return;
    }
    let mut row = Row::of(3);
    let peer = row.peer();
    let said = row.doctor(&[&peer, "--interface", "e1"]);
    // What all CPUs dropped, of whatever namespace, is not of this path.
    let own: Vec<_> =
        found(&said).into_iter().filter(|(name, _)| name != "softnet-drops").collect();
    assert_eq!(own, []);
    let stack = &said["hosts"][0]["stack"];
    assert_eq!(stack[0]["top"]["route"]["destination"], "198.18.2.2");
    assert_eq!(stack[0]["top"]["route"]["gateway"], "198.18.1.2");
    assert_eq!(stack[0]["top"]["route"]["probe"]["arrived_bytes"], 1500);
    assert_eq!(stack[0]["top"]["route"]["probe"]["lost_bytes"], Value::Null);
    assert_eq!(stack[0]["top"]["below"][0]["interface"]["kind"], "veth");
    assert_eq!(stack[1]["top"]["interface"]["is_pair_elsewhere"], true);
}

#[test]
fn a_black_hole_is_told_from_a_path_that_says_what_it_carries() {
    if !ready() {
        return;
    }
    let mut row = Row::of(3);
    let peer = row.peer();
    // The middle carries less, on its far side alone.
    row.sh(1, "ip link set e1 mtu 1300");
    row.sh(
        1,
        "nft add table inet f; nft add chain inet f o '{ type filter hook output priority 0; }'; \
         nft add rule inet f o icmp type destination-unreachable drop",
    );
    let said = row.doctor(&[&peer]);
    let probe = &said["hosts"][0]["stack"][0]["top"]["route"]["probe"];
    assert_eq!((&probe["arrived_bytes"], &probe["lost_bytes"]), (&1300.into(), &1301.into()));
    has(&said, "mtu-black-hole", "snapshot");
    row.sh(1, "nft flush ruleset");
    let said = row.doctor(&[&peer]);
    has(&said, "path-mtu", "to_be_tested");
    assert!(!found(&said).iter().any(|(name, _)| name == "mtu-black-hole"), "{said:#}");
}

#[test]
fn what_a_path_loses_is_a_suspect_of_a_measurement() {
    if !ready() {
        return;
    }
    let mut row = Row::of(3);
    let peer = row.peer();
    let run = |out: &str| {
        let mut command = row.inside(0, env!("CARGO_BIN_EXE_iotax"));
        let out = row.desk.path().join(out);
        // 420 Mbit/s: a flow at full speed fills the queues of a busy machine and loses packets
        // there.
        let load = ["run", "tcp-stream", &peer, "--time", "1s", "--ramp", "200ms"];
        let done = command
            .args(load)
            .args(["--set", "flow.rate=400", "--out"])
            .arg(&out)
            .env("IOTAX_TOKEN_FILE", row.token())
            .output();
        let done = done.unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let said = row.desk.run(&["doctor", "--format", "json", "--record", out.to_str().unwrap()]);
        serde_json::from_str::<Value>(&said.out).unwrap()["causes"].to_string()
    };
    assert!(!run("healthy").contains("packets-lost"));
    // One of ten packets, each of which may be a batch.
    row.sh(
        1,
        "nft add table inet f; nft add chain inet f o '{ type filter hook forward priority 0; }'; \
         nft add rule inet f o oifname e1 numgen random mod 10 == 0 drop",
    );
    let said = run("lossy");
    assert!(said.contains("packets-lost"), "{said}");
}

#[test]
fn a_forgotten_shaper_and_offloads_that_are_off_are_found() {
    if !ready() {
        return;
    }
    let row = Row::of(2);
    row.sh(0, "tc qdisc add dev e1 root tbf rate 500mbit burst 64k latency 50ms");
    row.sh(0, "ethtool -K e1 tso off");
    let said = row.doctor(&["--interface", "e1"]);
    has(&said, "shaper-in-path", "snapshot");
    has(&said, "offloads-off", "likely");
    let findings = said["hosts"][0]["findings"].as_array().unwrap();
    let why = findings.iter().find(|one| one["cause"] == "shaper-in-path").unwrap()["why"].as_str();
    insta::assert_snapshot!(why.unwrap(), @"e1 limits traffic to 500 Mbit/s on the wire, including frame headers (478 Mbit/s of TCP data).");
    row.sh(0, "tc qdisc replace dev e1 root handle 1: htb default 1");
    row.sh(0, "tc class add dev e1 parent 1: classid 1:1 htb rate 100mbit ceil 200mbit");
    let said = row.doctor(&["--interface", "e1"]);
    let qdiscs = &said["hosts"][0]["stack"][0]["top"]["interface"]["qdiscs"];
    assert_eq!(qdiscs[1]["rate_bytes_per_s"], 25e6, "{qdiscs}");
    has(&said, "shaper-in-path", "snapshot");
}

#[test]
fn a_tunnel_that_does_not_fit_is_found_with_what_it_stands_on() {
    if !ready() || !needs_programs(&["wireguard-go", "wg"]) {
        return;
    }
    let row = Row::of(2);
    // Sockets of programs that are WireGuard are in one directory for all namespaces.
    let tunnel = format!("wgd{}", std::process::id());
    let wireguard = row
        .inside(0, "wireguard-go")
        .args(["--foreground", &tunnel])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut row = row;
    row.holders.push(wireguard);
    let socket = format!("/var/run/wireguard/{tunnel}.sock");
    wait_for("the tunnel", || fs::exists(&socket).unwrap());
    row.sh(
        0,
        &format!(
            "wg genkey | wg set {tunnel} private-key /dev/stdin peer $(wg genkey | wg pubkey) \
             endpoint 198.18.1.2:51820 allowed-ips 10.1.0.0/16; \
             ip link set {tunnel} mtu 1480 up; ip addr add 10.1.0.1/16 dev {tunnel}; \
             ip link add vx0 type vxlan id 5 remote 198.18.1.2 local 198.18.1.1 dstport 4789; \
             ip link set vx0 up"
        ),
    );
    let said = row.doctor(&["--interface", &tunnel, "--interface", "vx0"]);
    has(&said, "tunnel-mtu-too-large", "likely");
    has(&said, "network-encryption", "likely");
    let top = &said["hosts"][0]["stack"][0]["top"];
    assert_eq!(top["interface"]["overhead_bytes"], 60);
    assert_eq!(top["below"][0]["interface"]["name"], "e1");
    assert_eq!(said["hosts"][0]["stack"][1]["top"]["interface"]["overhead_bytes"], 50);
    assert!(found(&said).iter().any(|(name, _)| name == "userspace-wireguard"), "{said:#}");
    row.sh(0, &format!("ip link set {tunnel} mtu 1420; ip link set vx0 mtu 1450"));
    let said = row.doctor(&["--interface", &tunnel, "--interface", "vx0"]);
    assert!(!found(&said).iter().any(|(name, _)| name.starts_with("tunnel-mtu")), "{said:#}");
    drop(row);
    let _ = fs::remove_file(socket);
}

#[test]
fn peers_and_interfaces_that_are_not_there_are_told() {
    let desk = Desk::new();
    let said = desk.run(&["doctor", "--no-metadata", "--interface", "no-such"]);
    assert_eq!(said.code, 3, "{said}");
    assert!(said.out.contains("no such interface; this network namespace has "), "{said}");
    let said = desk.run(&["doctor", "--no-metadata", "tcp://10.0.0.2"]);
    insta::assert_snapshot!(said, @"
    error: peer: address: is not host:port
      peer(address=10.0.0.2)
                   ^^^^^^^^ column 14
    for example 10.0.0.2:7474, or [fd00::2]:7474
    [exit 2]
    ");
    let said = desk.run(&["doctor", "--no-metadata", "tcp://127.0.0.1:9"]);
    assert!(said.out.contains("which packet sizes arrive at tcp://127.0.0.1:9"), "{said}");
}
