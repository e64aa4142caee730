//! What the kernel does with packets of all interfaces.

use iotax_quantity::{grouped, percent};

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::{Snapshot, meanwhile};

/// Share of packets dropped, or of turns cut short, that is not noise.
const MANY: f64 = 1e-4;
/// Of the table of connections, this is nearly all.
const NEARLY_FULL: f64 = 0.9;
const SOFTNET: &str = "/proc/net/softnet_stat";

/// The first of what was asked about that is no path.
fn network_path<'a>(seen: &Snapshot<'a>) -> Option<&'a str> {
    let network = seen.machine.network.as_ref();
    network.and_then(|_| seen.network_path())
}

/// Backlogs of CPUs that were full.
pub(super) fn backlog(seen: &Snapshot<'_>) -> Option<Finding> {
    let path = network_path(seen)?;
    let network = seen.machine.network.as_ref()?;
    let softnet = &network.softnet;
    let processed = softnet.processed.iter().copied().fold(0, u64::saturating_add).max(1);
    let more = network.softnet_while_watched.as_ref().map(|more| more.dropped);
    let share = softnet.dropped as f64 / processed as f64;
    let is_now = more.is_some_and(|more| more > 0);
    (softnet.dropped > 0 && (is_now || share >= MANY)).then_some(())?;
    let certainty = if is_now { Certainty::Snapshot } else { Certainty::ToBeTested };
    let why = format!(
        "CPUs dropped {} packets that waited for them {}, {} of all{}.",
        grouped(softnet.dropped),
        seen.since_boot(),
        percent(share),
        meanwhile(more, seen.machine.counting.watched_ms)
            .map_or(String::new(), |now| format!("; {now}"))
    );
    Some(
        Finding::new("softnet-drops", "all interfaces", certainty, why)
            .observed(Observation::field(SOFTNET, "dropped", softnet.dropped.to_string()))
            .observed(Observation::field(SOFTNET, "time_squeeze", softnet.time_squeeze.to_string()))
            .run("udp-stream", path, ""),
    )
}

/// A table of connections without room.
pub(super) fn connections(seen: &Snapshot<'_>) -> Option<Finding> {
    let path = network_path(seen)?;
    let table = seen.machine.network.as_ref()?.conntrack.filter(|table| table.max > 0)?;
    let share = table.count as f64 / table.max as f64;
    let lost = table.dropped.saturating_add(table.early_drop);
    let certainty = match (share >= NEARLY_FULL, lost > 0, table.insert_failed > 0) {
        (true, _, _) => Certainty::Snapshot,
        (_, true, _) => Certainty::Likely,
        (_, _, true) => Certainty::ToBeTested,
        _ => return None,
    };
    let why = format!(
        "{} of {} connections are tracked; {} were dropped, {} thrown out for others and {} not \
         added {}.",
        grouped(table.count),
        grouped(table.max),
        grouped(table.dropped),
        grouped(table.early_drop),
        grouped(table.insert_failed),
        seen.since_boot()
    );
    let setting = |name: &str, value: u64| {
        Observation::file(format!("/proc/sys/net/netfilter/{name}"), value.to_string())
    };
    let counter = |name: &str, value: u64| {
        let file = "/proc/net/stat/nf_conntrack";
        (value > 0).then(|| Observation::field(file, name, value.to_string()))
    };
    Some(
        Finding::new("conntrack-full", "tracked connections", certainty, why)
            .observed(setting("nf_conntrack_count", table.count))
            .observed(setting("nf_conntrack_max", table.max))
            .observed_if(counter("drop", table.dropped))
            .observed_if(counter("early_drop", table.early_drop))
            .observed_if(counter("insert_failed", table.insert_failed))
            .netns("tcp-rr", "conntrack")
            .run("tcp-rr", path, ""),
    )
}

/// Encryption of a plugin of Kubernetes that the path does not show.
pub(super) fn plugins(seen: &Snapshot<'_>) -> Option<Finding> {
    let path = network_path(seen)?;
    let encrypting = &seen.machine.network.as_ref()?.encrypting;
    let is_in_path = |name: &str| seen.machine.interfaces().any(|seen| seen.name == name);
    let of_plugin = encrypting.iter().filter_map(|told| told.split_once(" ("));
    let (name, plugin) = of_plugin.into_iter().find(|(name, _)| !is_in_path(name))?;
    let plugin = plugin.trim_end_matches(')');
    let why = format!(
        "{plugin} has an interface here that encrypts: packets between pods of different nodes may \
         go through it, although this path does not."
    );
    Some(
        Finding::new("network-encryption", name, Certainty::ToBeTested, why)
            .observed(Observation::field("ip -d link", name, plugin))
            .netns("tcp-stream", "wireguard")
            .run("tcp-stream", path, ""),
    )
}
