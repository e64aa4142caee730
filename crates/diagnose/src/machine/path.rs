//! The way to a peer: how large packets may be on it, and how much of a stream.

use iotax_record::machine::{Interface, PathProbe, Route};
use serde::Serialize;

use super::network::Tunnel;
use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, Detail, Finding};
use crate::machine::observation::{Field, Observation, Source, Value};
use crate::machine::snapshot::Snapshot;

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
    BlackHole {
        arrived_bytes: u32,
        lost_bytes: u32,
        to: String,
    },
    Mtu {
        to: String,
        known_bytes: u32,
        interface: String,
        own_bytes: u32,
    },
    /// More than the interface below carries.
    TunnelTooLarge {
        excess_bytes: i64,
    },
    TunnelSmall {
        spare_bytes: i64,
    },
    Encrypted {
        by: Tunnel,
    },
    IpSec {
        to: String,
    },
    /// What a connection has on the way at most, and the rate that it comes to.
    Buffers {
        bytes: u64,
        rtt_ns: u64,
        is_assumed: bool,
        bits_per_s: f64,
    },
}

/// So much smaller than it could be, a tunnel's packets are a choice.
const SPARE_BYTES: u32 = 100;
/// Round trip that rates are computed with where none was measured.
const ASSUMED_RTT_NS: u64 = 10_000_000;
/// Below it most paths are faster.
const SLOW_BITS_PER_S: f64 = 1e9;
/// What TCP can say it has room for without window scaling.
const UNSCALED_BYTES: u64 = 65_535;

fn mtu(interface: &Interface) -> Option<Observation> {
    Some(Observation::link(interface, "mtu", interface.mtu_bytes?.to_string()))
}

/// Packets that arrive, and larger ones that do not.
fn probed(probe: &PathProbe) -> impl Iterator<Item = Observation> {
    let of = |field: Field, bytes: Option<u32>| {
        Some(Observation::field(
            Source::Datagrams,
            field,
            iotax_quantity::single_bytes(bytes?.into()),
        ))
    };
    let arrived = of(Field::LargestArrived, probe.arrived_bytes);
    arrived.into_iter().chain(of(Field::SmallestLost, probe.lost_bytes))
}

/// Packets that vanish without a word.
fn black_hole(_: &Snapshot<'_>, route: &Route, path: &str) -> Option<Finding> {
    let probe = route.probe.as_ref()?;
    let (arrived, lost) = (probe.arrived_bytes?, probe.lost_bytes?);
    let is_known = probe.known_mtu_bytes.is_some_and(|known| known < lost);
    let why = PathWhy::BlackHole {
        arrived_bytes: arrived,
        lost_bytes: lost,
        to: route.destination.clone(),
    };
    let known = probe.known_mtu_bytes.map(|mtu| {
        Observation::field(Source::MtuAfterwards, route.destination.as_str(), mtu.to_string())
    });
    let mut finding =
        Finding::new("mtu-black-hole", Component::network(path), Certainty::Snapshot, why)
            .run("tcp-stream", path, "--time 10s")
            .run("tcp-rr", path, "");
    finding.seen.extend(probed(probe).chain(known));
    (!is_known && arrived < lost).then_some(finding)
}

/// Packets that have to be smaller somewhere, as this machine knows.
fn path_mtu(seen: &Snapshot<'_>, route: &Route, path: &str) -> Option<Finding> {
    let interface = seen.first_interface(route)?;
    let own = interface.mtu_bytes?;
    let after = route.probe.as_ref().and_then(|probe| probe.known_mtu_bytes);
    let known = [route.mtu_bytes, after].into_iter().flatten().min()?;
    let why = PathWhy::Mtu {
        to: route.destination.clone(),
        known_bytes: known,
        interface: interface.name.clone(),
        own_bytes: own,
    };
    let finding = Finding::new("path-mtu", Component::network(path), Certainty::ToBeTested, why)
        .observed(Observation::field(
            "ip route get",
            route.destination.as_str(),
            format!("mtu {known}"),
        ))
        .observed_if(mtu(interface))
        .run("tcp-stream", path, "");
    (known < own).then_some(finding)
}

/// What a tunnel's packets have below them, and how many bytes more than those carry they need.
fn below<'a>(seen: &Snapshot<'a>, tunnel: &Interface) -> Option<(&'a Interface, i64)> {
    let overhead = i64::from(tunnel.overhead_bytes?);
    let with_headers = i64::from(tunnel.mtu_bytes?) + overhead;
    let lower = seen.interfaces_below(tunnel).into_iter().filter(|lower| lower.name != "lo");
    let smallest = lower.filter_map(|lower| Some((lower, i64::from(lower.mtu_bytes?))));
    let (lower, mtu) = smallest.min_by_key(|(_, mtu)| *mtu)?;
    Some((lower, with_headers - mtu))
}

