//! A network interface: what it does for packets, what it throws away, what holds it back.

use iotax_quantity::{bit_rate, grouped, percent, time};
use iotax_record::machine::{Interface, InterfaceCounters, Qdisc};

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::{Snapshot, meanwhile};

/// Share of packets that are lost on purpose of nobody's.
const MANY: f64 = 1e-4;
/// Fewer CPUs are busy with one queue anyway.
const MANY_CPUS: u32 = 4;
/// Bytes of a packet that are IP's and TCP's with timestamps.
const TCP_HEADERS: f64 = 52.0;
/// Bytes of a frame beside its packet, as a queueing discipline counts them.
const FRAME: f64 = 14.0;

fn about(interface: &Interface, path: &str) -> String {
    if interface.name == path { path.to_owned() } else { format!("{} of {path}", interface.name) }
}

/// Interfaces that have packets of TCP cut by the card or the kernel.
pub(super) fn offloads(_: &Snapshot<'_>, interface: &Interface, path: &str) -> Option<Finding> {
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
    let packets = interface.mtu_bytes.map_or(String::new(), |mtu| {
        format!(": 64 KiB of a stream are {} of them", (64_u32 << 10).div_ceil(mtu.max(1)))
    });
    let why = format!(
        "Each packet of {} goes through the network stack on its own{packets}.",
        interface.name
    );
    let ethtool = format!("ethtool -k {}", interface.name);
    let mut finding = Finding::new("offloads-off", about(interface, path), Certainty::Likely, why);
    finding.seen.extend(off.iter().map(|name| Observation::field(ethtool.as_str(), *name, "off")));
    Some(finding.netns("tcp-stream", "offload(tso=false, gso=false, gro=false)").run(
        "tcp-stream",
        path,
        "",
    ))
}

