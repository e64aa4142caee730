//! NFS mounts: Kerberos, connections, calls that are sent again.

use iotax_record::machine::{MountSeen, NfsSeen};
use serde::Serialize;

use super::Certainty::{self, Likely, ToBeTested};
use super::{Field, Finder, Finding, MountAt, Observation, Rule, Since, Value, quoted, rule};

pub(super) const RULES: &[Rule] = &[
    rule(&["nfs-kerberos"], Finder::Nfs(kerberos_cost)),
    rule(&["nfs-gss-window"], Finder::Nfs(gss_window)),
    rule(&["nfs-retransmissions"], Finder::Nfs(retransmissions)),
    rule(&["nfs-slots"], Finder::Nfs(slots)),
    rule(&["nfs-attribute-cache"], Finder::Nfs(attribute_cache)),
    rule(&["nfs-read-ahead"], Finder::Nfs(read_ahead)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NfsWhy {
    Kerberos { does: Kerberos },
    GssWindow { connections: u64, lost: Option<NfsLost> },
    SentAgain { lost: NfsLost, timeo: String },
    Slots { most: u64, allowed: u64, mounted_s: Option<u64> },
    // The option that turns it off.
    AttributeCache { off: String },
    ReadAhead { ahead_bytes: u64, call_bytes: u64 },
}

/// What `sec=krb5`, `krb5i` and `krb5p` do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kerberos {
    Authentication,
    Integrity,
    Privacy,
}

/// Calls that were sent again since it was mounted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NfsLost {
    pub share: f64,
    pub calls: u64,
    pub since: Since,
    pub timeouts: u64,
}

const MOUNTSTATS: &str = "/proc/self/mountstats";
/// Calls sent again that are worth a word, as a share of all.
const SENT_AGAIN: f64 = 0.001;
/// The most that there ever was says little of now after this time.
const OLD_S: u64 = 3_600;
/// Fewer calls than this say nothing of a share.
const ENOUGH_CALLS: u64 = 1_000;

fn option(mount: &MountSeen, name: &str, value: impl Into<Value>) -> Observation {
    let field = Field::NfsOption { mount: mount.mount_point.clone(), option: name.to_owned() };
    Observation::field(MOUNTSTATS, field, value)
}

/// The flavour of Kerberos, if it is one.
fn kerberos(nfs: &NfsSeen) -> Option<&str> {
    nfs.option("sec").filter(|sec| ["krb5", "krb5i", "krb5p"].contains(sec))
}

/// Connections of the mount: what is there, or was asked for.
fn connections(nfs: &NfsSeen) -> u64 {
    let asked = nfs.option("nconnect").and_then(|count| count.parse().ok()).unwrap_or(1);
    asked.max(nfs.transports.len() as u64)
}

/// The share of calls that were sent again.
fn sent_again(nfs: &NfsSeen) -> f64 {
    if nfs.operations < ENOUGH_CALLS {
        return 0.0;
    }
    nfs.transmissions.saturating_sub(nfs.operations) as f64 / nfs.operations as f64
}

fn is_lossy(nfs: &NfsSeen) -> bool {
    nfs.major_timeouts > 0 || sent_again(nfs) >= SENT_AGAIN
}

/// Whether it still sends calls again, or has sent so many that it must do so often. A timeout that
/// was waited out once may have been the server's restart.
fn acts(nfs: &NfsSeen) -> bool {
    sent_again(nfs) >= SENT_AGAIN || nfs.sent_again_while_watched.is_some_and(|more| more > 0)
}

/// What was sent again, since when, and whether it still goes on.
fn lost(mount: &MountAt<'_, '_>, nfs: &NfsSeen) -> NfsLost {
    let meanwhile = mount.seen.meanwhile(nfs.sent_again_while_watched);
    NfsLost {
        share: sent_again(nfs),
        calls: nfs.operations,
        since: Since { ago_s: nfs.age_s, meanwhile },
        timeouts: nfs.major_timeouts,
    }
}

fn counters(mount: &MountSeen, nfs: &NfsSeen) -> [Observation; 2] {
    let mount = mount.mount_point.clone();
    let calls = Value::OfAll { part: nfs.transmissions, all: nfs.operations };
    [
        Observation::field(MOUNTSTATS, Field::NfsTransmissions(mount.clone()), calls),
        Observation::field(MOUNTSTATS, Field::NfsMajorTimeouts(mount), nfs.major_timeouts),
    ]
}

/// Stacks that mount the same export with other options.
fn arms(mount: &MountSeen, nfs: &NfsSeen, arms: &[(&str, String)]) -> Option<String> {
    let (server, export) = mount.source.split_once(":/")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:".contains(c);
    let is_safe = !server.is_empty() && server.chars().chain(export.chars()).all(is_plain);
    let versions = ["3", "4.0", "4.1", "4.2"];
    let version = nfs.option("vers").filter(|version| versions.contains(version));
    let version = version.map_or(String::new(), |version| format!(", vers={version}"));
    let arm = |(name, options): &(&str, String)| {
        format!(" {name}='nfs(server=\"{server}\", export=\"/{export}\"{version}, {options})'")
    };
    let arms: String = arms.iter().map(arm).collect();
    is_safe.then(|| format!("iotax compare -w nfs-kerberos --scale 0.05{arms}"))
}

