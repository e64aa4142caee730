//! Network interfaces and their queueing disciplines, as in `ip -s link` and `tc -s qdisc`, read
//! from the kernel without running a program.

use std::net::IpAddr;
use std::{array, io};

use iotax_record::{INTERFACE_COUNTERS, QDISC_COUNTERS};

use super::netlink::{Netlink, attribute, attributes, u32_at, u64_at};

// `linux/rtnetlink.h`, `linux/if_link.h`, `linux/gen_stats.h`, `linux/if.h`.
const RTM_GETLINK: u16 = 18;
const RTM_GETROUTE: u16 = 26;
const RTM_GETQDISC: u16 = 38;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const IFLA_IFNAME: u16 = 3;
const IFLA_STATS64: u16 = 23;
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_PKT64: u16 = 8;
const IFF_UP: u32 = 1;
const IFF_LOOPBACK: u32 = 8;
const TC_H_ROOT: u32 = u32::MAX;
/// Of `struct rtmsg`.
const ROUTE_BYTES: usize = 12;
/// Of `struct ifinfomsg`.
const LINK_BYTES: usize = 16;
/// Of `struct tcmsg`.
const QDISC_BYTES: usize = 20;

/// One interface at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InterfaceStats {
    pub name: String,
    /// Whether packets sent on it arrive at it.
    pub is_loopback: bool,
    pub counters: [u64; INTERFACE_COUNTERS],
    /// Its queueing disciplines with counters, in the kernel's order.
    pub qdiscs: Vec<QdiscStats>,
    /// Its index in the kernel.
    pub index: u32,
}

/// One queueing discipline.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QdiscStats {
    /// Its kind, e.g. `tbf`.
    pub kind: String,
    /// Its position, in `tc` notation: its handle, such as `1:`. Without a handle, `root` or its
    /// class, such as `:2`.
    pub place: String,
    pub counters: [u64; QDISC_COUNTERS],
}

/// Reads the interfaces of a network namespace repeatedly.
#[derive(Debug)]
pub struct InterfaceMeter {
    netlink: Netlink,
    /// `None`: all that are up, except loopback.
    only: Option<u32>,
}

impl InterfaceMeter {
    /// All interfaces in the namespace of the calling thread that are up, except loopback.
    ///
    /// # Errors
    /// Errors of the socket.
    pub fn of_namespace() -> io::Result<Self> {
        Ok(Self { netlink: Netlink::open()?, only: None })
    }

    /// The interface through which packets to an address leave; for an address of this machine,
    /// loopback.
    ///
    /// # Errors
    /// If there is no route.
    pub fn towards(address: IpAddr) -> io::Result<Self> {
        let mut netlink = Netlink::open()?;
        let (family, address) = match address {
            IpAddr::V4(address) => (AF_INET, address.octets().to_vec()),
            IpAddr::V6(address) => (AF_INET6, address.octets().to_vec()),
        };
        let bits = u8::try_from(address.len() * 8).expect("128 at most");
        let mut route = vec![0; ROUTE_BYTES];
        route[..2].copy_from_slice(&[family, bits]);
        route.extend(attribute(RTA_DST, &address));
        let answer = netlink.get((RTM_GETROUTE, route))?;
        match leaves_by(&answer) {
            Some(index) => Ok(Self { netlink, only: Some(index) }),
            None => Err(io::ErrorKind::HostUnreachable.into()),
        }
    }

    /// All of them now, lowest first.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn read(&mut self) -> io::Result<Vec<InterfaceStats>> {
        let mut found = Vec::new();
        let only = self.only;
        self.netlink.dump((RTM_GETLINK, vec![0; LINK_BYTES]), |message| {
            let wanted = |link: &(InterfaceStats, u32)| match only {
                Some(index) => link.0.index == index,
                None => link.1 & IFF_UP != 0 && !link.0.is_loopback,
            };
            found.extend(interface(message).filter(wanted).map(|(interface, _)| interface));
        })?;
        self.netlink.dump((RTM_GETQDISC, vec![0; QDISC_BYTES]), |message| {
            let Some((index, qdisc)) = qdisc(message) else { return };
            if let Some(own) = found.iter_mut().find(|interface| interface.index == index) {
                own.qdiscs.push(qdisc);
            }
        })?;
        Ok(found)
    }
}

