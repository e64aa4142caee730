//! What the kernel does with packets of all interfaces.

use iotax_record::machine::Conntrack;
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, ComponentKind, Finding};
use crate::machine::observation::Observation;
use crate::machine::snapshot::{Since, Snapshot};

pub(super) const RULES: &[Rule] = &[
    rule(&["network-encryption"], Finder::Once(plugins)),
    rule(&["softnet-drops"], Finder::Once(backlog)),
    rule(&["conntrack-full"], Finder::Once(connections)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PacketsWhy {
    Backlog { dropped: u64, share: f64, since: Since },
    Connections { table: Conntrack, since: Since },
    Plugin { plugin: String },
}

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
fn backlog(seen: &Snapshot<'_>) -> Option<Finding> {
    let path = network_path(seen)?;
    let network = seen.machine.network.as_ref()?;
    let softnet = &network.softnet;
    let processed = softnet.processed.iter().copied().fold(0, u64::saturating_add).max(1);
    let more = network.softnet_while_watched.as_ref().map(|more| more.dropped);
    let share = softnet.dropped as f64 / processed as f64;
    let is_now = more.is_some_and(|more| more > 0);
    (softnet.dropped > 0 && (is_now || share >= MANY)).then_some(())?;
    let certainty = if is_now { Certainty::Snapshot } else { Certainty::ToBeTested };
    let why = PacketsWhy::Backlog { dropped: softnet.dropped, share, since: seen.since_boot(more) };
    Some(
        Finding::new("softnet-drops", ComponentKind::AllInterfaces, certainty, why)
            .observed(Observation::field(SOFTNET, "dropped", softnet.dropped.to_string()))
            .observed(Observation::field(SOFTNET, "time_squeeze", softnet.time_squeeze.to_string()))
            .run("udp-stream", path, ""),
    )
}

/// A table of connections without room.
fn connections(seen: &Snapshot<'_>) -> Option<Finding> {
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
    let why = PacketsWhy::Connections { table, since: seen.since_boot(None) };
    let setting = |name: &str, value: u64| {
        Observation::file(format!("/proc/sys/net/netfilter/{name}"), value.to_string())
    };
    let counter = |name: &str, value: u64| {
        let file = "/proc/net/stat/nf_conntrack";
        (value > 0).then(|| Observation::field(file, name, value.to_string()))
    };
    Some(
        Finding::new("conntrack-full", ComponentKind::TrackedConnections, certainty, why)
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
fn plugins(seen: &Snapshot<'_>) -> Option<Finding> {
    let path = network_path(seen)?;
    let encrypting = &seen.machine.network.as_ref()?.encrypting;
    let is_in_path = |name: &str| seen.machine.interfaces().any(|seen| seen.name == name);
    let of_plugin =
        encrypting.iter().filter_map(|one| Some((&one.interface, one.plugin.as_ref()?)));
    let (name, plugin) = of_plugin.into_iter().find(|(name, _)| !is_in_path(name))?;
    let why = PacketsWhy::Plugin { plugin: plugin.clone() };
    Some(
        Finding::new(
            "network-encryption",
            Component::network(name.as_str()),
            Certainty::ToBeTested,
            why,
        )
        .observed(Observation::field("ip -d link", name.as_str(), plugin.as_str()))
        .netns("tcp-stream", "wireguard")
        .run("tcp-stream", path, ""),
    )
}
