//! SMB mounts: encryption, connections, caches, size of requests.

use iotax_record::machine::MountSeen;
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::{Finder, Finding, MountAt, Observation, Rule, Value, rule};

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

fn is_smb(mount: &MountSeen) -> bool {
    matches!(mount.file_system.as_str(), "cifs" | "smb3")
}

fn option(mount: &MountSeen, name: &str) -> Option<Observation> {
    let value = mount.option(name)?;
    Some(Observation::mount(mount, name, if value.is_empty() { "set" } else { value }))
}

/// What encrypts each request.
fn encryption(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let observation = option(mount, "seal")?;
    let is_slow = mount.seen.machine.environment.cpu_aes == Some(false);
    mount
        .finding_with_source(Likely, SmbWhy::Encrypted { source: mount.source.clone(), is_slow })
        .observed(observation)
        .observed_all(option(mount, "vers"))
        .run("seqread-1m", mount.path, "--set depth=16")
        .run("seqwrite-1m", mount.path, "--set depth=16")
        .when(is_smb(mount))
}

/// All requests over one connection.
fn channels(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let wanted = mount.option("max_channels").and_then(|count| count.parse::<u64>().ok());
    let channels = wanted.unwrap_or(if mount.option("multichannel").is_some() { 2 } else { 1 });
    let shown =
        wanted.map_or(Value::NoMultichannel, |count| format!("max_channels={count}").into());
    mount
        .finding_with_source(ToBeTested, SmbWhy::OneConnection { source: mount.source.clone() })
        .observed(Observation::mount(mount, "options", shown))
        .run("seqread-1m", mount.path, "--set depth=32")
        .run("seqread-1m", mount.path, "")
        .when(is_smb(mount) && channels <= 1)
}

/// Reads, writes or stats that always go to the server.
fn cache(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let is_off = |name: &&str| mount.option(name) == Some("0");
    let attributes = ["actimeo", "acregmax", "acdirmax"];
    let (names, what, workload, options) = match () {
        () if mount.option("cache") == Some("none") || mount.option("forcedirectio").is_some() => {
            let names: &[&str] = &["cache", "forcedirectio"];
            (names, NotCached::Data, "seqread-1m", "--set direct=false")
        }
        () if attributes.iter().any(is_off) => {
            (&attributes[..], NotCached::Attributes, "git-status", "")
        }
        () => return None,
    };
    mount
        .finding_with_source(Likely, SmbWhy::NoCache { what })
        .observed_all(names.iter().find_map(|name| option(mount, name)))
        .run("randread-4k", mount.path, "--set direct=false")
        .run(workload, mount.path, options)
        .when(is_smb(mount))
}

/// Requests that carry little.
fn requests(mount: &MountAt<'_, '_>) -> Option<Finding> {
    let size = |name: &'static str| Some((name, mount.option(name)?.parse::<u64>().ok()?));
    let sizes = [size("rsize"), size("wsize")].into_iter().flatten();
    let (name, bytes) = sizes.min_by_key(|(_, bytes)| *bytes)?;
    let reaches = bytes as f64 / ASSUMED_ROUND_TRIP_S;
    let why = SmbWhy::SmallRequests { option: name.to_owned(), bytes, reaches };
    mount
        .finding_with_source(ToBeTested, why)
        .observed(Observation::mount(mount, name, bytes))
        .observed_all(option(mount, "vers"))
        .run("seqread-1m", mount.path, "--set direct=false")
        .when(is_smb(mount) && bytes < LEAST_REQUEST_BYTES)
}
