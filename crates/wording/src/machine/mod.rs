//! Descriptions of a machine or cluster that was inspected.

pub mod cluster;
pub mod layer;
pub mod surroundings;

use iotax_quantity::single_bytes;
use iotax_record::HostRole;
use iotax_record::machine::{Interface, Offloads, PathProbe, Qdisc, Ring, Route};

use crate::format;

/// `Host 2 of 3, measured by an agent`
pub fn host(number: usize, all: usize, role: HostRole) -> String {
    let by = match role {
        HostRole::Agent => ", measured by an agent",
        HostRole::Local => "",
    };
    format!("Host {number} of {all}{by}")
}

// A route or a network interface in words.

/// `wg0, wireguard`
fn name(interface: &Interface) -> String {
    let kind = interface.kind.as_deref();
    let kind = if interface.served_by.is_some() { Some("user-space WireGuard") } else { kind };
    let driver = || interface.driver.as_deref().map(|driver| format!("{driver} card"));
    match kind.map(str::to_owned).or_else(driver) {
        Some(kind) => format!("{}, {kind}", interface.name),
        None => interface.name.clone(),
    }
}

/// Important facts about a route, each in a few words.
fn of_route(route: &Route) -> Vec<String> {
    let Route { gateway, source, mtu_bytes, ipsec, probe, .. } = route;
    let mut facts: Vec<String> = Vec::new();
    facts.extend(gateway.as_ref().map(|gateway| format!("via {gateway}")));
    facts.extend(source.as_ref().map(|source| format!("from {source}")));
    facts.extend(mtu_bytes.map(|mtu| format!("known path MTU {mtu}")));
    facts.extend(ipsec.filter(|holds| *holds).map(|_| "IPsec".to_owned()));
    facts.extend(probe.iter().flat_map(of_probe));
    facts
}

fn of_probe(probe: &PathProbe) -> Vec<String> {
    let PathProbe { arrived_bytes, lost_bytes, rtt_ns, .. } = probe;
    let facts = [
        arrived_bytes.map(|bytes| format!("packets of {} arrive", single_bytes(bytes.into()))),
        lost_bytes.map(|bytes| format!("packets of {} do not arrive", single_bytes(bytes.into()))),
        rtt_ns.map(|rtt_ns| format!("round trip {}", format::time(rtt_ns as f64))),
    ];
    facts.into_iter().flatten().collect()
}

/// Important facts about an interface.
fn of_interface(interface: &Interface) -> Vec<String> {
    let named = |name: &str, value: Option<u64>| value.map(|value| format!("{name} {value}"));
    let state = interface.state.as_deref().filter(|state| !matches!(*state, "UP" | "UNKNOWN"));
    let speed = interface.speed_mbit.map(|mbit| format::bit_rate(mbit as f64 * 1e6));
    let peer = interface.is_pair_elsewhere.then(|| "its peer is in another namespace".to_owned());
    let overhead =
        interface.overhead_bytes.map(|bytes| format!("{} of headers", single_bytes(bytes.into())));
    let plain = [
        state.map(str::to_owned),
        interface.mtu_bytes.map(|mtu| format!("MTU {mtu}")),
        overhead,
        speed,
        named("receive queues", interface.receive_queues.filter(|queues| *queues > 1)),
        peer,
    ];
    let mut facts: Vec<String> = plain.into_iter().flatten().collect();
    facts.extend(offloads(interface.offloads));
    facts.extend(interface.ring.as_ref().and_then(ring));
    facts.extend(interface.qdiscs.iter().map(qdisc));
    facts
}

/// `tso gso gro off`
fn offloads(offloads: Offloads) -> Option<String> {
    let each = offloads.each();
    let that = |is: bool| -> Vec<&str> {
        each.iter().filter(|(_, on)| *on == Some(is)).map(|(name, _)| *name).collect()
    };
    let states = [(true, "on"), (false, "off")].map(|(is, word)| {
        let names = that(is);
        (!names.is_empty()).then(|| format!("{} {word}", names.join(" ")))
    });
    let states: Vec<String> = states.into_iter().flatten().collect();
    (!states.is_empty()).then(|| states.join(", "))
}

fn ring(ring: &Ring) -> Option<String> {
    let of = |now: Option<u64>, most: Option<u64>| Some(format!("{} of {}", now?, most?));
    Some(format!("receive ring {}", of(ring.receive, ring.most_receive)?))
}

/// `tbf 500 Mbit/s`
fn qdisc(qdisc: &Qdisc) -> String {
    let rate = qdisc.rate_bytes_per_s.map(|rate| format::bit_rate(rate * 8.0));
    let delay = qdisc.delay_us.map(|us| iotax_quantity::set_time(iotax_quantity::whole(us * 1e3)));
    let loss = qdisc.loss_share.map(|share| format!("{} loss", iotax_quantity::percent(share)));
    let limits = [rate, delay, loss].into_iter().flatten();
    [qdisc.kind.clone()].into_iter().chain(limits).collect::<Vec<_>>().join(" ")
}
