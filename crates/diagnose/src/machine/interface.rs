//! A network interface: what it does for packets, what it throws away, what holds it back.

use iotax_record::machine::{Interface, InterfaceCounters, Qdisc};
use serde::Serialize;

use super::confidential::{ConfidentialWhy, kind_seen};
use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, Finding};
use crate::machine::observation::{Observation, QdiscSeen, Value};
use crate::machine::snapshot::{Meanwhile, Since, Snapshot};

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
    Offloads {
        mtu_bytes: Option<u32>,
    },
    Ring {
        lost: u64,
        share: f64,
        meanwhile: Option<Meanwhile>,
    },
    // What it lets through on the wire, and of that of TCP's data.
    Shaper {
        bits_per_s: Option<f64>,
        data_bits_per_s: Option<f64>,
        delay_ns: Option<f64>,
        loss: Option<f64>,
    },
    Queue {
        dropped: u64,
        since: Since,
    },
    Userspace {
        kernel_has: Option<bool>,
    },
    OneQueue {
        cpus: u32,
    },
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
fn offloads(_: &Snapshot<'_>, interface: &Interface, path: &str) -> Option<Finding> {
    let kind = interface.kind.as_deref();
    // A tun device has what its program asks for, and a pair receives what was sent as a whole.
    let segments =
        matches!(kind, None | Some("veth" | "bond" | "bridge" | "vlan" | "vxlan" | "geneve"));
    let off = |on: Option<bool>, name: &'static str| (on == Some(false)).then_some(name);
    let offloads = &interface.offloads;
    let off: Vec<&str> = [
        off(offloads.tso, "tcp-segmentation-offload").filter(|_| segments),
        off(offloads.gso, "generic-segmentation-offload").filter(|_| segments),
        off(offloads.gro, "generic-receive-offload").filter(|_| kind.is_none()),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!off.is_empty()).then_some(())?;
    let why = InterfaceWhy::Offloads { mtu_bytes: interface.mtu_bytes };
    let ethtool = format!("ethtool -k {}", interface.name);
    let mut finding =
        Finding::new("offloads-off", Component::interface(interface, path), Certainty::Likely, why);
    finding.seen.extend(off.iter().map(|name| Observation::field(ethtool.as_str(), *name, "off")));
    Some(finding.netns("tcp-stream", "offload(tso=false, gso=false, gro=false)").run(
        "tcp-stream",
        path,
        "",
    ))
}

/// A ring that was full.
fn ring(seen: &Snapshot<'_>, interface: &Interface, path: &str) -> Option<Finding> {
    let lost = |counters: &InterfaceCounters| counters.rx_missed.saturating_add(counters.rx_fifo);
    let all = lost(&interface.counters);
    (all > 0).then_some(())?;
    let more = interface.while_watched.as_ref().map(lost);
    let share = all as f64 / interface.counters.rx_packets.max(1) as f64;
    let certainty = match more {
        Some(1..) => Certainty::Snapshot,
        _ if share >= MANY => Certainty::Likely,
        _ => Certainty::ToBeTested,
    };
    let why = InterfaceWhy::Ring { lost: all, share, meanwhile: seen.meanwhile(more) };
    let ring = interface.ring.and_then(|ring| {
        let sizes = Value::OfAll { part: ring.receive?, all: ring.most_receive? };
        Some(Observation::field(format!("ethtool -g {}", interface.name), "RX", sizes))
    });
    Some(
        Finding::new("ring-drops", Component::interface(interface, path), certainty, why)
            .observed(Observation::link(
                interface,
                "rx missed",
                interface.counters.rx_missed.to_string(),
            ))
            .observed(Observation::link(
                interface,
                "rx fifo",
                interface.counters.rx_fifo.to_string(),
            ))
            .observed_if(ring)
            .run("udp-stream", path, "")
            .run("tcp-stream-back", path, ""),
    )
}

/// What limits, delays or drops on purpose.
fn shaper(_: &Snapshot<'_>, interface: &Interface, path: &str) -> Option<Finding> {
    let limits = |qdisc: &&Qdisc| {
        qdisc.rate_bytes_per_s.is_some() || qdisc.delay_us.is_some() || qdisc.loss_share.is_some()
    };
    let shapers: Vec<&Qdisc> = interface.qdiscs.iter().filter(limits).collect();
    (!shapers.is_empty()).then_some(())?;
    let rates = shapers.iter().filter_map(|qdisc| qdisc.rate_bytes_per_s);
    let rate = rates.min_by(f64::total_cmp);
    let data_bits_per_s =
        rate.zip(interface.mtu_bytes.filter(|mtu| *mtu > 100)).map(|(rate, mtu)| {
            let share = (f64::from(mtu) - TCP_HEADERS) / (f64::from(mtu) + FRAME);
            8.0 * rate * share
        });
    let delays = shapers.iter().filter_map(|qdisc| qdisc.delay_us).reduce(f64::max);
    let losses = shapers.iter().filter_map(|qdisc| qdisc.loss_share).reduce(f64::max);
    let why = InterfaceWhy::Shaper {
        bits_per_s: rate.map(|rate| 8.0 * rate),
        data_bits_per_s,
        delay_ns: delays.map(|us| us * 1e3),
        loss: losses,
    };
    let mut finding = Finding::new(
        "shaper-in-path",
        Component::interface(interface, path),
        Certainty::Snapshot,
        why,
    );
    finding.seen.extend(shapers.iter().map(|qdisc| seen_of(interface, qdisc)));
    Some(finding.run("tcp-stream", path, "").run("tcp-rr", path, ""))
}

