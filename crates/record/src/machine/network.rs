//! Network paths: routes, interfaces, and kernel counters for all of them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The route of packets to a peer, as in `ip route get`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Route {
    /// The peer's address.
    pub destination: String,
    /// The first router.
    pub gateway: Option<String>,
    /// The source address.
    pub source: Option<String>,
    /// The MTU of the route, or of the path if a router reported it: `metrics`.
    pub mtu_bytes: Option<u32>,
    /// Whether `IPsec` policies apply; `None` if they cannot be read.
    pub ipsec: Option<bool>,
    /// The result of sending datagrams of several sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<PathProbe>,
}

/// The result of sending datagrams that must not be fragmented to a peer that counts them. Sizes
/// are of whole IP packets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PathProbe {
    /// The largest size that arrived.
    pub arrived_bytes: Option<u32>,
    /// The smallest size that was lost although smaller ones arrived.
    pub lost_bytes: Option<u32>,
    /// The path's MTU as known to this machine afterwards: `IP_MTU`.
    pub known_mtu_bytes: Option<u32>,
    /// The shortest of several round trips, in nanoseconds.
    pub rtt_ns: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Interface {
    pub name: String,
    /// `info_kind` of `ip -d link`: `wireguard`, `vxlan`, `veth`, `tun`; `None` for cards.
    pub kind: Option<String>,
    /// `wireguard-go` if a program runs the tunnel: a socket in `/var/run/wireguard`.
    pub served_by: Option<String>,
    /// Its driver: `device/driver` in `/sys/class/net/NAME`.
    pub driver: Option<String>,
    /// `operstate`: `UP`, `DOWN`.
    pub state: Option<String>,
    /// `mtu`.
    pub mtu_bytes: Option<u32>,
    /// Size of the headers that a tunnel adds to a packet of the interface below.
    pub overhead_bytes: Option<u32>,
    /// `speed`, in Mbit/s; not reliable for virtual interfaces.
    pub speed_mbit: Option<u64>,
    /// `num_rx_queues`.
    pub receive_queues: Option<u64>,
    /// `num_tx_queues`.
    pub transmit_queues: Option<u64>,
    /// Whether `queues/rx-*/rps_cpus` distribute received packets over CPUs.
    pub spread_by_software: Option<bool>,
    /// `link_netnsid`: the other end of a pair is in another namespace.
    pub is_pair_elsewhere: bool,
    /// `ethtool -k`.
    pub offloads: Offloads,
    /// `ethtool -g`.
    pub ring: Option<Ring>,
    /// `tc qdisc`, with its classes and filters that limit.
    pub qdiscs: Vec<Qdisc>,
    /// `ip -s -s link`, since the interface was created.
    pub counters: InterfaceCounters,
    /// The increase while counters were watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub while_watched: Option<InterfaceCounters>,
}

/// Offloads of a card or the kernel; `None` if unknown, or off because it is not supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Offloads {
    /// `tcp-segmentation-offload`.
    pub tso: Option<bool>,
    /// `generic-segmentation-offload`.
    pub gso: Option<bool>,
    /// `generic-receive-offload`.
    pub gro: Option<bool>,
    /// `tx-checksumming`.
    pub tx_checksum: Option<bool>,
    /// `rx-checksumming`.
    pub rx_checksum: Option<bool>,
}

impl Offloads {
    /// Each with its name and state.
    pub fn each(self) -> [(&'static str, Option<bool>); 5] {
        [
            ("tso", self.tso),
            ("gso", self.gso),
            ("gro", self.gro),
            ("tx", self.tx_checksum),
            ("rx", self.rx_checksum),
        ]
    }
}

/// Ring buffers between the card and the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ring {
    /// For received packets.
    pub receive: Option<u64>,
    /// The maximum.
    pub most_receive: Option<u64>,
    /// For transmitted packets.
    pub transmit: Option<u64>,
    /// The maximum.
    pub most_transmit: Option<u64>,
}

/// A queueing discipline, or one of its classes or filters.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Qdisc {
    /// `tbf`, `htb`, `netem`, `fq_codel`, `police`.
    pub kind: String,
    /// `1:`, or `1:10` for a class.
    pub handle: String,
    /// Its rate limit, in bytes per second including frame headers.
    pub rate_bytes_per_s: Option<f64>,
    /// How long netem delays packets.
    pub delay_us: Option<f64>,
    /// Share of packets that netem drops.
    pub loss_share: Option<f64>,
    /// Packets that passed.
    pub packets: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// How often a packet waited for the rate limit.
    pub overlimits: u64,
}