fn kerberos_cost(mount: &MountAt<'_, '_>, nfs: &NfsSeen) -> Option<Finding> {
    let sec = kerberos(nfs)?;
    let (certainty, does) = match sec {
        "krb5i" => (Likely, Kerberos::Integrity),
        "krb5p" => (Likely, Kerberos::Privacy),
        _ => (ToBeTested, Kerberos::Authentication),
    };
    let modes = ["sys", "krb5", "krb5i", "krb5p"].map(|sec| (sec, format!("sec={sec}")));
    let alone = || format!("iotax run nfs-kerberos {} --scale 0.05", quoted(mount.path));
    mount
        .finding_with_source(certainty, NfsWhy::Kerberos { does })
        .observed(option(mount, "sec", sec))
        .command(arms(mount, nfs, &modes).unwrap_or_else(alone))
        .into()
}

/// Several connections that share one window of sequence numbers.
fn gss_window(mount: &MountAt<'_, '_>, nfs: &NfsSeen) -> Option<Finding> {
    let sec = kerberos(nfs)?;
    let connections = connections(nfs);
    let lost = is_lossy(nfs).then(|| lost(mount, nfs));
    let certainty = if lost.is_some() && acts(nfs) { Certainty::Snapshot } else { Likely };
    let seen = lost.map(|_| counters(mount, nfs));
    let with = |connections: u64| format!("sec={sec}, nconnect={connections}");
    let arms = arms(mount, nfs, &[("one", with(1)), ("many", with(connections.clamp(2, 16)))]);
    let alone = || format!("iotax run randread-4k {} --set depth=256", quoted(mount.path));
    let slots = mount
        .seen
        .machine
        .kernel
        .nfs_most_slots
        .map(|slots| Observation::file("/proc/sys/sunrpc/tcp_max_slot_table_entries", slots));
    mount
        .finding_with_source(certainty, NfsWhy::GssWindow { connections, lost })
        .observed(option(mount, "sec", sec))
        .observed(option(mount, "nconnect", connections))
        .observed_all(seen.into_iter().flatten())
        .observed_all(slots)
        .command(arms.unwrap_or_else(alone))
        .when(connections > 1)
}

/// Calls that were sent again, where nothing says why.
fn retransmissions(mount: &MountAt<'_, '_>, nfs: &NfsSeen) -> Option<Finding> {
    let certainty = if acts(nfs) { Likely } else { ToBeTested };
    let timeo = nfs.option("timeo").unwrap_or("600").to_owned();
    let is_told = kerberos(nfs).is_some() && connections(nfs) > 1;
    mount
        .finding_with_source(certainty, NfsWhy::SentAgain { lost: lost(mount, nfs), timeo })
        .observed_all(counters(mount, nfs))
        .run("randread-4k", mount.path, "--set depth=32 --time 30s")
        .when(is_lossy(nfs) && !is_told)
}

/// Calls that wait for a slot.
fn slots(mount: &MountAt<'_, '_>, nfs: &NfsSeen) -> Option<Finding> {
    let (allowed, setting) = mount.seen.machine.kernel.nfs_slots(nfs)?;
    let most = nfs.transports.iter().filter_map(|transport| transport.most_slots).max()?;
    // The kernel keeps the most there ever was, which may be long ago.
    let is_old = nfs.age_s.is_some_and(|age| age >= OLD_S);
    let certainty = if is_old { ToBeTested } else { Likely };
    let field = Field::NfsMostSlots(mount.mount_point.clone());
    mount
        .finding_with_source(certainty, NfsWhy::Slots { most, allowed, mounted_s: nfs.age_s })
        .observed(Observation::field(MOUNTSTATS, field, most))
        .observed(Observation::file(setting, allowed))
        .limits("", mount.path)
        .when(most >= allowed)
}

/// Attributes that are asked for each time.
fn attribute_cache(mount: &MountAt<'_, '_>, nfs: &NfsSeen) -> Option<Finding> {
    let off = nfs.without_cache()?;
    let (name, value) = off.split_once('=').unwrap_or((off, "set"));
    mount
        .finding_with_source(Likely, NfsWhy::AttributeCache { off: off.to_owned() })
        .observed(option(mount, name, value))
        .run("git-status", mount.path, "")
        .into()
}

/// A read-ahead below one call's worth of bytes.
fn read_ahead(mount: &MountAt<'_, '_>, nfs: &NfsSeen) -> Option<Finding> {
    let (ahead_bytes, number) = (mount.read_ahead_bytes?, mount.number.as_deref()?);
    let call_bytes: u64 = nfs.option("rsize")?.parse().ok()?;
    let file = format!("/sys/class/bdi/{number}/read_ahead_kb");
    let now = (ahead_bytes >> 10).to_string();
    // One call, some, and what mounts had before Linux 5.4.
    let values = [1, 4, 15].map(|calls| (calls * (call_bytes >> 10)).to_string());
    mount
        .finding_with_source(Likely, NfsWhy::ReadAhead { ahead_bytes, call_bytes })
        .observed(Observation::file(file.clone(), now.clone()))
        .observed(option(mount, "rsize", call_bytes))
        .compare_values("seqread-1m", "--set direct=false", mount.path, &file, &now, &values)
        .when(ahead_bytes < call_bytes)
}