fn seen_of(interface: &Interface, qdisc: &Qdisc) -> Observation {
    let seen = QdiscSeen {
        bits_per_s: qdisc.rate_bytes_per_s.map(|rate| 8.0 * rate),
        delay_ns: qdisc.delay_us.map(|us| us * 1e3),
        loss: qdisc.loss_share,
        dropped: qdisc.drops,
        overlimits: qdisc.overlimits,
    };
    let field = format!("{} {}", qdisc.kind, qdisc.handle.trim_end_matches(':'));
    Observation::field(
        format!("tc -s qdisc show dev {}", interface.name),
        field,
        Value::Qdisc(seen),
    )
}

/// A queue that ran full.
fn queue(seen: &Snapshot<'_>, interface: &Interface, path: &str) -> Option<Finding> {
    let drops_many = |qdisc: &&Qdisc| {
        let limits = qdisc.rate_bytes_per_s.is_some() || qdisc.loss_share.is_some();
        !limits && qdisc.drops as f64 >= MANY * qdisc.packets.max(1) as f64 && qdisc.drops > 0
    };
    let full: Vec<&Qdisc> = interface.qdiscs.iter().filter(drops_many).collect();
    let drops: u64 = full.iter().map(|qdisc| qdisc.drops).fold(0, u64::saturating_add);
    let why = InterfaceWhy::Queue { dropped: drops, since: seen.since_boot(None) };
    let mut finding = Finding::new(
        "qdisc-drops",
        Component::interface(interface, path),
        Certainty::ToBeTested,
        why,
    );
    finding.seen.extend(full.iter().map(|qdisc| seen_of(interface, qdisc)));
    (drops > 0).then(|| finding.run("tcp-stream", path, "--set threads=4"))
}

/// A program that is a tunnel where the kernel could be.
fn userspace(seen: &Snapshot<'_>, tunnel: &Interface, path: &str) -> Option<Finding> {
    let socket = tunnel.served_by.as_deref()?;
    let kernel = seen.machine.network.as_ref().and_then(|network| network.kernel_wireguard);
    let certainty = if kernel == Some(true) { Certainty::Likely } else { Certainty::ToBeTested };
    let why = InterfaceWhy::Userspace { kernel_has: kernel };
    Some(
        Finding::new("userspace-wireguard", Component::interface(tunnel, path), certainty, why)
            .observed(Observation::link(tunnel, "kind", tunnel.kind.clone().unwrap_or_default()))
            .observed(Observation::file(socket, "there"))
            .netns("tcp-stream", "wireguard(by=wireguard-go)")
            .run("tcp-stream", path, ""),
    )
}

/// One queue for all CPUs.
fn queues(seen: &Snapshot<'_>, interface: &Interface, path: &str) -> Option<Finding> {
    let cpus = seen.machine.environment.cpus;
    let is_card = interface.driver.is_some();
    let is_one = interface.receive_queues == Some(1) && interface.spread_by_software == Some(false);
    let why = InterfaceWhy::OneQueue { cpus };
    let directory = format!("/sys/class/net/{}/queues", interface.name);
    let finding = Finding::new(
        "single-receive-queue",
        Component::interface(interface, path),
        Certainty::ToBeTested,
        why,
    )
    .observed(Observation::field(directory.as_str(), "rx-*", "1"))
    .observed(Observation::file(format!("{directory}/rx-0/rps_cpus"), "0"))
    .run("tcp-stream-back", path, "--set threads=4")
    .run("tcp-stream-back", path, "");
    (is_card && is_one && cpus >= MANY_CPUS).then_some(finding)
}

/// A confidential machine's card, whose packets are copied.
fn bounced(seen: &Snapshot<'_>, interface: &Interface, path: &str) -> Option<Finding> {
    let kind = seen.machine.confidential.kind.as_deref()?;
    let driver = interface.driver.as_deref()?;
    let why = ConfidentialWhy::BouncedPackets { kind: kind.to_owned(), driver: driver.to_owned() };
    Some(
        Finding::new(
            "bounce-buffers",
            Component::interface(interface, path),
            Certainty::ToBeTested,
            why,
        )
        .observed(kind_seen(seen, kind))
        .run("tcp-stream", path, "--set threads=4")
        .run("tcp-rr", path, ""),
    )
}