/// The index of the interface of a route, from a message `RTM_NEWROUTE`.
fn leaves_by(message: &[u8]) -> Option<u32> {
    let mut all = attributes(message.get(ROUTE_BYTES..)?);
    all.find_map(|(kind, value)| if kind == RTA_OIF { u32_at(value, 0) } else { None })
}

/// An interface with its flags, from a message `RTM_NEWLINK`.
fn interface(message: &[u8]) -> Option<(InterfaceStats, u32)> {
    let (index, flags) = (u32_at(message, 4)?, u32_at(message, 8)?);
    let is_loopback = flags & IFF_LOOPBACK != 0;
    let mut found = InterfaceStats { is_loopback, index, ..InterfaceStats::default() };
    for (kind, value) in attributes(message.get(LINK_BYTES..)?) {
        match kind {
            IFLA_IFNAME => found.name = text(value),
            // They begin with those to keep, in the order of a record.
            IFLA_STATS64 => {
                found.counters = array::from_fn(|place| u64_at(value, 8 * place).unwrap_or(0));
            }
            _ => {}
        }
    }
    Some((found, flags))
}

/// A queueing discipline with the index of its interface, from a message `RTM_NEWQDISC`. `None` for
/// `noqueue`, which stands for no queueing discipline.
fn qdisc(message: &[u8]) -> Option<(u32, QdiscStats)> {
    let [index, handle, parent] = [4, 8, 12].map(|at| u32_at(message, at));
    let place = match (handle?, parent?) {
        (0, TC_H_ROOT) => "root".to_owned(),
        (0, parent) => format!(":{:x}", parent & 0xffff),
        (handle, _) => format!("{:x}:", handle >> 16),
    };
    let mut found = QdiscStats { place, ..QdiscStats::default() };
    for (kind, value) in attributes(message.get(QDISC_BYTES..)?) {
        match kind {
            TCA_KIND => found.kind = text(value),
            TCA_STATS2 => found.counters = let_through(value),
            _ => {}
        }
    }
    (found.kind != "noqueue").then_some((index?, found))
}

/// The counters of a queueing discipline, in the order of a record.
fn let_through(stats: &[u8]) -> [u64; QDISC_COUNTERS] {
    let mut counters = [0; QDISC_COUNTERS];
    let [bytes, packets, counted @ ..] = &mut counters;
    for (kind, value) in attributes(stats) {
        let at = |place: usize| u32_at(value, 4 * place).map_or(0, u64::from);
        match kind {
            TCA_STATS_BASIC => {
                *bytes = u64_at(value, 0).unwrap_or(0);
                *packets = (*packets).max(at(2));
            }
            // Present if 32 bits are not enough.
            TCA_STATS_PKT64 => *packets = u64_at(value, 0).unwrap_or(*packets),
            // `qlen`, `backlog`, `drops`, `requeues`, `overlimits` in the kernel's order.
            TCA_STATS_QUEUE => *counted = [2, 4, 3, 1, 0].map(at),
            _ => {}
        }
    }
    counters
}

