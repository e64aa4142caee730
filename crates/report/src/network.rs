//! Figures of network loads: key figures, and columns of the table of arms.

use iotax_analyze::{ArmSummary, NetworkLoad, NetworkSummary};
use iotax_quantity::percent;
use iotax_record::ExperimentHead;
use iotax_wording::{format, units};

use crate::document::{Cell, Head, Item, Point, Section};
use crate::tables::{known_time, quantile};

/// Key figures other than the rate, in nanoseconds; 0 if unknown.
pub(crate) fn times(arm: &ArmSummary, network: &NetworkSummary) -> Vec<(&'static str, f64)> {
    let cpu = network.cpu_ns;
    match network.load {
        NetworkLoad::Stream => {
            vec![("CPU per MiB", cpu), ("TCP round trip", network.rtt_ns.unwrap_or(0.0))]
        }
        NetworkLoad::RoundTrips => {
            vec![("mean round trip", arm.mean_latency_ns), ("CPU per request", cpu)]
        }
        NetworkLoad::Connections => {
            vec![("mean response time", arm.mean_latency_ns), ("CPU per connection", cpu)]
        }
        NetworkLoad::Datagrams => {
            vec![("jitter", network.jitter_ns.unwrap_or(0.0)), ("CPU per MiB", cpu)]
        }
    }
}

type Column = (&'static str, fn(&ArmSummary, &NetworkSummary) -> Cell);

const RATE: Column = ("rate", |_, network| Cell::new(format::bit_rate(network.bits_per_s)));
const CPU_PER_MIB: Column = ("CPU/MiB", |_, network| Cell::new(known_time(network.cpu_ns)));

const RTT: Column =
    ("RTT", |_, network| Cell::new(network.rtt_ns.map_or_else(String::new, known_time)));
const RETRANSMITS: Column = ("retrans/GiB", |_, network| {
    let count = network.retransmits_per_gib;
    Cell::new(count.map_or_else(String::new, format::three_digits))
});

const STREAM: &[Column] = &[RATE, CPU_PER_MIB, RTT, RETRANSMITS];

const BOTH_WAYS: &[Column] = &[
    RATE,
    ("to peer", |_, network| Cell::new(one_way(network, 0))),
    ("from peer", |_, network| Cell::new(one_way(network, 1))),
    CPU_PER_MIB,
    RTT,
    RETRANSMITS,
];

const P50: Column = ("p50", |arm, _| quantile(&arm.latency, 0.5));
const P99: Column = ("p99", |arm, _| quantile(&arm.latency, 0.99));

const ROUND_TRIPS: &[Column] = &[
    ("round trip", |arm, _| Cell::new(known_time(arm.mean_latency_ns))),
    P50,
    P99,
    ("CPU/request", |_, network| Cell::new(known_time(network.cpu_ns))),
];

const CONNECTIONS: &[Column] = &[
    ("rate", |arm, _| Cell::new(units::rate(arm))),
    ("response", |arm, _| Cell::new(known_time(arm.mean_latency_ns))),
    P50,
    P99,
    ("CPU/connection", |_, network| Cell::new(known_time(network.cpu_ns))),
];

const DATAGRAMS: &[Column] = &[
    RATE,
    ("lost", |_, network| Cell::new(share(network.lost))),
    ("reordered", |_, network| Cell::new(share(network.reordered))),
    ("jitter", |_, network| Cell::new(network.jitter_ns.map_or_else(String::new, known_time))),
    CPU_PER_MIB,
];

fn one_way(network: &NetworkSummary, way: usize) -> String {
    network.each_way.map_or_else(String::new, |ways| format::bit_rate(ways[way]))
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(String::new, percent)
}

fn columns(network: &NetworkSummary) -> &'static [Column] {
    match network.load {
        NetworkLoad::Stream if network.each_way.is_some() => BOTH_WAYS,
        NetworkLoad::Stream => STREAM,
        NetworkLoad::RoundTrips => ROUND_TRIPS,
        NetworkLoad::Connections => CONNECTIONS,
        NetworkLoad::Datagrams => DATAGRAMS,
    }
}

/// The column names for network loads.
pub(crate) fn heads(network: &NetworkSummary) -> impl Iterator<Item = Head> {
    columns(network).iter().map(|(head, _)| Head::figure(head))
}

/// The cells of an arm, in the same order.
pub(crate) fn cells(arm: &ArmSummary, network: &NetworkSummary) -> impl Iterator<Item = Cell> {
    columns(network).iter().map(move |(_, cell)| cell(arm, network))
}

// The ends of network paths, if they were determined during setup.

/// The known facts about the paths of a cluster, by arm.
pub(crate) fn paths(experiment: &ExperimentHead) -> Option<Section> {
    if !experiment.spec.workload().is_network() || experiment.spec.is_of_results() {
        return None;
    }
    let arms = experiment.spec.arms.iter().zip(&experiment.sites);
    let facts = arms
        .filter(|(_, site)| site.placed.is_some())
        .flat_map(|(arm, site)| site.notes.iter().map(|note| Point::new(&arm.name, note)));
    let facts: Vec<Point> = facts.collect();
    (!facts.is_empty()).then(|| Section::new("Paths", [Item::Facts(facts)]))
}
