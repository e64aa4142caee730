//! Network interfaces and their queueing disciplines.

use serde::{Deserialize, Serialize};

use super::series::Series;

/// Counters of one interface, in the order of the kernel's `struct rtnl_link_stats64`: packets
/// received and sent, bytes received and sent, errors of either, packets dropped of either.
pub const INTERFACE_COUNTERS: usize = 8;
/// Counters of one queueing discipline: bytes and packets that left it, packets dropped, times that
/// something was over the limit (`overlimits`), packets queued again (`requeues`); and what waits
/// in it: bytes, packets.
pub const QDISC_COUNTERS: usize = 7;

/// Which end of a network path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathEnd {
    /// The one from which load is driven.
    #[default]
    Near,
    /// The one at which the peer is.
    Far,
    /// Both are at the same interface, the loopback one.
    Both,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct InterfaceCounters {
    /// At which end of the path it is.
    pub end: PathEnd,
    /// The kernel's name, e.g. `eth0`.
    pub name: String,
    /// Its counters; missing while it is gone.
    pub counters: Box<[Series; INTERFACE_COUNTERS]>,
    /// Its queueing disciplines that count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub qdiscs: Vec<QdiscCounters>,
}

impl PathEnd {
    /// What an interface here is called, since both ends often have the same: `far eth0`.
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
    /// Which one it is, as `tc` says it: its handle, such as `1:`; of those without one `root`, or the
    /// class in which it is, such as `:2`.
    pub place: String,
    pub counters: Box<[Series; QDISC_COUNTERS]>,
}
