//! The units of load, and the rate of an arm in its unit.

use iotax_analyze::{Analysis, ArmSummary, NetworkLoad, NetworkSummary};

use crate::format;

/// I/Os per second; operations per second on trees of files; the unit of the load on network paths;
/// of a replayed application with clients, the requests that it answers.
pub fn rate(arm: &ArmSummary) -> String {
    match (&arm.network, arm.requests_per_s) {
        (Some(figures), _) => network_rate(arm, figures),
        (None, Some(rate)) => format::requests(rate),
        _ if is_on_files(arm) => iotax_quantity::per_second(arm.iops, "ops/s"),
        _ => format::iops(arm.iops),
    }
}

/// Bytes per second; `None` on trees of files and on network paths.
pub fn bandwidth(arm: &ArmSummary) -> Option<f64> {
    (!is_on_files(arm) && arm.network.is_none()).then_some(arm.bytes_per_s)
}

/// Whether the load is measured in bytes, and single I/Os have no useful latency.
pub fn moves_bytes(arm: &ArmSummary) -> bool {
    arm.network.is_some_and(|figures| figures.load.moves_bytes())
}

/// Whether the primary job works on trees of files.
fn is_on_files(arm: &ArmSummary) -> bool {
    arm.replay.is_none() && arm.operations.iter().any(|operation| operation.share.is_some())
}

/// `16.5 Gbit/s`, or `72,400 requests/s` for round trips.
fn network_rate(arm: &ArmSummary, network: &NetworkSummary) -> String {
    match network.load {
        NetworkLoad::RoundTrips => format::requests(arm.iops),
        NetworkLoad::Connections => format::connections(arm.iops),
        NetworkLoad::Stream | NetworkLoad::Datagrams => format::bit_rate(network.bits_per_s),
    }
}

/// Whether the workload is about the syncs of its primary job.
pub fn is_led_by_syncs(analysis: &Analysis) -> bool {
    analysis.arms.iter().any(|arm| arm.leading_sync().is_some())
}

/// The unit to which layers add time.
pub fn unit_of_work(analysis: &Analysis) -> &'static str {
    if is_led_by_syncs(analysis) { "sync" } else { unit_of_load(analysis) }
}

/// One operation of the primary job: `I/O`, or `request`, `block` and so on for network paths.
pub fn unit_of_load(analysis: &Analysis) -> &'static str {
    match network_load(analysis) {
        Some(NetworkLoad::RoundTrips) => "request",
        Some(NetworkLoad::Connections) => "connection",
        Some(NetworkLoad::Stream) => "block",
        Some(NetworkLoad::Datagrams) => "datagram",
        None => "I/O",
    }
}

/// The unit of the primary job's rate in a chart.
pub fn unit_of_rate(analysis: &Analysis) -> &'static str {
    match network_load(analysis) {
        Some(NetworkLoad::RoundTrips) => "requests/s",
        Some(NetworkLoad::Connections) => "connections/s",
        Some(NetworkLoad::Stream | NetworkLoad::Datagrams) => "Mbit/s",
        None if analysis.arms.iter().any(is_on_files) => "ops/s",
        None => "IOPS",
    }
}

/// The kind of load on a network path; `None` for storage.
pub fn network_load(analysis: &Analysis) -> Option<NetworkLoad> {
    analysis.arms.iter().find_map(|arm| arm.network.as_ref()).map(|network| network.load)
}