/// Packet counters of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InterfaceCounters {
    /// Received.
    pub rx_packets: u64,
    /// Received, and dropped by the kernel.
    pub rx_dropped: u64,
    /// `missed_errors`: the ring was full.
    pub rx_missed: u64,
    /// `fifo_errors`.
    pub rx_fifo: u64,
    /// Received with errors.
    pub rx_errors: u64,
    /// Sent.
    pub tx_packets: u64,
    /// Dropped before transmission.
    pub tx_dropped: u64,
    /// Transmit errors.
    pub tx_errors: u64,
}

impl InterfaceCounters {
    /// The difference from `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            rx_packets: self.rx_packets.saturating_sub(earlier.rx_packets),
            rx_dropped: self.rx_dropped.saturating_sub(earlier.rx_dropped),
            rx_missed: self.rx_missed.saturating_sub(earlier.rx_missed),
            rx_fifo: self.rx_fifo.saturating_sub(earlier.rx_fifo),
            rx_errors: self.rx_errors.saturating_sub(earlier.rx_errors),
            tx_packets: self.tx_packets.saturating_sub(earlier.tx_packets),
            tx_dropped: self.tx_dropped.saturating_sub(earlier.tx_dropped),
            tx_errors: self.tx_errors.saturating_sub(earlier.tx_errors),
        }
    }
}

/// An interface that encrypts, and the Kubernetes plugin that created it, if known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "WrittenInterface")]
pub struct EncryptingInterface {
    pub interface: String,
    pub plugin: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenInterface {
    /// The form used until November 2026: `cilium_wg0 (Cilium)`.
    Text(String),
    Parts {
        interface: String,
        plugin: Option<String>,
    },
}

impl From<WrittenInterface> for EncryptingInterface {
    fn from(written: WrittenInterface) -> Self {
        match written {
            WrittenInterface::Parts { interface, plugin } => Self { interface, plugin },
            WrittenInterface::Text(text) => match text.split_once(" (") {
                Some((interface, plugin)) => {
                    let plugin = Some(plugin.trim_end_matches(')').to_owned());
                    Self { interface: interface.to_owned(), plugin }
                }
                None => Self { interface: text, plugin: None },
            },
        }
    }
}

/// `cilium_wg0 (Cilium)`.
impl fmt::Display for EncryptingInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.plugin {
            Some(plugin) => write!(f, "{} ({plugin})", self.interface),
            None => f.write_str(&self.interface),
        }
    }
}

/// Facts of all interfaces in a network namespace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkSeen {
    /// `/proc/self/ns/net`: `net:[4026531840]`.
    pub namespace: Option<String>,
    /// Interfaces that encrypt.
    pub encrypting: Vec<EncryptingInterface>,
    /// `/proc/net/softnet_stat`, all CPUs.
    pub softnet: Softnet,
    /// The increase while counters were watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub softnet_while_watched: Option<Softnet>,
    /// Connection tracking; `None` if not in use.
    pub conntrack: Option<Conntrack>,
    /// `/proc/sys/net`.
    pub tcp: TcpSettings,
    /// Whether the kernel has `WireGuard`: `/sys/module/wireguard`, or the module's file.
    pub kernel_wireguard: Option<bool>,
}

/// Receive processing by the kernel, over all CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Softnet {
    /// Packets per CPU.
    pub processed: Vec<u64>,
    /// Packets dropped because the CPU's queue was full.
    pub dropped: u64,
    /// How often processing stopped with packets left because its budget or time was used up.
    pub time_squeeze: u64,
}

/// `/proc/sys/net/netfilter/nf_conntrack_*` and `/proc/net/stat/nf_conntrack`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Conntrack {
    /// `nf_conntrack_count`.
    pub count: u64,
    /// `nf_conntrack_max`.
    pub max: u64,
    /// Connections that could not be inserted: `insert_failed`.
    pub insert_failed: u64,
    /// Packets dropped because the table was full: `drop`.
    pub dropped: u64,
    /// Connections evicted for new ones: `early_drop`.
    pub early_drop: u64,
}

/// `/proc/sys/net/ipv4/tcp_*`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TcpSettings {
    /// `tcp_congestion_control`.
    pub congestion_control: Option<String>,
    /// The maximum of `tcp_rmem`.
    pub most_receive_bytes: Option<u64>,
    /// The maximum of `tcp_wmem`.
    pub most_send_bytes: Option<u64>,
    /// `tcp_mtu_probing`: 0 never, 1 after a black hole, 2 always.
    pub mtu_probing: Option<u64>,
    /// `tcp_window_scaling`.
    pub window_scaling: Option<bool>,
}
