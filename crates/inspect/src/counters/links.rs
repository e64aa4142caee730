//! Network interfaces and their queueing disciplines: what `ip -s link` and `tc -s qdisc` show, asked
//! of the kernel without a program in between.

use std::io;
use std::net::IpAddr;

use iotax_record::{INTERFACE_COUNTERS, QDISC_COUNTERS};
use netlink_packet_core::{
    Emitable as _, Nla as _, NlaBuffer, NlasIterator, ParseableParametrized as _,
};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkHeader, LinkMessage, Stats64};
use netlink_packet_route::route::{RouteAttribute, RouteHeader, RouteLwEnCapType, RouteMessage};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcHeader, TcMessage, TcStats2};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::netlink::Netlink;

/// `TCA_STATS_PKT64` of `linux/gen_stats.h`, which the library has no word for.
const PACKETS_64: u16 = 8;

/// One interface at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InterfaceStats {
    pub name: String,
    /// Whether what leaves it arrives at it.
    pub is_loopback: bool,
    pub counters: [u64; INTERFACE_COUNTERS],
    /// Its queueing disciplines that count, in the kernel's order.
    pub qdiscs: Vec<QdiscStats>,
    /// The kernel's number of it.
    pub index: u32,
}

/// One queueing discipline.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QdiscStats {
    /// Its kind, e.g. `tbf`.
    pub kind: String,
    /// Which one it is, as `tc` says it: its handle, such as `1:`; of those without one `root`, or the
    /// class in which it is, such as `:2`.
    pub place: String,
    pub counters: [u64; QDISC_COUNTERS],
}

/// Reads the interfaces of a network namespace, again and again.
#[derive(Debug)]
pub struct InterfaceMeter {
    netlink: Netlink,
    /// `None`: those that are up, but for the loopback one.
    only: Option<u32>,
}

