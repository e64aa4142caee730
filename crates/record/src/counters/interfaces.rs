//! Network interfaces and their queueing disciplines.

use serde::{Deserialize, Serialize};

use super::series::Series;

/// Counters of one interface, in the order of the kernel's `struct rtnl_link_stats64`: packets
/// received and sent, bytes received and sent, receive and transmit errors, packets dropped on
/// receive and transmit.
pub const INTERFACE_COUNTERS: usize = 8;
/// Counters of one queueing discipline: bytes and packets sent, packets dropped, times over the
/// limit (`overlimits`), packets queued again (`requeues`), and the current queue in bytes and
/// packets.
pub const QDISC_COUNTERS: usize = 7;

/// An end of a network path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathEnd {
    /// The end that drives the load.
    #[default]
    Near,
    /// The end with the peer.
    Far,
    /// Both ends, on the loopback interface.
    Both,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct InterfaceCounters {
    /// The end of the path.
    pub end: PathEnd,
    /// The kernel's name, e.g. `eth0`.
    pub name: String,
    /// Its counters; missing while the interface does not exist.
    pub counters: Box<[Series; INTERFACE_COUNTERS]>,
    /// Its queueing disciplines with counters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub qdiscs: Vec<QdiscCounters>,
}

impl PathEnd {
    /// Name with the end of the path, since both ends often have the same: `far eth0`.
    pub fn label(self, interface: &str) -> String {
        match self {
            Self::Near => format!("near {interface}"),
            Self::Far => format!("far {interface}"),
            Self::Both => interface.to_owned(),
        }
    }
}

/// One queueing discipline.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct QdiscCounters {
    /// Its kind, e.g. `tbf`.
    pub kind: String,
    /// Its position as shown by `tc`: its handle, such as `1:`; without a handle `root`, or its
    /// class, such as `:2`.
    pub place: String,
    pub counters: Box<[Series; QDISC_COUNTERS]>,
}
