//! Network paths: routes, interfaces, and what the kernel counts of all of them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The way that packets to a peer take, as `ip route get` tells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Route {
    /// The peer's address.
    pub destination: String,
    /// The router that they go to first.
    pub gateway: Option<String>,
    /// The address that they are sent from.
    pub source: Option<String>,
    /// The route's own MTU, or the path's, where a router has told: `metrics`.
    pub mtu_bytes: Option<u32>,
    /// Whether `IPsec` policies hold for it; `None` if that may not be read.
    pub ipsec: Option<bool>,
    /// What datagrams of several sizes came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<PathProbe>,
}

/// What datagrams that nobody may fragment came to, sent to a peer that counts them. Sizes are of whole
/// IP packets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PathProbe {
    /// The largest that arrived.
    pub arrived_bytes: Option<u32>,
    /// The smallest that did not, although smaller ones did.
    pub lost_bytes: Option<u32>,
    /// The path's MTU as this machine knew it afterwards: `IP_MTU`.
    pub known_mtu_bytes: Option<u32>,
    /// The shortest of some round trips, in nanoseconds.
    pub rtt_ns: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Interface {
    pub name: String,
    /// `info_kind` of `ip -d link`: `wireguard`, `vxlan`, `veth`, `tun`; `None` of cards.
    pub kind: Option<String>,
    /// `wireguard-go` where a program is the tunnel: a socket in `/var/run/wireguard`.
    pub served_by: Option<String>,
    /// The kernel's driver: `device/driver` in `/sys/class/net/NAME`.
    pub driver: Option<String>,
    /// `operstate`: `UP`, `DOWN`.
    pub state: Option<String>,
    /// `mtu`.
    pub mtu_bytes: Option<u32>,
    /// What a tunnel takes of a packet of the interface below for its own headers.
    pub overhead_bytes: Option<u32>,
    /// `speed`, in Mbit/s; virtual interfaces say what they like.
    pub speed_mbit: Option<u64>,
    /// `num_rx_queues`.
    pub receive_queues: Option<u64>,
    /// `num_tx_queues`.
    pub transmit_queues: Option<u64>,
    /// Whether `queues/rx-*/rps_cpus` spread what is received over CPUs.
    pub spread_by_software: Option<bool>,
    /// `link_netnsid`: the other end of a pair is in another namespace.
    pub is_pair_elsewhere: bool,
    /// `ethtool -k`.
    pub offloads: Offloads,
    /// `ethtool -g`.
    pub ring: Option<Ring>,
    /// `tc qdisc`, and classes and filters of it that limit.
    pub qdiscs: Vec<Qdisc>,
    /// `ip -s -s link`, since it was made.
    pub counters: InterfaceCounters,
    /// What was added while counters were watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub while_watched: Option<InterfaceCounters>,
}

/// What a card does for the kernel, or the kernel for many packets at once; `None` is not told, or off
/// since it cannot be on.
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
    /// Each with its name and whether it is on.
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

/// Places for packets between the card and the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ring {
    /// For received packets.
    pub receive: Option<u64>,
    /// The most there can be.
    pub most_receive: Option<u64>,
    /// For packets to be sent.
    pub transmit: Option<u64>,
    /// The most there can be.
    pub most_transmit: Option<u64>,
}

/// A queueing discipline, a class or a filter of one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Qdisc {
    /// `tbf`, `htb`, `netem`, `fq_codel`, `police`.
    pub kind: String,
    /// `1:`, `1:10` of classes.
    pub handle: String,
    /// The rate that it limits to, in bytes per second with the headers of frames.
    pub rate_bytes_per_s: Option<f64>,
    /// How long it keeps packets, of netem.
    pub delay_us: Option<f64>,
    /// Share of packets that it drops, of netem.
    pub loss_share: Option<f64>,
    /// Packets that it let pass.
    pub packets: u64,
    /// Packets that it threw away.
    pub drops: u64,
    /// How often a packet had to wait for the rate.
    pub overlimits: u64,
}

/// Packets of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InterfaceCounters {
    /// Received.
    pub rx_packets: u64,
    /// Received, and thrown away by the kernel.
    pub rx_dropped: u64,
    /// `missed_errors`: the ring was full.
    pub rx_missed: u64,
    /// `fifo_errors`.
    pub rx_fifo: u64,
    /// Broken when they came.
    pub rx_errors: u64,
    /// Sent.
    pub tx_packets: u64,
    /// To be sent, and thrown away.
    pub tx_dropped: u64,
    /// That could not be sent.
    pub tx_errors: u64,
}

impl InterfaceCounters {
    /// What was counted after `earlier`.
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

/// An interface that encrypts, and the plugin of Kubernetes that is known to have made it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "WrittenInterface")]
pub struct EncryptingInterface {
    pub interface: String,
    pub plugin: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenInterface {
    /// As it was until November 2026: `cilium_wg0 (Cilium)`.
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

/// What holds for all interfaces of a network namespace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkSeen {
    /// `/proc/self/ns/net`: `net:[4026531840]`.
    pub namespace: Option<String>,
    /// Interfaces that encrypt.
    pub encrypting: Vec<EncryptingInterface>,
    /// `/proc/net/softnet_stat`, all CPUs.
    pub softnet: Softnet,
    /// What was added while counters were watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub softnet_while_watched: Option<Softnet>,
    /// Connections that are tracked; `None` where none are.
    pub conntrack: Option<Conntrack>,
    /// `/proc/sys/net`.
    pub tcp: TcpSettings,
    /// Whether the kernel has `WireGuard`: `/sys/module/wireguard`, or the module's file.
    pub kernel_wireguard: Option<bool>,
}

/// What the kernel did with packets that came, over all CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Softnet {
    /// Packets of each CPU.
    pub processed: Vec<u64>,
    /// Packets thrown away since the CPU's queue was full.
    pub dropped: u64,
    /// How often it stopped with packets left, for want of budget or time.
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
    /// Connections that could not be added: `insert_failed`.
    pub insert_failed: u64,
    /// Packets thrown away since the table was full: `drop`.
    pub dropped: u64,
    /// Connections thrown out for new ones: `early_drop`.
    pub early_drop: u64,
}

/// `/proc/sys/net/ipv4/tcp_*`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TcpSettings {
    /// `tcp_congestion_control`.
    pub congestion_control: Option<String>,
    /// The most of `tcp_rmem`.
    pub most_receive_bytes: Option<u64>,
    /// The most of `tcp_wmem`.
    pub most_send_bytes: Option<u64>,
    /// `tcp_mtu_probing`: 0 never, 1 after a black hole was met, 2 always.
    pub mtu_probing: Option<u64>,
    /// `tcp_window_scaling`.
    pub window_scaling: Option<bool>,
}