/// A ring that was full.
pub(super) fn ring(seen: &Snapshot<'_>, interface: &Interface, path: &str) -> Option<Finding> {
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
    let meanwhile = meanwhile(more, seen.machine.counting.watched_ms);
    let why = format!(
        "{} did not take {} packets, {} of what it received, for want of room{}.",
        interface.name,
        grouped(all),
        percent(share),
        meanwhile.map_or(String::new(), |now| format!("; {now}"))
    );
    let ring = interface.ring.and_then(|ring| {
        let sizes = format!("{} of {}", ring.receive?, ring.most_receive?);
        Some(Observation::field(format!("ethtool -g {}", interface.name), "RX", sizes))
    });
    Some(
        Finding::new("ring-drops", about(interface, path), certainty, why)
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
pub(super) fn shaper(_: &Snapshot<'_>, interface: &Interface, path: &str) -> Option<Finding> {
    let limits = |qdisc: &&Qdisc| {
        qdisc.rate_bytes_per_s.is_some() || qdisc.delay_us.is_some() || qdisc.loss_share.is_some()
    };
    let shapers: Vec<&Qdisc> = interface.qdiscs.iter().filter(limits).collect();
    (!shapers.is_empty()).then_some(())?;
    let rates = shapers.iter().filter_map(|qdisc| qdisc.rate_bytes_per_s);
    let rate = rates.min_by(f64::total_cmp);
    let held = rate.map(|rate| {
        let data = interface.mtu_bytes.filter(|mtu| *mtu > 100).map_or(String::new(), |mtu| {
            let share = (f64::from(mtu) - TCP_HEADERS) / (f64::from(mtu) + FRAME);
            format!(", headers of frames included: {} of TCP's data", bit_rate(8.0 * rate * share))
        });
        format!("holds packets to {} on the wire{data}", bit_rate(8.0 * rate))
    });
    let delays = shapers.iter().filter_map(|qdisc| qdisc.delay_us).reduce(f64::max);
    let delayed = delays.map(|us| format!("keeps each packet for {}", time(us * 1e3)));
    let losses = shapers.iter().filter_map(|qdisc| qdisc.loss_share).reduce(f64::max);
    let dropped = losses.map(|share| format!("drops {} of them", percent(share)));
    let does: Vec<String> = [held, delayed, dropped].into_iter().flatten().collect();
    let why = format!("{} {}.", interface.name, does.join(", and "));
    let mut finding =
        Finding::new("shaper-in-path", about(interface, path), Certainty::Snapshot, why);
    finding.seen.extend(shapers.iter().map(|qdisc| seen_of(interface, qdisc)));
    Some(finding.run("tcp-stream", path, "").run("tcp-rr", path, ""))
}

fn seen_of(interface: &Interface, qdisc: &Qdisc) -> Observation {
    let rate = qdisc.rate_bytes_per_s.map(|rate| format!("rate {}", bit_rate(8.0 * rate)));
    let delay = qdisc.delay_us.map(|us| format!("delay {}", time(us * 1e3)));
    let loss = qdisc.loss_share.map(|share| format!("loss {}", percent(share)));
    let dropped = (qdisc.drops > 0).then(|| format!("dropped {}", grouped(qdisc.drops)));
    let over = (qdisc.overlimits > 0).then(|| format!("overlimits {}", grouped(qdisc.overlimits)));
    let told: Vec<String> = [rate, delay, loss, dropped, over].into_iter().flatten().collect();
    let field = format!("{} {}", qdisc.kind, qdisc.handle.trim_end_matches(':'));
    Observation::field(format!("tc -s qdisc show dev {}", interface.name), field, told.join(", "))
}

/// A queue that ran full.
pub(super) fn queue(seen: &Snapshot<'_>, interface: &Interface, path: &str) -> Option<Finding> {
    let drops_many = |qdisc: &&Qdisc| {
        let limits = qdisc.rate_bytes_per_s.is_some() || qdisc.loss_share.is_some();
        !limits && qdisc.drops as f64 >= MANY * qdisc.packets.max(1) as f64 && qdisc.drops > 0
    };
    let full: Vec<&Qdisc> = interface.qdiscs.iter().filter(drops_many).collect();
    let drops: u64 = full.iter().map(|qdisc| qdisc.drops).fold(0, u64::saturating_add);
    let why = format!(
        "The queue to {} threw {} packets away {}: more was to be sent than it took.",
        interface.name,
        grouped(drops),
        seen.since_boot()
    );
    let mut finding =
        Finding::new("qdisc-drops", about(interface, path), Certainty::ToBeTested, why);
    finding.seen.extend(full.iter().map(|qdisc| seen_of(interface, qdisc)));
    (drops > 0).then(|| finding.run("tcp-stream", path, "--set threads=4"))
}

/// A program that is a tunnel where the kernel could be.
pub(super) fn userspace(seen: &Snapshot<'_>, tunnel: &Interface, path: &str) -> Option<Finding> {
    let socket = tunnel.served_by.as_deref()?;
    let kernel = seen.machine.network.as_ref().and_then(|network| network.kernel_wireguard);
    let (certainty, could) = match kernel {
        Some(true) => (Certainty::Likely, "The kernel here has its own."),
        Some(false) => (Certainty::ToBeTested, "The kernel here has none of its own."),
        None => (Certainty::ToBeTested, "Whether the kernel here has its own is not known."),
    };
    let why =
        format!("A program encrypts each packet of {} outside of the kernel. {could}", tunnel.name);
    Some(
        Finding::new("userspace-wireguard", about(tunnel, path), certainty, why)
            .observed(Observation::link(tunnel, "kind", tunnel.kind.clone().unwrap_or_default()))
            .observed(Observation::file(socket, "there"))
            .netns("tcp-stream", "wireguard(by=wireguard-go)")
            .run("tcp-stream", path, ""),
    )
}

/// One queue for all CPUs.
pub(super) fn queues(seen: &Snapshot<'_>, interface: &Interface, path: &str) -> Option<Finding> {
    let cpus = seen.machine.environment.cpus;
    let is_card = interface.driver.is_some();
    let is_one = interface.receive_queues == Some(1) && interface.spread_by_software == Some(false);
    let why = format!("All that {} receives comes to one of {cpus} CPUs first.", interface.name);
    let directory = format!("/sys/class/net/{}/queues", interface.name);
    let finding =
        Finding::new("single-receive-queue", about(interface, path), Certainty::ToBeTested, why)
            .observed(Observation::field(directory.as_str(), "rx-*", "1"))
            .observed(Observation::file(format!("{directory}/rx-0/rps_cpus"), "0"))
            .run("tcp-stream-back", path, "--set threads=4")
            .run("tcp-stream-back", path, "");
    (is_card && is_one && cpus >= MANY_CPUS).then_some(finding)
}

/// A confidential machine's card, whose packets are copied.
pub(super) fn bounced(seen: &Snapshot<'_>, interface: &Interface, path: &str) -> Option<Finding> {
    let confidential = &seen.machine.confidential;
    let kind = confidential.kind.as_deref()?;
    let driver = interface.driver.as_deref()?;
    let file = confidential.seen_in.as_deref().unwrap_or("instance metadata");
    let why = format!(
        "The host cannot read the memory of this {kind} machine, so packets of {} ({driver}) are \
         copied through bounce buffers.",
        interface.name
    );
    Some(
        Finding::new("bounce-buffers", about(interface, path), Certainty::ToBeTested, why)
            .observed(Observation::file(file, kind))
            .run("tcp-stream", path, "--set threads=4")
            .run("tcp-rr", path, ""),
    )
}
