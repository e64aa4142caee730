//! Interfaces, from `ip -json -details -statistics -statistics link`.

use iotax_record::machine::{EncryptingInterface, Interface, InterfaceCounters};
use serde::Deserialize;

use super::super::programs::Programs;

/// All interfaces of the namespace.
#[derive(Debug, Default)]
pub(super) struct Links(Vec<Link>);

/// One interface.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Link {
    ifindex: u64,
    ifname: String,
    mtu: Option<u32>,
    operstate: Option<String>,
    address: Option<String>,
    /// The interface below it, or the other end of a pair.
    #[serde(rename = "link")]
    lower: Option<String>,
    /// The namespace of that interface, if it is another one.
    #[serde(rename = "link_netnsid")]
    lower_namespace: Option<i64>,
    /// The interface that it is a part of.
    master: Option<String>,
    num_rx_queues: Option<u64>,
    num_tx_queues: Option<u64>,
    linkinfo: LinkInfo,
    stats64: Statistics,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LinkInfo {
    info_kind: Option<String>,
    info_data: LinkData,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LinkData {
    remote: Option<String>,
    remote6: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Statistics {
    rx: Counts,
    tx: Counts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    packets: u64,
    errors: u64,
    dropped: u64,
    fifo_errors: u64,
    missed_errors: u64,
}

/// Used to check whether sysfs shows the same interface.
pub(super) struct Hardware<'a> {
    pub(super) index: u64,
    pub(super) address: Option<&'a str>,
}

/// All interfaces, if the program is available.
pub(super) fn links(programs: &Programs<'_>) -> Option<Links> {
    Links::parse(&programs.output("ip", &["-j", "-d", "-s", "-s", "link", "show"])?)
}

impl Links {
    fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|link| link.ifname.as_str())
    }

    pub(super) fn named(&self, name: &str) -> Option<&Link> {
        self.0.iter().find(|link| link.ifname == name)
    }

    /// The interfaces below an interface in this namespace: its parts, or its parent.
    pub(super) fn below(&self, name: &str) -> Vec<String> {
        let parts = self.0.iter().filter(|link| link.master.as_deref() == Some(name));
        let mut below: Vec<String> = parts.map(|link| link.ifname.clone()).collect();
        if let Some(link) = self.named(name).filter(|link| !link.is_pair()) {
            let is_here = link.lower_namespace.is_none();
            below.extend(link.lower.clone().filter(|_| is_here));
        }
        below
    }

    /// Interfaces that encrypt, each with its creator if known.
    pub(super) fn encrypting(&self, known: &[(&str, &str)]) -> Vec<EncryptingInterface> {
        let of_plugin = |link: &Link| known.iter().find(|(name, _)| link.ifname.starts_with(name));
        let encrypts = |link: &&Link| {
            matches!(link.kind(), Some("wireguard" | "macsec" | "xfrm"))
                || of_plugin(link).is_some()
        };
        let told = |link: &Link| {
            let plugin = of_plugin(link).map(|(_, plugin)| (*plugin).to_owned());
            EncryptingInterface { interface: link.ifname.clone(), plugin }
        };
        self.0.iter().filter(encrypts).map(told).collect()
    }
}

impl Link {
    pub(super) fn kind(&self) -> Option<&str> {
        self.linkinfo.info_kind.as_deref()
    }

    fn is_pair(&self) -> bool {
        matches!(self.kind(), Some("veth" | "netkit"))
    }

    pub(super) fn name(&self) -> &str {
        &self.ifname
    }

    /// The far end of a tunnel.
    pub(super) fn remote(&self) -> Option<&str> {
        let LinkData { remote, remote6 } = &self.linkinfo.info_data;
        remote.as_deref().or(remote6.as_deref())
    }

