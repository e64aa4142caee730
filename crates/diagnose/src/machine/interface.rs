//! A network interface: what it does for packets, what it throws away, what holds it back.

use iotax_record::machine::{Interface, InterfaceCounters, Qdisc};
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::confidential::{ConfidentialWhy, kind_seen};
use super::{
    Certainty, Finder, Finding, InterfaceAt, Meanwhile, Observation, QdiscSeen, Rule, Since, Value,
    rule,
};

pub(super) const RULES: &[Rule] = &[
    rule(&["bounce-buffers"], Finder::Interface(bounced)),
    rule(&["offloads-off"], Finder::Interface(offloads)),
    rule(&["ring-drops"], Finder::Interface(ring)),
    rule(&["single-receive-queue"], Finder::Interface(queues)),
    rule(&["shaper-in-path"], Finder::Interface(shaper)),
    rule(&["qdisc-drops"], Finder::Interface(queue)),
    rule(&["userspace-wireguard"], Finder::Interface(userspace)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InterfaceWhy {
    Offloads { mtu_bytes: Option<u32> },
    Ring { lost: u64, share: f64, meanwhile: Option<Meanwhile> },
    Shaper(Shaped),
    Queue { dropped: u64, since: Since },
    Userspace { kernel_has: Option<bool> },
    OneQueue { cpus: u32 },
}

/// What a shaper does: what it lets through on the wire, and of that of TCP's data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shaped {
    pub bits_per_s: Option<f64>,
    pub data_bits_per_s: Option<f64>,
    pub delay_ns: Option<f64>,
    pub loss: Option<f64>,
}

/// Share of packets that are lost on purpose of nobody's.
const MANY: f64 = 1e-4;
/// Fewer CPUs are busy with one queue anyway.
const MANY_CPUS: u32 = 4;
/// Bytes of a packet that are IP's and TCP's with timestamps.
const TCP_HEADERS: f64 = 52.0;
/// Bytes of a frame beside its packet, as a queueing discipline counts them.
const FRAME: f64 = 14.0;

/// Interfaces that have packets of TCP cut by the card or the kernel.
fn offloads(interface: &InterfaceAt<'_, '_>) -> Option<Finding> {
    let kind = interface.kind.as_deref();
    // A tun device has what its program asks for, and a pair receives what was sent as a whole.
    let segments =
        matches!(kind, None | Some("veth" | "bond" | "bridge" | "vlan" | "vxlan" | "geneve"));
    let offloads = &interface.offloads;
    let each = [
        (offloads.tso, "tcp-segmentation-offload", segments),
        (offloads.gso, "generic-segmentation-offload", segments),
        (offloads.gro, "generic-receive-offload", kind.is_none()),
    ];
    let off = each.into_iter().filter(|(on, _, counts)| *counts && *on == Some(false));
    let off: Vec<_> = off
        .map(|(_, name, _)| {
            Observation::field(format!("ethtool -k {}", interface.name), name, "off")
        })
        .collect();
    let is_off = !off.is_empty();
    interface
        .finding(Likely, InterfaceWhy::Offloads { mtu_bytes: interface.mtu_bytes })
        .observed_all(off)
        .netns("tcp-stream", "offload(tso=false, gso=false, gro=false)")
        .run("tcp-stream", interface.path, "")
        .when(is_off)
}

/// A ring that was full.
fn ring(interface: &InterfaceAt<'_, '_>) -> Option<Finding> {
    let counters = &interface.counters;
    let lost = |counters: &InterfaceCounters| counters.rx_missed.saturating_add(counters.rx_fifo);
    let more = interface.while_watched.as_ref().map(lost);
    let share = lost(counters) as f64 / counters.rx_packets.max(1) as f64;
    let certainty = match more {
        Some(1..) => Certainty::Snapshot,
        _ if share >= MANY => Likely,
        _ => ToBeTested,
    };
    let ring = interface.ring.and_then(|ring| {
        let sizes = Value::OfAll { part: ring.receive?, all: ring.most_receive? };
        Some(Observation::field(format!("ethtool -g {}", interface.name), "RX", sizes))
    });
    let meanwhile = interface.seen.meanwhile(more);
    interface
        .finding(certainty, InterfaceWhy::Ring { lost: lost(counters), share, meanwhile })
        .observed(Observation::link(interface, "rx missed", counters.rx_missed))
        .observed(Observation::link(interface, "rx fifo", counters.rx_fifo))
        .observed_all(ring)
        .run("udp-stream", interface.path, "")
        .run("tcp-stream-back", interface.path, "")
        .when(lost(counters) > 0)
}

/// What limits, delays or drops on purpose.
fn shaper(interface: &InterfaceAt<'_, '_>) -> Option<Finding> {
    let limits = |qdisc: &&Qdisc| {
        qdisc.rate_bytes_per_s.is_some() || qdisc.delay_us.is_some() || qdisc.loss_share.is_some()
    };
    let shapers: Vec<&Qdisc> = interface.qdiscs.iter().filter(limits).collect();
    let rates = shapers.iter().filter_map(|qdisc| qdisc.rate_bytes_per_s);
    let rate = rates.min_by(f64::total_cmp);
    let mtu = interface.mtu_bytes.filter(|mtu| *mtu > 100).map(f64::from);
    let delays = shapers.iter().filter_map(|qdisc| qdisc.delay_us).reduce(f64::max);
    let why = InterfaceWhy::Shaper(Shaped {
        bits_per_s: rate.map(|rate| 8.0 * rate),
        data_bits_per_s: rate.zip(mtu).map(|(rate, mtu)| {
            let share = (mtu - TCP_HEADERS) / (mtu + FRAME);
            8.0 * rate * share
        }),
        delay_ns: delays.map(|us| us * 1e3),
        loss: shapers.iter().filter_map(|qdisc| qdisc.loss_share).reduce(f64::max),
    });
    interface
        .finding(Certainty::Snapshot, why)
        .observed_all(shapers.iter().map(|qdisc| seen_of(interface, qdisc)))
        .run("tcp-stream", interface.path, "")
        .run("tcp-rr", interface.path, "")
        .when(!shapers.is_empty())
}

fn seen_of(interface: &Interface, qdisc: &Qdisc) -> Observation {
    let seen = QdiscSeen {
        bits_per_s: qdisc.rate_bytes_per_s.map(|rate| 8.0 * rate),
        delay_ns: qdisc.delay_us.map(|us| us * 1e3),
        loss: qdisc.loss_share,
        dropped: qdisc.drops,
        overlimits: qdisc.overlimits,
    };
    let file = format!("tc -s qdisc show dev {}", interface.name);
    let field = format!("{} {}", qdisc.kind, qdisc.handle.trim_end_matches(':'));
    Observation::field(file, field, Value::Qdisc(seen))
}

/// A queue that ran full.
fn queue(interface: &InterfaceAt<'_, '_>) -> Option<Finding> {
    let drops_many = |qdisc: &&Qdisc| {
        let limits = qdisc.rate_bytes_per_s.is_some() || qdisc.loss_share.is_some();
        !limits && qdisc.drops as f64 >= MANY * qdisc.packets.max(1) as f64 && qdisc.drops > 0
    };
    let full: Vec<&Qdisc> = interface.qdiscs.iter().filter(drops_many).collect();
    let dropped = full.iter().map(|qdisc| qdisc.drops).fold(0, u64::saturating_add);
    let since = interface.seen.since_boot(None);
    interface
        .finding(ToBeTested, InterfaceWhy::Queue { dropped, since })
        .observed_all(full.iter().map(|qdisc| seen_of(interface, qdisc)))
        .run("tcp-stream", interface.path, "--set threads=4")
        .when(dropped > 0)
}

/// A program that is a tunnel where the kernel could be.
fn userspace(tunnel: &InterfaceAt<'_, '_>) -> Option<Finding> {
    let socket = tunnel.served_by.as_deref()?;
    let network = tunnel.seen.machine.network.as_ref();
    let kernel_has = network.and_then(|network| network.kernel_wireguard);
    let certainty = if kernel_has == Some(true) { Likely } else { ToBeTested };
    tunnel
        .finding(certainty, InterfaceWhy::Userspace { kernel_has })
        .observed(Observation::link(tunnel, "kind", tunnel.kind.clone().unwrap_or_default()))
        .observed(Observation::file(socket, "there"))
        .netns("tcp-stream", "wireguard(by=wireguard-go)")
        .run("tcp-stream", tunnel.path, "")
        .into()
}

/// One queue for all CPUs.
fn queues(interface: &InterfaceAt<'_, '_>) -> Option<Finding> {
    let cpus = interface.seen.machine.environment.cpus;
    let is_card = interface.driver.is_some();
    let is_one = interface.receive_queues == Some(1) && interface.spread_by_software == Some(false);
    let directory = format!("/sys/class/net/{}/queues", interface.name);
    interface
        .finding(ToBeTested, InterfaceWhy::OneQueue { cpus })
        .observed(Observation::field(directory.as_str(), "rx-*", "1"))
        .observed(Observation::file(format!("{directory}/rx-0/rps_cpus"), "0"))
        .run("tcp-stream-back", interface.path, "--set threads=4")
        .run("tcp-stream-back", interface.path, "")
        .when(is_card && is_one && cpus >= MANY_CPUS)
}

/// A confidential machine's card, whose packets are copied.
fn bounced(interface: &InterfaceAt<'_, '_>) -> Option<Finding> {
    let kind = interface.seen.machine.confidential.kind.as_deref()?;
    let driver = interface.driver.clone()?;
    interface
        .finding(ToBeTested, ConfidentialWhy::BouncedPackets { kind: kind.to_owned(), driver })
        .observed(kind_seen(interface.seen, kind))
        .run("tcp-stream", interface.path, "--set threads=4")
        .run("tcp-rr", interface.path, "")
        .into()
}