impl InterfaceMeter {
    /// All interfaces in the namespace of the calling thread that are up, but for the loopback one.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn of_namespace() -> io::Result<Self> {
        Ok(Self { netlink: Netlink::open()?, only: None })
    }

    /// The interface by which packets leave for an address; for one of this machine's own that is the
    /// loopback interface.
    ///
    /// # Errors
    /// If there is no route.
    pub fn towards(address: IpAddr) -> io::Result<Self> {
        let mut netlink = Netlink::open()?;
        let (address_family, destination_prefix_length) = match address {
            IpAddr::V4(_) => (AddressFamily::Inet, 32),
            IpAddr::V6(_) => (AddressFamily::Inet6, 128),
        };
        let mut route = RouteMessage::default();
        route.header =
            RouteHeader { address_family, destination_prefix_length, ..RouteHeader::default() };
        route.attributes = vec![RouteAttribute::Destination(address.into())];
        let answer = netlink.get(RouteNetlinkMessage::GetRoute(route))?;
        match leaves_by(&answer) {
            Some(index) => Ok(Self { netlink, only: Some(index) }),
            None => Err(io::ErrorKind::HostUnreachable.into()),
        }
    }

    /// All of them now, those at the bottom first.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn read(&mut self) -> io::Result<Vec<InterfaceStats>> {
        let mut found = Vec::new();
        let only = self.only;
        let links = RouteNetlinkMessage::GetLink(LinkMessage::default());
        self.netlink.dump(links, |message| {
            let wanted = |link: &(InterfaceStats, LinkFlags)| match only {
                Some(index) => link.0.index == index,
                None => link.1.contains(LinkFlags::Up) && !link.0.is_loopback,
            };
            found.extend(interface(message).filter(wanted).map(|(interface, _)| interface));
        })?;
        let qdiscs = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
        self.netlink.dump(qdiscs, |message| {
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
    let header = RouteHeader::parse(message).ok()?;
    let of = (header.address_family, header.kind, RouteLwEnCapType::None);
    attributes(message.get(header.buffer_len()..)?).find_map(|attribute| {
        match RouteAttribute::parse_with_param(&attribute, of) {
            Ok(RouteAttribute::Oif(index)) => Some(index),
            _ => None,
        }
    })
}

/// An interface with its flags, from a message `RTM_NEWLINK`.
fn interface(message: &[u8]) -> Option<(InterfaceStats, LinkFlags)> {
    let header = LinkHeader::parse(message).ok()?;
    let mut found = InterfaceStats {
        is_loopback: header.flags.contains(LinkFlags::Loopback),
        index: header.index,
        ..InterfaceStats::default()
    };
    for attribute in attributes(message.get(header.buffer_len()..)?) {
        match LinkAttribute::parse_with_param(&attribute, header.interface_family) {
            Ok(LinkAttribute::IfName(name)) => found.name = name,
            Ok(LinkAttribute::Stats64(stats)) => found.counters = counters(&stats),
            _ => {}
        }
    }
    Some((found, header.flags))
}

/// Those that are kept, in a record's order.
fn counters(stats: &Stats64) -> [u64; INTERFACE_COUNTERS] {
    [
        stats.rx_packets,
        stats.tx_packets,
        stats.rx_bytes,
        stats.tx_bytes,
        stats.rx_errors,
        stats.tx_errors,
        stats.rx_dropped,
        stats.tx_dropped,
    ]
}

/// A queueing discipline with the index of its interface, from a message `RTM_NEWQDISC`. `None` for
/// `noqueue`, which is there to say that there is none.
fn qdisc(message: &[u8]) -> Option<(u32, QdiscStats)> {
    let header = TcHeader::parse(message).ok()?;
    let place = match (header.handle, header.parent) {
        (TcHandle::UNSPEC, TcHandle::ROOT) => "root".to_owned(),
        (TcHandle::UNSPEC, parent) => format!(":{:x}", parent.minor),
        (handle, _) => format!("{:x}:", handle.major),
    };
    let mut found = QdiscStats { place, ..QdiscStats::default() };
    for attribute in attributes(message.get(header.buffer_len()..)?) {
        match TcAttribute::parse_with_param(&attribute, &found.kind) {
            Ok(TcAttribute::Kind(kind)) if kind == "noqueue" => return None,
            Ok(TcAttribute::Kind(kind)) => found.kind = kind,
            Ok(TcAttribute::Stats2(stats)) => found.counters = let_through(&stats),
            _ => {}
        }
    }
    Some((u32::try_from(header.index).ok()?, found))
}

/// What a queueing discipline counts, in a record's order.
fn let_through(stats: &[TcStats2]) -> [u64; QDISC_COUNTERS] {
    let mut counters = [0; QDISC_COUNTERS];
    let [bytes, packets, counted @ ..] = &mut counters;
    for of in stats {
        match of {
            TcStats2::Basic(basic) => {
                *bytes = basic.bytes;
                *packets = (*packets).max(basic.packets.into());
            }
            // Comes where 32 bits are too few.
            TcStats2::Other(other) if other.kind() == PACKETS_64 && other.value_len() == 8 => {
                let mut value = [0; 8];
                other.emit_value(&mut value);
                *packets = u64::from_ne_bytes(value);
            }
            TcStats2::Queue(queue) => {
                *counted =
                    [queue.drops, queue.overlimits, queue.requeues, queue.backlog, queue.qlen]
                        .map(u64::from);
            }
            _ => {}
        }
    }
    counters
}

/// The attributes of a message. They are parsed one by one: what a newer kernel says of something
/// else, and the library does not understand, costs no counter.
fn attributes(bytes: &[u8]) -> impl Iterator<Item = NlaBuffer<&[u8]>> {
    NlasIterator::new(bytes).map_while(Result::ok)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;
    use proptest::prelude::*;

    // `linux/rtnetlink.h`, `linux/if_link.h`, `linux/gen_stats.h`, `linux/if.h`.
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

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(4 + value.len()).unwrap();
        let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

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
    fn attributes_that_the_library_does_not_understand_cost_no_counter() {
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
        assert_eq!((found.name.as_str(), found.index, flags.bits() & IFF_UP), ("lo", 3, IFF_UP));
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
