//! NFS mounts: Kerberos, connections, calls that are sent again.

use iotax_quantity::percent;
use iotax_record::machine::{MountSeen, NfsSeen};

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::{Snapshot, meanwhile, quoted, since};

const MOUNTSTATS: &str = "/proc/self/mountstats";
/// Calls sent again that are worth a word, as a share of all.
const SENT_AGAIN: f64 = 0.001;
/// The most that there ever was says little of now after this time.
const OLD_S: u64 = 3_600;
/// Fewer calls than this say nothing of a share.
const ENOUGH_CALLS: u64 = 1_000;

fn mounts<'a>(
    seen: &Snapshot<'a>,
) -> impl Iterator<Item = (&'a MountSeen, &'a NfsSeen, &'a str)> + use<'a> {
    let mounts = seen.mounts().filter_map(|(mount, path)| Some((mount, mount.nfs.as_ref()?, path)));
    mounts.collect::<Vec<_>>().into_iter()
}

fn about(mount: &MountSeen) -> String {
    format!("{} ({})", mount.mount_point, mount.source)
}

fn option(mount: &MountSeen, name: &str, value: impl Into<String>) -> Observation {
    Observation::field(MOUNTSTATS, format!("{}: opts, {name}", mount.mount_point), value)
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
fn lost(seen: &Snapshot<'_>, nfs: &NfsSeen) -> String {
    let watched_ms = seen.machine.counting.watched_ms;
    let now = meanwhile(nfs.sent_again_while_watched, watched_ms);
    format!(
        "{} of {} calls were sent again {}{}, {} waited out their timeout",
        percent(sent_again(nfs)),
        nfs.operations,
        since("it was mounted", nfs.age_s),
        now.map_or(String::new(), |now| format!(" ({now})")),
        nfs.major_timeouts
    )
}

fn counters(mount: &MountSeen, nfs: &NfsSeen) -> [Observation; 2] {
    let field = |name: &str| format!("{}: {name}", mount.mount_point);
    let calls = format!("{} of {}", nfs.transmissions, nfs.operations);
    [
        Observation::field(MOUNTSTATS, field("transmissions of operations"), calls),
        Observation::field(MOUNTSTATS, field("major timeouts"), nfs.major_timeouts.to_string()),
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

pub(super) fn kerberos_cost(seen: &Snapshot<'_>) -> Vec<Finding> {
    let finding = |(mount, nfs, path): (&MountSeen, &NfsSeen, &str)| {
        let sec = kerberos(nfs)?;
        let (certainty, does) = match sec {
            "krb5i" => (Certainty::Likely, "computes a checksum over each call and its data"),
            "krb5p" => (Certainty::Likely, "encrypts each call and its data"),
            _ => (Certainty::ToBeTested, "authenticates each call"),
        };
        let why = format!("sec={sec} {does}, on the CPUs of this machine and of the server.");
        let modes = ["sys", "krb5", "krb5i", "krb5p"].map(|sec| (sec, format!("sec={sec}")));
        let arms = arms(mount, nfs, &modes);
        let finding = Finding::new("nfs-kerberos", about(mount), certainty, why)
            .observed(option(mount, "sec", sec));
        Some(finding.command(
            arms.unwrap_or_else(|| format!("iotax run nfs-kerberos {} --scale 0.05", quoted(path))),
        ))
    };
    mounts(seen).filter_map(finding).collect()
}

/// Several connections that share one window of sequence numbers.
pub(super) fn gss_window(seen: &Snapshot<'_>) -> Vec<Finding> {
    let finding = |(mount, nfs, path): (&MountSeen, &NfsSeen, &str)| {
        let sec = kerberos(nfs)?;
        let connections = connections(nfs);
        let (certainty, so_far) = if is_lossy(nfs) {
            let certainty = if acts(nfs) { Certainty::Snapshot } else { Certainty::Likely };
            (certainty, format!("{}.", lost(seen, nfs)))
        } else {
            let so_far = "Under many calls at once the server drops those outside of its window.";
            (Certainty::Likely, so_far.to_owned())
        };
        let why = format!(
            "{connections} connections share one Kerberos context, so that calls overtake each \
             other. {so_far}"
        );
        let with = |connections: u64| format!("sec={sec}, nconnect={connections}");
        let arms = arms(mount, nfs, &[("one", with(1)), ("many", with(connections.clamp(2, 16)))]);
        let mut finding = Finding::new("nfs-gss-window", about(mount), certainty, why)
            .observed(option(mount, "sec", sec))
            .observed(option(mount, "nconnect", connections.to_string()));
        if is_lossy(nfs) {
            finding.seen.extend(counters(mount, nfs));
        }
        let slots = seen.machine.kernel.nfs_most_slots.map(|slots| {
            Observation::file("/proc/sys/sunrpc/tcp_max_slot_table_entries", slots.to_string())
        });
        let finding =
            finding.observed_if(slots).command(arms.unwrap_or_else(|| {
                format!("iotax run randread-4k {} --set depth=256", quoted(path))
            }));
        (connections > 1).then_some(finding)
    };
    mounts(seen).filter_map(finding).collect()
}

/// Calls that were sent again, where nothing says why.
pub(super) fn retransmissions(seen: &Snapshot<'_>) -> Vec<Finding> {
    let finding = |(mount, nfs, path): (&MountSeen, &NfsSeen, &str)| {
        let why = format!(
            "{} (timeo={}, in tenths of a second).",
            lost(seen, nfs),
            nfs.option("timeo").unwrap_or("600")
        );
        let certainty = if acts(nfs) { Certainty::Likely } else { Certainty::ToBeTested };
        let mut finding = Finding::new("nfs-retransmissions", about(mount), certainty, why)
            .command(format!("iotax run randread-4k {} --set depth=32 --time 30s", quoted(path)));
        finding.seen.extend(counters(mount, nfs));
        let is_told = kerberos(nfs).is_some() && connections(nfs) > 1;
        (is_lossy(nfs) && !is_told).then_some(finding)
    };
    mounts(seen).filter_map(finding).collect()
}

/// Calls that wait for a slot.
pub(super) fn slots(seen: &Snapshot<'_>) -> Vec<Finding> {
    let finding = |(mount, nfs, path): (&MountSeen, &NfsSeen, &str)| {
        let (allowed, setting) = seen.machine.kernel.nfs_slots(nfs)?;
        let most = nfs.transports.iter().filter_map(|transport| transport.most_slots).max()?;
        let why = format!(
            "A connection had {most} calls in flight at some time {}, and {allowed} are allowed: \
             further calls waited in this machine.",
            since("it was mounted", nfs.age_s)
        );
        // The kernel keeps the most there ever was, which may be long ago.
        let is_old = nfs.age_s.is_some_and(|age| age >= OLD_S);
        let certainty = if is_old { Certainty::ToBeTested } else { Certainty::Likely };
        let finding = Finding::new("nfs-slots", about(mount), certainty, why)
            .observed(Observation::field(
                MOUNTSTATS,
                format!("{}: xprt, most slots", mount.mount_point),
                most.to_string(),
            ))
            .observed(Observation::file(setting, allowed.to_string()))
            .command(format!("iotax limits {}", quoted(path)));
        (most >= allowed).then_some(finding)
    };
    mounts(seen).filter_map(finding).collect()
}

/// Attributes that are asked for each time.
pub(super) fn attribute_cache(seen: &Snapshot<'_>) -> Vec<Finding> {
    let finding = |(mount, nfs, path): (&MountSeen, &NfsSeen, &str)| {
        let off = nfs.without_cache()?;
        let why = format!(
            "With {off} this machine asks the server each time a program looks at a file, where it \
             could remember the answer for seconds."
        );
        let finding = Finding::new("nfs-attribute-cache", about(mount), Certainty::Likely, why);
        let (name, value) = off.split_once('=').unwrap_or((off, "set"));
        Some(
            finding
                .observed(option(mount, name, value))
                .command(format!("iotax run git-status {}", quoted(path))),
        )
    };
    mounts(seen).filter_map(finding).collect()
}

/// A read-ahead below one call's worth of bytes.
pub(super) fn read_ahead(seen: &Snapshot<'_>) -> Vec<Finding> {
    let finding = |(mount, nfs, path): (&MountSeen, &NfsSeen, &str)| {
        let (bytes, number) = (mount.read_ahead_bytes?, mount.number.as_deref()?);
        let rsize: u64 = nfs.option("rsize")?.parse().ok()?;
        let file = format!("/sys/class/bdi/{number}/read_ahead_kb");
        let now = (bytes >> 10).to_string();
        // One call, some, and what mounts had before Linux 5.4.
        let values = [1, 4, 15].map(|calls| (calls * (rsize >> 10)).to_string());
        let why = format!(
            "A sequential reader reads ahead by {} KiB, where one call could bring {} KiB.",
            bytes >> 10,
            rsize >> 10
        );
        let finding = Finding::new("nfs-read-ahead", about(mount), Certainty::Likely, why)
            .observed(Observation::file(file.clone(), now.clone()))
            .observed(option(mount, "rsize", rsize.to_string()))
            .compare_values(("seqread-1m", " --set direct=false"), path, (&file, &now), &values);
        (bytes < rsize).then_some(finding)
    };
    mounts(seen).filter_map(finding).collect()
}
