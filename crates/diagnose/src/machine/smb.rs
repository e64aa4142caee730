//! SMB mounts: encryption, connections, caches, size of requests.

use iotax_record::machine::MountSeen;
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, Finding};
use crate::machine::observation::{Observation, Value};
use crate::machine::snapshot::Snapshot;

pub(super) const RULES: &[Rule] = &[
    rule(&["smb-encryption"], Finder::Mount(encryption)),
    rule(&["smb-single-channel"], Finder::Mount(channels)),
    rule(&["smb-cache"], Finder::Mount(cache)),
    rule(&["smb-small-requests"], Finder::Mount(requests)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SmbWhy {
    // Slowly where the CPU has no AES instructions.
    Encrypted { source: String, is_slow: bool },
    OneConnection { source: String },
    NoCache { what: NotCached },
    // What the option allows of a request, and the rate that it comes to.
    SmallRequests { option: String, bytes: u64, reaches: f64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotCached {
    Data,
    Attributes,
}

/// Smaller requests than this need more round trips than they must.
const LEAST_REQUEST_BYTES: u64 = 1 << 20;
/// A round trip that rates are computed with.
const ASSUMED_ROUND_TRIP_S: f64 = 0.001;

fn about(mount: &MountSeen) -> Component {
    Component::mount(mount).also(mount.source.as_str())
}

/// The mount, if it is one of SMB.
fn smb(mount: &MountSeen) -> Option<&MountSeen> {
    matches!(mount.file_system.as_str(), "cifs" | "smb3").then_some(mount)
}

fn option(mount: &MountSeen, name: &str) -> Option<Observation> {
    let value = mount.option(name)?;
    Some(Observation::mount(mount, name, if value.is_empty() { "set" } else { value }))
}

/// What encrypts each request.
fn encryption(seen: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let observation = option(smb(mount)?, "seal")?;
    let is_slow = seen.machine.environment.cpu_aes == Some(false);
    let why = SmbWhy::Encrypted { source: mount.source.clone(), is_slow };
    Some(
        Finding::new("smb-encryption", about(mount), Certainty::Likely, why)
            .observed(observation)
            .observed_if(option(mount, "vers"))
            .run("seqread-1m", path, "--set depth=16")
            .run("seqwrite-1m", path, "--set depth=16"),
    )
}

/// All requests over one connection.
fn channels(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let mount = smb(mount)?;
    let asked = mount.option("max_channels").and_then(|count| count.parse::<u64>().ok());
    let channels = match (mount.option("multichannel"), asked) {
        (Some(_), count) => count.unwrap_or(2),
        (None, count) => count.unwrap_or(1),
    };
    let why = SmbWhy::OneConnection { source: mount.source.clone() };
    let told = asked.map_or(Value::NoMultichannel, |count| format!("max_channels={count}").into());
    let finding = Finding::new("smb-single-channel", about(mount), Certainty::ToBeTested, why)
        .observed(Observation::mount(mount, "options", told))
        .run("seqread-1m", path, "--set depth=32")
        .run("seqread-1m", path, "");
    (channels <= 1).then_some(finding)
}

/// Reads, writes or stats that always go to the server.
fn cache(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let mount = smb(mount)?;
    let is_off = |name: &str, value: &str| mount.option(name) == Some(value);
    let (observation, what, workload) =
        if is_off("cache", "none") || mount.option("forcedirectio").is_some() {
            (
                option(mount, "cache").or_else(|| option(mount, "forcedirectio")),
                NotCached::Data,
                "seqread-1m",
            )
        } else if ["actimeo", "acregmax", "acdirmax"].iter().any(|name| is_off(name, "0")) {
            let names = ["actimeo", "acregmax", "acdirmax"];
            (names.iter().find_map(|name| option(mount, name)), NotCached::Attributes, "git-status")
        } else {
            return None;
        };
    let why = SmbWhy::NoCache { what };
    let finding = Finding::new("smb-cache", about(mount), Certainty::Likely, why)
        .observed_if(observation)
        .run("randread-4k", path, "--set direct=false");
    Some(if workload == "git-status" {
        finding.run(workload, path, "")
    } else {
        finding.run(workload, path, "--set direct=false")
    })
}

/// Requests that carry little.
fn requests(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let mount = smb(mount)?;
    let size = |name: &str| Some((name.to_owned(), mount.option(name)?.parse::<u64>().ok()?));
    let sizes = [size("rsize"), size("wsize")].into_iter().flatten();
    let (name, least) = sizes.min_by_key(|(_, bytes)| *bytes)?;
    let why = SmbWhy::SmallRequests {
        option: name.clone(),
        bytes: least,
        reaches: least as f64 / ASSUMED_ROUND_TRIP_S,
    };
    let finding = Finding::new("smb-small-requests", about(mount), Certainty::ToBeTested, why)
        .observed(Observation::mount(mount, &name, least.to_string()))
        .observed_if(option(mount, "vers"))
        .run("seqread-1m", path, "--set direct=false");
    (least < LEAST_REQUEST_BYTES).then_some(finding)
}