/// A text with its terminating NUL.
fn text(value: &[u8]) -> String {
    let end = value.iter().position(|byte| *byte == 0).unwrap_or(value.len());
    String::from_utf8_lossy(&value[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;
    use proptest::prelude::*;

    fn numbers(numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
    }

    fn message(kind: &[u8], handle: u32, parent: u32) -> Vec<u8> {
        let basic = [3_000_u64.to_ne_bytes().to_vec(), numbers(&[2, 0])].concat();
        let stats = [
            attribute(TCA_STATS_BASIC, &basic),
            attribute(TCA_STATS_QUEUE, &numbers(&[10, 11, 12, 13, 14])),
        ]
        .concat();
        [
            numbers(&[0, 7, handle, parent, 2]),
            attribute(TCA_KIND, kind),
            attribute(2, &[1; 5]),
            attribute(TCA_STATS2, &stats),
        ]
        .concat()
    }

    #[test]
    fn a_qdisc_counts_what_it_let_through_and_what_not() {
        let (index, found) = qdisc(&message(b"tbf\0", 0x1_0000, TC_H_ROOT)).unwrap();
        assert_eq!((index, found.kind.as_str(), found.place.as_str()), (7, "tbf", "1:"));
        // Bytes, packets, drops, overlimits, requeues; bytes and packets that wait.
        assert_eq!(found.counters, [3_000, 2, 12, 14, 13, 11, 10]);
    }

    #[test]
    fn packets_beyond_32_bits_are_counted() {
        let stats = [
            attribute(TCA_STATS_BASIC, &[0xff; 16]),
            attribute(TCA_STATS_PKT64, &0x2_0000_0000_u64.to_ne_bytes()),
        ]
        .concat();
        let message = [numbers(&[0, 7, 0, 0, 0]), attribute(TCA_STATS2, &stats)].concat();
        assert_eq!(qdisc(&message).unwrap().1.counters[1], 0x2_0000_0000);
    }

    #[test]
    fn attributes_of_other_things_cost_no_counter() {
        let options_of_fq_codel = attribute(2, &[1; 5]);
        let codel = [message(b"fq_codel\0", 1, 1), options_of_fq_codel].concat();
        assert_eq!(qdisc(&codel).unwrap().1.counters[0], 3_000);
        let short_mtu = attribute(4, &[1]);
        let link = [numbers(&[0, 3, 0, 0]), short_mtu, attribute(IFLA_IFNAME, b"lo\0")].concat();
        assert_eq!(interface(&link).unwrap().0.name, "lo");
    }

    #[test]
    fn qdiscs_without_a_handle_are_told_apart_by_their_class() {
        let place = |handle, parent| qdisc(&message(b"a\0", handle, parent)).unwrap().1.place;
        assert_eq!(place(0, TC_H_ROOT), "root");
        assert_eq!(place(0, 0x1f), ":1f");
        assert_eq!(qdisc(&message(b"noqueue\0", 0, TC_H_ROOT)), None);
    }

    #[test]
    fn an_interface_has_the_counters_that_come_first() {
        let stats: Vec<u8> = (1..=25_u64).flat_map(u64::to_ne_bytes).collect();
        let message = [
            numbers(&[0, 3, IFF_UP | IFF_LOOPBACK, 0]),
            attribute(IFLA_IFNAME, b"lo\0"),
            attribute(IFLA_STATS64, &stats),
        ]
        .concat();
        let (found, flags) = interface(&message).unwrap();
        assert_eq!((found.name.as_str(), found.index, flags & IFF_UP), ("lo", 3, IFF_UP));
        assert_eq!(found.counters, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn this_machine_tells_what_its_loopback_interface_carried() {
        let mut meter = InterfaceMeter::towards(Ipv4Addr::LOCALHOST.into()).unwrap();
        let mut read = || meter.read().unwrap();
        let before = read();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&[0; 1000], socket.local_addr().unwrap()).unwrap();
        let after = read();
        let [before, after] = [&before, &after].map(|all| match all.as_slice() {
            [one] => one.clone(),
            other => panic!("one interface, not {other:?}"),
        });
        assert!(after.is_loopback && after.name == "lo", "{after:?}");
        assert!(after.counters[3] >= before.counters[3] + 1000, "{before:?} {after:?}");
    }

    proptest! {
        #[test]
        fn no_message_makes_a_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            interface(&bytes);
            qdisc(&bytes);
            leaves_by(&bytes);
            let head = message(b"tbf\0", 1, 1);
            qdisc(&[&head[..bytes.len().min(head.len())], &bytes].concat());
        }

        #[test]
        fn no_attribute_makes_a_parser_panic(
            family in 0..12_u32,
            kinds in proptest::sample::select(vec!["tbf", "fq_codel", "ingress", "bpf"]),
            all in proptest::collection::vec(
                (0..80_u16, proptest::collection::vec(any::<u8>(), 0..60)),
                0..6,
            ),
        ) {
            let all: Vec<u8> =
                all.iter().flat_map(|(kind, value)| attribute(*kind, value)).collect();
            interface(&[numbers(&[family, 1, 0, 0]), all.clone()].concat());
            leaves_by(&[numbers(&[family, 1, 0]), all.clone()].concat());
            let kind = attribute(TCA_KIND, kinds.as_bytes());
            qdisc(&[numbers(&[family, 1, 0, 0, 0]), kind, all].concat());
        }
    }
}
