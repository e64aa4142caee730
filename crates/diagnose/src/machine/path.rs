//! The way to a peer: how large packets may be on it, and how much of a stream.

use iotax_record::machine::{Interface, Route};
use serde::Serialize;

use super::Certainty::{self, Likely, ToBeTested};
use super::network::Tunnel;
use super::{
    At, Component, Detail, Field, Finder, Finding, InterfaceAt, Observation, Rule, Snapshot,
    Source, Value, rule,
};

pub(super) const RULES: &[Rule] = &[
    rule(&["network-encryption"], Finder::Interface(encryption)),
    rule(&["network-encryption"], Finder::Route(ipsec)),
    rule(&["tunnel-mtu"], Finder::Interface(tunnel_small)),
    rule(&["mtu-black-hole"], Finder::Route(black_hole)),
    rule(&["path-mtu"], Finder::Route(path_mtu)),
    rule(&["tunnel-mtu-too-large"], Finder::Interface(tunnel_too_large)),
    rule(&["tcp-buffers"], Finder::Route(buffers)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PathWhy {
    BlackHole { arrived_bytes: u32, lost_bytes: u32, to: String },
    Mtu { to: String, known_bytes: u32, interface: String, own_bytes: u32 },
    // More than the interface below carries.
    TunnelTooLarge { excess_bytes: i64 },
    TunnelSmall { spare_bytes: i64 },
    Encrypted { by: Tunnel },
    IpSec { to: String },
    // What a connection has on the way at most, and the rate that it comes to.
    Buffers { bytes: u64, rtt_ns: u64, is_assumed: bool, bits_per_s: f64 },
}

/// So much smaller than it could be, a tunnel's packets are a choice.
const SPARE_BYTES: u32 = 100;
/// Round trip that rates are computed with where none was measured.
const ASSUMED_RTT_NS: u64 = 10_000_000;
/// Below it most paths are faster.
const SLOW_BITS_PER_S: f64 = 1e9;
/// What TCP can say it has room for without window scaling.
const UNSCALED_BYTES: u64 = 65_535;

type RouteAt<'s, 'a> = At<'s, 'a, Route>;
fn mtu(interface: &Interface) -> Option<Observation> {
    Some(Observation::link(interface, "mtu", interface.mtu_bytes?))
}

/// Packets that vanish without a word.
fn black_hole(route: &RouteAt<'_, '_>) -> Option<Finding> {
    let probe = route.probe.as_ref()?;
    let (arrived_bytes, lost_bytes) = (probe.arrived_bytes?, probe.lost_bytes?);
    let is_known = probe.known_mtu_bytes.is_some_and(|known| known < lost_bytes);
    let probed = |field: Field, bytes: u32| {
        Observation::field(Source::Datagrams, field, iotax_quantity::single_bytes(bytes.into()))
    };
    let to = &route.destination;
    let known = |mtu: u32| Observation::field(Source::MtuAfterwards, to.as_str(), mtu);
    let why = PathWhy::BlackHole { arrived_bytes, lost_bytes, to: to.clone() };
    route
        .finding(Certainty::Snapshot, why)
        .observed(probed(Field::LargestArrived, arrived_bytes))
        .observed(probed(Field::SmallestLost, lost_bytes))
        .observed_all(probe.known_mtu_bytes.map(known))
        .run("tcp-stream", route.path, "--time 10s")
        .run("tcp-rr", route.path, "")
        .when(!is_known && arrived_bytes < lost_bytes)
}

/// Packets that have to be smaller somewhere, as this machine knows.
fn path_mtu(route: &RouteAt<'_, '_>) -> Option<Finding> {
    let interface = route.seen.first_interface(route)?;
    let own_bytes = interface.mtu_bytes?;
    let after = route.probe.as_ref().and_then(|probe| probe.known_mtu_bytes);
    let known_bytes = [route.mtu_bytes, after].into_iter().flatten().min()?;
    let (to, told) = (route.destination.clone(), format!("mtu {known_bytes}"));
    let interface_name = interface.name.clone();
    let why = PathWhy::Mtu { to, known_bytes, interface: interface_name, own_bytes };
    route
        .finding(ToBeTested, why)
        .observed(Observation::field("ip route get", route.destination.as_str(), told))
        .observed_all(mtu(interface))
        .run("tcp-stream", route.path, "")
        .when(known_bytes < own_bytes)
}

/// What a tunnel's packets have below them, and how many bytes more than those carry they need.
fn below<'a>(seen: &Snapshot<'a>, tunnel: &Interface) -> Option<(&'a Interface, i64)> {
    let with_headers = i64::from(tunnel.mtu_bytes?) + i64::from(tunnel.overhead_bytes?);
    let lower = seen.interfaces_below(tunnel).into_iter().filter(|lower| lower.name != "lo");
    let smallest = lower.filter_map(|lower| Some((lower, i64::from(lower.mtu_bytes?))));
    let (lower, mtu) = smallest.min_by_key(|(_, mtu)| *mtu)?;
    Some((lower, with_headers - mtu))
}

fn of_tunnel(
    tunnel: &InterfaceAt<'_, '_>,
    lower: &Interface,
    certainty: Certainty,
    why: PathWhy,
) -> Finding {
    let name = tunnel.name.as_str();
    let headers = tunnel.overhead_bytes.unwrap_or(0);
    tunnel
        .finding(certainty, why)
        .on(Component::network(name).with(Detail::Over(lower.name.clone())))
        .observed_all(mtu(tunnel))
        .observed(Observation::field(Source::TunnelHeaders, name, headers))
        .observed_all(mtu(lower))
        .run("tcp-stream", tunnel.path, "")
}

/// A tunnel whose packets do not fit.
fn tunnel_too_large(tunnel: &InterfaceAt<'_, '_>) -> Option<Finding> {
    let (lower, excess_bytes) = below(tunnel.seen, tunnel)?;
    let why = PathWhy::TunnelTooLarge { excess_bytes };
    of_tunnel(tunnel, lower, Likely, why).when(excess_bytes > 0)
}

/// A tunnel whose packets are much smaller than they could be.
fn tunnel_small(tunnel: &InterfaceAt<'_, '_>) -> Option<Finding> {
    let (lower, excess) = below(tunnel.seen, tunnel)?;
    let why = PathWhy::TunnelSmall { spare_bytes: -excess };
    of_tunnel(tunnel, lower, ToBeTested, why).when(excess < -i64::from(SPARE_BYTES))
}

/// Encryption on the way, one core for each flow.
fn encryption(tunnel: &InterfaceAt<'_, '_>) -> Option<Finding> {
    let by = match (tunnel.kind.as_deref(), &tunnel.served_by) {
        (Some("wireguard"), _) | (_, Some(_)) => Tunnel::WireGuard,
        (Some("macsec"), _) => Tunnel::MacSec,
        (Some("xfrm"), _) => Tunnel::IpSec,
        _ => return None,
    };
    tunnel
        .finding(Likely, PathWhy::Encrypted { by })
        .on(Component::network(tunnel.name.as_str()))
        .observed(Observation::link(tunnel, "kind", tunnel.kind.clone().unwrap_or_default()))
        .run("tcp-stream", tunnel.path, "--set threads=4")
        .run("tcp-stream", tunnel.path, "")
        .into()
}

/// IPsec on the way to a peer, which no interface shows.
fn ipsec(route: &RouteAt<'_, '_>) -> Option<Finding> {
    let to = &route.destination;
    route
        .finding(Likely, PathWhy::IpSec { to: to.clone() })
        .observed(Observation::field("ip xfrm policy", to.as_str(), Value::PoliciesHold))
        .run("tcp-stream", route.path, "--set threads=4")
        .run("tcp-stream", route.path, "")
        .when(route.ipsec == Some(true))
}

/// Buffers that hold less than is on the way.
fn buffers(route: &RouteAt<'_, '_>) -> Option<Finding> {
    let tcp = &route.seen.machine.network.as_ref()?.tcp;
    let is_unscaled = tcp.window_scaling == Some(false);
    let most = [("tcp_rmem", tcp.most_receive_bytes), ("tcp_wmem", tcp.most_send_bytes)];
    let most = most.into_iter().filter_map(|(file, bytes)| Some((file, bytes?)));
    let (file, least) = most.min_by_key(|(_, bytes)| *bytes)?;
    let (file, bytes, shown) = if is_unscaled && least > UNSCALED_BYTES {
        ("tcp_window_scaling", UNSCALED_BYTES, 0)
    } else {
        (file, least, least)
    };
    let measured = route.probe.as_ref().and_then(|probe| probe.rtt_ns).filter(|rtt_ns| *rtt_ns > 0);
    let rtt_ns = measured.unwrap_or(ASSUMED_RTT_NS);
    let bits_per_s = bytes as f64 * 8.0 / (rtt_ns as f64 / 1e9);
    let certainty = match measured {
        Some(_) if is_unscaled => Certainty::Snapshot,
        Some(_) => Likely,
        None => ToBeTested,
    };
    let rtt = measured.map(|rtt_ns| {
        Observation::field(Source::RoundTrip, route.destination.as_str(), Value::TimeNs(rtt_ns))
    });
    let is_assumed = measured.is_none();
    route
        .finding(certainty, PathWhy::Buffers { bytes, rtt_ns, is_assumed, bits_per_s })
        .observed(Observation::file(format!("/proc/sys/net/ipv4/{file}"), shown))
        .observed_all(rtt)
        .run("tcp-stream", route.path, "")
        .run("tcp-stream", route.path, "--set threads=4")
        .when(bits_per_s < route.seen.speed_below(route).unwrap_or(SLOW_BITS_PER_S))
}
