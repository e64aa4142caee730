//! The search for caps over one shaped uplink: to a peer that was started by hand, to a host that
//! ssh reaches, and to a disk over NBD, all of which share it.
use std::fs;
use std::process::Command;

use iotax_testing::{needs_fuse, needs_programs, needs_root};
use serde_json::Value;

use crate::support::Desk;

const UPLINK: &str = include_str!("uplink.sh");
const PROGRAMS: [&str; 7] =
    ["ip", "tc", "nsenter", "unshare", "ssh", "sshd", "qemu-storage-daemon"];
/// Slow enough for two CPUs to fill.
const MBIT: f64 = 200.0;

/// What `iotax limits` found over the uplink, with the report.
struct Searched {
    found: Value,
    report: String,
}

fn searched(targets: &[&str]) -> Option<Searched> {
    (needs_root() && needs_programs(&PROGRAMS) && needs_fuse()).then_some(())?;
    let desk = Desk::new();
    fs::write(desk.path().join("token"), "5a".repeat(32)).unwrap();
    let output = ["--quick", "--no-metadata", "--format", "json", "--out", "out"];
    let iotax = desk.command(&[&["limits"], targets, &output].concat());
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "bash", "-c", UPLINK, "uplink"]);
    command.arg(iotax.get_program()).args(iotax.get_args()).current_dir(desk.path());
    let environment = iotax.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(environment).env("IOTAX", iotax.get_program()).env("RATE", format!("{MBIT}mbit"));
    let said = desk.said(&command.output().unwrap());
    assert_eq!(said.code, 0, "{said}");
    let found = serde_json::from_str(&said.out).unwrap();
    let report = desk.run(&["report", "out"]).out;
    Some(Searched { found, report: report.split_whitespace().collect::<Vec<_>>().join(" ") })
}

fn mbit(per_s: &Value) -> f64 {
    per_s.as_f64().unwrap() * 8e-6
}

impl Searched {
    fn target(&self, name: &str) -> &Value {
        let targets = self.found["targets"].as_array().unwrap();
        targets.iter().find(|target| target["name"] == name).unwrap()
    }

    /// Each way the path carries frames at the uplink's rate.
    fn assert_path(&self, name: &str) {
        let path = self.target(name)["path"].as_array().unwrap();
        for quantity in ["bytes_to", "bytes_from"] {
            let cap = path.iter().find(|cap| cap["quantity"] == quantity).unwrap();
            let frames = mbit(&cap["wire"]["per_s"]);
            assert!((frames / MBIT - 1.0).abs() < 0.05, "{quantity}: {frames} in {path:#?}");
        }
    }

    /// The pair has one bucket for each of these.
    fn assert_shared(&self, quantities: &[&str]) {
        let pairs = self.found["sharing"].as_array().unwrap();
        let told: Vec<&str> = pairs.iter().map(|pair| pair["quantity"].as_str().unwrap()).collect();
        assert_eq!(told, quantities);
        for pair in pairs {
            let phi = pair["phi"].as_f64().unwrap();
            assert!((0.7..1.3).contains(&phi), "{pair:#}");
            assert_eq!(pair["verdict"], "shared", "{pair:#}");
        }
    }

    /// The shaper of this end is found and named.
    fn assert_shaper(&self, name: &str) {
        let rows = self.found["documented"].as_array().unwrap();
        let row = rows.iter().find(|row| row["target"] == name).unwrap();
        let limit = &row["limits"][0];
        assert_eq!((&limit["scope"], &limit["of"]), (&"tbf".into(), &"near0".into()), "{row:#}");
        let causes = self.found["causes"].to_string();
        assert!(causes.contains("shaper-in-path"), "{causes}");
        assert!(self.report.contains("at the tbf limit of near0"), "{}", self.report);
    }
}

#[test]
fn two_paths_over_one_uplink_have_its_cap_and_share_it() {
    let Some(searched) = searched(&["peer=tcp://10.77.0.2:7474", "host=ssh://far"]) else { return };
    searched.assert_path("peer");
    searched.assert_path("host");
    searched.assert_shared(&["bw_bytes_to", "bw_bytes_from"]);
    searched.assert_shaper("peer");
    searched.assert_shaper("host");
}

#[test]
fn a_remote_disk_behind_the_uplink_shares_it_with_the_path() {
    let Some(searched) = searched(&["peer=tcp://10.77.0.2:7474", "disk=remote-disk"]) else {
        return;
    };
    searched.assert_path("peer");
    let disk = mbit(&searched.target("disk")["bw_bytes"]["cap"]);
    assert!((0.9..1.0).contains(&(disk / MBIT)), "{disk} in {:#}", searched.target("disk"));
    searched.assert_shared(&["bw_bytes"]);
    let causes = searched.found["causes"].to_string();
    assert!(causes.contains("storage-shares-network"), "{causes}");
    searched.assert_shaper("peer");
}
