//! SMB mounts: encryption, connections, caches, size of requests.

use iotax_quantity::mb_per_s;
use iotax_record::machine::MountSeen;

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::Snapshot;

/// Smaller requests than this need more round trips than they must.
const LEAST_REQUEST_BYTES: u64 = 1 << 20;
/// A round trip that rates are computed with.
const ASSUMED_ROUND_TRIP_S: f64 = 0.001;

fn about(mount: &MountSeen) -> String {
    format!("{} ({})", mount.mount_point, mount.source)
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
pub(super) fn encryption(seen: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let observation = option(smb(mount)?, "seal")?;
    let slow = if seen.machine.environment.cpu_aes == Some(false) {
        " This machine has no AES instructions."
    } else {
        ""
    };
    let why = format!(
        "seal encrypts each request to {} on the CPUs of this machine and of the server.{slow}",
        mount.source
    );
    Some(
        Finding::new("smb-encryption", about(mount), Certainty::Likely, why)
            .observed(observation)
            .observed_if(option(mount, "vers"))
            .run("seqread-1m", path, "--set depth=16")
            .run("seqwrite-1m", path, "--set depth=16"),
    )
}

/// All requests over one connection.
pub(super) fn channels(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let mount = smb(mount)?;
    let asked = mount.option("max_channels").and_then(|count| count.parse::<u64>().ok());
    let channels = match (mount.option("multichannel"), asked) {
        (Some(_), count) => count.unwrap_or(2),
        (None, count) => count.unwrap_or(1),
    };
    let why = format!("All requests to {} go over one connection.", mount.source);
    let told = asked.map_or("no multichannel".to_owned(), |count| format!("max_channels={count}"));
    let finding = Finding::new("smb-single-channel", about(mount), Certainty::ToBeTested, why)
        .observed(Observation::mount(mount, "options", told))
        .run("seqread-1m", path, "--set depth=32")
        .run("seqread-1m", path, "");
    (channels <= 1).then_some(finding)
}

/// Reads, writes or stats that always go to the server.
pub(super) fn cache(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let mount = smb(mount)?;
    let is_off = |name: &str, value: &str| mount.option(name) == Some(value);
    let (observation, what, workload) = if is_off("cache", "none")
        || mount.option("forcedirectio").is_some()
    {
        (
            option(mount, "cache").or_else(|| option(mount, "forcedirectio")),
            "each read and write of a program is a request to the server, of the program's own size",
            "seqread-1m",
        )
    } else if ["actimeo", "acregmax", "acdirmax"].iter().any(|name| is_off(name, "0")) {
        let names = ["actimeo", "acregmax", "acdirmax"];
        (
            names.iter().find_map(|name| option(mount, name)),
            "each stat is a request to the server",
            "git-status",
        )
    } else {
        return None;
    };
    let why = format!("Of {} nothing is cached: {what}.", mount.mount_point);
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
pub(super) fn requests(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let mount = smb(mount)?;
    let size = |name: &str| Some((name.to_owned(), mount.option(name)?.parse::<u64>().ok()?));
    let sizes = [size("rsize"), size("wsize")].into_iter().flatten();
    let (name, least) = sizes.min_by_key(|(_, bytes)| *bytes)?;
    let why = format!(
        "A request carries at most {} KiB ({name}): at a round trip of 1 ms, which is an assumption, one in \
         flight comes to {}.",
        least >> 10,
        mb_per_s(least as f64 / ASSUMED_ROUND_TRIP_S)
    );
    let finding = Finding::new("smb-small-requests", about(mount), Certainty::ToBeTested, why)
        .observed(Observation::mount(mount, &name, least.to_string()))
        .observed_if(option(mount, "vers"))
        .run("seqread-1m", path, "--set direct=false");
    (least < LEAST_REQUEST_BYTES).then_some(finding)
}