    pub(super) fn hardware(&self) -> Hardware<'_> {
        Hardware { index: self.ifindex, address: self.address.as_deref() }
    }

    pub(super) fn counters(&self) -> InterfaceCounters {
        let Statistics { rx, tx } = &self.stats64;
        InterfaceCounters {
            rx_packets: rx.packets,
            rx_dropped: rx.dropped,
            rx_missed: rx.missed_errors,
            rx_fifo: rx.fifo_errors,
            rx_errors: rx.errors,
            tx_packets: tx.packets,
            tx_dropped: tx.dropped,
            tx_errors: tx.errors,
        }
    }

    /// The facts about it from this program alone.
    pub(super) fn interface(&self) -> Interface {
        Interface {
            name: self.ifname.clone(),
            kind: self.linkinfo.info_kind.clone(),
            state: self.operstate.clone(),
            mtu_bytes: self.mtu,
            receive_queues: self.num_rx_queues,
            transmit_queues: self.num_tx_queues,
            is_pair_elsewhere: self.is_pair() && self.lower_namespace.is_some(),
            counters: self.counters(),
            ..Interface::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Cut from the output of iproute2 6.1.
    const TOLD: &str = r#"[
        {"ifindex":1,"ifname":"lo","mtu":65536,"operstate":"UNKNOWN","address":"00:00:00:00:00:00"},
        {"ifindex":2,"ifname":"eth0","mtu":1500,"operstate":"UP","master":"bond0","address":"06:3b:1d:78:e0:3f",
         "num_tx_queues":4,"num_rx_queues":4,
         "stats64":{"rx":{"packets":9,"errors":1,"dropped":2,"fifo_errors":3,"missed_errors":4},
                    "tx":{"packets":7,"errors":5,"dropped":6}}},
        {"ifindex":3,"ifname":"bond0","mtu":1500,"linkinfo":{"info_kind":"bond","info_data":{"mode":"802.3ad"}}},
        {"ifindex":4,"link":"bond0","ifname":"bond0.7","mtu":1500,"linkinfo":{"info_kind":"vlan"}},
        {"ifindex":5,"link_index":2,"ifname":"veth1","linkinfo":{"info_kind":"veth"},"link_netnsid":0},
        {"ifindex":6,"link":"veth3","ifname":"veth2","linkinfo":{"info_kind":"veth"}},
        {"ifindex":7,"ifname":"vxlan1","linkinfo":{"info_kind":"vxlan","info_data":{"id":5,"remote":"10.0.0.2"}}},
        {"ifindex":8,"ifname":"cilium_wg0","linkinfo":{"info_kind":"wireguard"}}]"#;

    #[test]
    fn interfaces_stand_on_their_parts_and_on_what_they_are_put_on() {
        let links = Links::parse(TOLD).unwrap();
        assert_eq!(links.below("bond0.7"), ["bond0"]);
        assert_eq!(links.below("bond0"), ["eth0"]);
        for bare in ["eth0", "veth1", "veth2", "vxlan1", "none"] {
            assert!(links.below(bare).is_empty(), "{bare}");
        }
        assert_eq!(links.named("vxlan1").unwrap().remote(), Some("10.0.0.2"));
        let encrypting = links.encrypting(&super::super::OF_PLUGINS);
        assert_eq!(
            encrypting.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["cilium_wg0 (Cilium)"]
        );
        let pair = |name| links.named(name).unwrap().interface().is_pair_elsewhere;
        assert!(pair("veth1") && !pair("veth2") && !pair("vxlan1"));
    }

    #[test]
    fn counters_are_told_apart() {
        let links = Links::parse(TOLD).unwrap();
        let seen = links.named("eth0").unwrap().interface();
        assert_eq!(
            seen.counters,
            InterfaceCounters {
                rx_packets: 9,
                rx_dropped: 2,
                rx_missed: 4,
                rx_fifo: 3,
                rx_errors: 1,
                tx_packets: 7,
                tx_dropped: 6,
                tx_errors: 5,
            }
        );
        assert_eq!((seen.kind, seen.receive_queues, seen.mtu_bytes), (None, Some(4), Some(1500)));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".*") {
            Links::parse(&text);
            Links::parse(&format!("[{{\"ifname\":\"{text}\"}}]"));
        }
    }
}