fn of_tunnel(
    cause: &'static str,
    tunnel: &Interface,
    lower: &Interface,
    certainty: Certainty,
    why: PathWhy,
) -> Finding {
    let headers = tunnel.overhead_bytes.unwrap_or(0).to_string();
    let over = Detail::Over(lower.name.clone());
    Finding::new(cause, Component::network(tunnel.name.as_str()).with(over), certainty, why)
        .observed_if(mtu(tunnel))
        .observed(Observation::field(Source::TunnelHeaders, tunnel.name.as_str(), headers))
        .observed_if(mtu(lower))
}

/// A tunnel whose packets do not fit.
fn tunnel_too_large(seen: &Snapshot<'_>, tunnel: &Interface, path: &str) -> Option<Finding> {
    let (lower, excess) = below(seen, tunnel)?;
    let why = PathWhy::TunnelTooLarge { excess_bytes: excess };
    let cause = "tunnel-mtu-too-large";
    let finding = of_tunnel(cause, tunnel, lower, Certainty::Likely, why);
    (excess > 0).then(|| finding.run("tcp-stream", path, ""))
}

/// A tunnel whose packets are much smaller than they could be.
fn tunnel_small(seen: &Snapshot<'_>, tunnel: &Interface, path: &str) -> Option<Finding> {
    let (lower, excess) = below(seen, tunnel)?;
    let why = PathWhy::TunnelSmall { spare_bytes: -excess };
    let finding = of_tunnel("tunnel-mtu", tunnel, lower, Certainty::ToBeTested, why);
    (excess < -i64::from(SPARE_BYTES)).then(|| finding.run("tcp-stream", path, ""))
}

/// Encryption on the way, one core for each flow.
fn encryption(_: &Snapshot<'_>, tunnel: &Interface, path: &str) -> Option<Finding> {
    let by = match (tunnel.kind.as_deref(), &tunnel.served_by) {
        (Some("wireguard"), _) | (_, Some(_)) => Tunnel::WireGuard,
        (Some("macsec"), _) => Tunnel::MacSec,
        (Some("xfrm"), _) => Tunnel::IpSec,
        _ => return None,
    };
    let (about, why) = (Component::network(tunnel.name.as_str()), PathWhy::Encrypted { by });
    let finding = Finding::new("network-encryption", about, Certainty::Likely, why)
        .observed(Observation::link(tunnel, "kind", tunnel.kind.clone().unwrap_or_default()));
    Some(finding.run("tcp-stream", path, "--set threads=4").run("tcp-stream", path, ""))
}

/// IPsec on the way to a peer, which no interface shows.
fn ipsec(_: &Snapshot<'_>, route: &Route, path: &str) -> Option<Finding> {
    let why = PathWhy::IpSec { to: route.destination.clone() };
    let finding =
        Finding::new("network-encryption", Component::network(path), Certainty::Likely, why)
            .observed(Observation::field(
                "ip xfrm policy",
                route.destination.as_str(),
                Value::PoliciesHold,
            ))
            .run("tcp-stream", path, "--set threads=4")
            .run("tcp-stream", path, "");
    (route.ipsec == Some(true)).then_some(finding)
}

/// Buffers that hold less than is on the way.
fn buffers(seen: &Snapshot<'_>, route: &Route, path: &str) -> Option<Finding> {
    let tcp = &seen.machine.network.as_ref()?.tcp;
    let setting = |file: &str, bytes: Option<u64>| {
        Some((bytes?, Observation::file(format!("/proc/sys/net/ipv4/{file}"), bytes?.to_string())))
    };
    let most =
        [setting("tcp_rmem", tcp.most_receive_bytes), setting("tcp_wmem", tcp.most_send_bytes)];
    let (mut least, mut seen_as) = most.into_iter().flatten().min_by_key(|(bytes, _)| *bytes)?;
    let is_unscaled = tcp.window_scaling == Some(false);
    if is_unscaled && least > UNSCALED_BYTES {
        least = UNSCALED_BYTES;
        seen_as = Observation::file("/proc/sys/net/ipv4/tcp_window_scaling", "0");
    }
    let measured = route.probe.as_ref().and_then(|probe| probe.rtt_ns).filter(|rtt_ns| *rtt_ns > 0);
    let rtt_ns = measured.unwrap_or(ASSUMED_RTT_NS);
    let speed = seen.speed_below(route).unwrap_or(SLOW_BITS_PER_S);
    let rate = least as f64 * 8.0 / (rtt_ns as f64 / 1e9);
    let certainty = match measured {
        Some(_) if is_unscaled => Certainty::Snapshot,
        Some(_) => Certainty::Likely,
        None => Certainty::ToBeTested,
    };
    let why =
        PathWhy::Buffers { bytes: least, rtt_ns, is_assumed: measured.is_none(), bits_per_s: rate };
    let rtt = measured.map(|rtt_ns| {
        Observation::field(Source::RoundTrip, route.destination.as_str(), Value::TimeNs(rtt_ns))
    });
    let finding = Finding::new("tcp-buffers", Component::network(path), certainty, why)
        .observed(seen_as)
        .observed_if(rtt)
        .run("tcp-stream", path, "")
        .run("tcp-stream", path, "--set threads=4");
    (rate < speed).then_some(finding)
}
