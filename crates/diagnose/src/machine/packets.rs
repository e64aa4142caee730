//! What the kernel does with packets of all interfaces.

use iotax_record::machine::{Conntrack, NetworkSeen, Softnet};
use serde::Serialize;

use super::Certainty::{self, Likely, ToBeTested};
use super::{Component, ComponentKind, Finder, Finding, Observation, Rule, Since, Snapshot, rule};

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

/// The network, and the first of what was asked about that is no path.
fn network<'a>(seen: &Snapshot<'a>) -> Option<(&'a NetworkSeen, &'a str)> {
    seen.machine.network.as_ref().zip(seen.network_path())
}

/// Backlogs of CPUs that were full.
fn backlog(seen: &Snapshot<'_>) -> Option<Finding> {
    let (network, path) = network(seen)?;
    let Softnet { processed, dropped, time_squeeze } = &network.softnet;
    let processed = processed.iter().copied().fold(0, u64::saturating_add).max(1);
    let more = network.softnet_while_watched.as_ref().map(|more| more.dropped);
    let share = *dropped as f64 / processed as f64;
    let is_now = more.is_some_and(|more| more > 0);
    let certainty = if is_now { Certainty::Snapshot } else { ToBeTested };
    let why = PacketsWhy::Backlog { dropped: *dropped, share, since: seen.since_boot(more) };
    Finding::new("softnet-drops", ComponentKind::AllInterfaces, certainty, why)
        .observed(Observation::field(SOFTNET, "dropped", *dropped))
        .observed(Observation::field(SOFTNET, "time_squeeze", *time_squeeze))
        .run("udp-stream", path, "")
        .when(*dropped > 0 && (is_now || share >= MANY))
}

/// A table of connections without room.
fn connections(seen: &Snapshot<'_>) -> Option<Finding> {
    let (network, path) = network(seen)?;
    let table = network.conntrack.filter(|table| table.max > 0)?;
    let share = table.count as f64 / table.max as f64;
    let certainty = match () {
        () if share >= NEARLY_FULL => Certainty::Snapshot,
        () if table.dropped > 0 || table.early_drop > 0 => Likely,
        () if table.insert_failed > 0 => ToBeTested,
        () => return None,
    };
    let setting = |name, value| Observation::file(format!("/proc/sys/net/netfilter/{name}"), value);
    let counters = [
        ("drop", table.dropped),
        ("early_drop", table.early_drop),
        ("insert_failed", table.insert_failed),
    ];
    let counters = counters.into_iter().filter(|(_, count)| *count > 0);
    let counter = |(name, count)| Observation::field("/proc/net/stat/nf_conntrack", name, count);
    let why = PacketsWhy::Connections { table, since: seen.since_boot(None) };
    Finding::new("conntrack-full", ComponentKind::TrackedConnections, certainty, why)
        .observed(setting("nf_conntrack_count", table.count))
        .observed(setting("nf_conntrack_max", table.max))
        .observed_all(counters.map(counter))
        .netns("tcp-rr", "conntrack")
        .run("tcp-rr", path, "")
        .into()
}

/// Encryption of a plugin of Kubernetes that the path does not show.
fn plugins(seen: &Snapshot<'_>) -> Option<Finding> {
    let (network, path) = network(seen)?;
    let is_in_path = |name: &str| seen.machine.interfaces().any(|seen| seen.name == name);
    let mut of_plugin =
        network.encrypting.iter().filter_map(|one| Some((&one.interface, one.plugin.as_ref()?)));
    let (name, plugin) = of_plugin.find(|(name, _)| !is_in_path(name))?;
    let why = PacketsWhy::Plugin { plugin: plugin.clone() };
    Finding::new("network-encryption", Component::network(name.as_str()), ToBeTested, why)
        .observed(Observation::field("ip -d link", name.as_str(), plugin.as_str()))
        .netns("tcp-stream", "wireguard")
        .run("tcp-stream", path, "")
        .into()
}
