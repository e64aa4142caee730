//! What load is counted in, and what an arm did in that unit.

use iotax_analyze::{Analysis, ArmSummary, NetworkLoad, NetworkSummary};

use crate::format;

/// I/Os or, on trees of files, operations per second; over a network path what it is about.
pub fn rate(arm: &ArmSummary) -> String {
    match &arm.network {
        Some(figures) => network_rate(arm, figures),
        None if is_on_files(arm) => iotax_quantity::per_second(arm.iops, "ops/s"),
        None => format::iops(arm.iops),
    }
}

/// Bytes per second; `None` where they say nothing: on trees of files, or what the rate says.
pub fn bandwidth(arm: &ArmSummary) -> Option<f64> {
    (!is_on_files(arm) && arm.network.is_none()).then_some(arm.bytes_per_s)
}

/// Whether it is bytes that count, and no single I/O has a latency to speak of.
pub fn moves_bytes(arm: &ArmSummary) -> bool {
    arm.network.is_some_and(|figures| figures.load.moves_bytes())
}

/// Whether its primary job does operations on trees of files.
fn is_on_files(arm: &ArmSummary) -> bool {
    arm.operations.iter().any(|operation| operation.share.is_some())
}

/// `16.5 Gbit/s`; of round trips how many: `72,400 requests/s`.
fn network_rate(arm: &ArmSummary, network: &NetworkSummary) -> String {
    match network.load {
        NetworkLoad::RoundTrips => format::requests(arm.iops),
        NetworkLoad::Connections => format::connections(arm.iops),
        NetworkLoad::Stream | NetworkLoad::Datagrams => format::bit_rate(network.bits_per_s),
    }
}

/// Whether what the workload is about is the syncs of its primary job.
pub fn is_led_by_syncs(analysis: &Analysis) -> bool {
    analysis.arms.iter().any(|arm| arm.leading_sync().is_some())
}

/// What the time that layers add is per.
pub fn unit_of_work(analysis: &Analysis) -> &'static str {
    if is_led_by_syncs(analysis) { "sync" } else { unit_of_load(analysis) }
}

/// What the primary job does one after the other: on network paths `request`, `block` and the like.
pub fn unit_of_load(analysis: &Analysis) -> &'static str {
    match network_load(analysis) {
        Some(NetworkLoad::RoundTrips) => "request",
        Some(NetworkLoad::Connections) => "connection",
        Some(NetworkLoad::Stream) => "block",
        Some(NetworkLoad::Datagrams) => "datagram",
        None => "I/O",
    }
}

/// What rates of the primary job are in, where a chart draws them.
pub fn unit_of_rate(analysis: &Analysis) -> &'static str {
    match network_load(analysis) {
        Some(NetworkLoad::RoundTrips) => "requests/s",
        Some(NetworkLoad::Connections) => "connections/s",
        Some(NetworkLoad::Stream | NetworkLoad::Datagrams) => "Mbit/s",
        None if analysis.arms.iter().any(is_on_files) => "ops/s",
        None => "IOPS",
    }
}

/// What load over a network path is about; `None` for storage.
pub fn network_load(analysis: &Analysis) -> Option<NetworkLoad> {
    analysis.arms.iter().find_map(|arm| arm.network.as_ref()).map(|network| network.load)
}
