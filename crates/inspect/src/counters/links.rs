//! Network interfaces and their queueing disciplines: what `ip -s link` and `tc -s qdisc` show, asked
//! of the kernel without a program in between.

use std::io;
use std::net::IpAddr;

use iotax_record::{INTERFACE_COUNTERS, QDISC_COUNTERS};

use rustix::net::AddressFamily;

use super::netlink::{Netlink, attributes};

// `linux/rtnetlink.h`, `linux/if_link.h`, `linux/gen_stats.h`.
const RTM_GETLINK: u16 = 18;
const RTM_GETROUTE: u16 = 26;
const RTM_GETQDISC: u16 = 38;
const IFLA_IFNAME: u16 = 3;
const IFLA_STATS64: u16 = 23;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_PKT64: u16 = 8;
const IFF_UP: u32 = 1;
const IFF_LOOPBACK: u32 = 8;
const TC_H_ROOT: u32 = u32::MAX;

/// `struct ifinfomsg`, `struct tcmsg`, `struct rtmsg`.
const LINK_HEAD_BYTES: usize = 16;
const QDISC_HEAD_BYTES: usize = 20;
const ROUTE_HEAD_BYTES: usize = 12;

/// One interface at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InterfaceStats {
    /// The kernel's name.
    pub name: String,
    /// Whether what leaves it arrives at it.
    pub is_loopback: bool,
    /// Its counters.
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
    /// Its counters.
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
        let (family, bytes) = match address {
            IpAddr::V4(address) => (AddressFamily::INET, address.octets().to_vec()),
            IpAddr::V6(address) => (AddressFamily::INET6, address.octets().to_vec()),
        };
        let bits = u8::try_from(8 * bytes.len()).expect("at most 128");
        let length = u16::from(4 + bits / 8);
        let mut request = vec![0; ROUTE_HEAD_BYTES];
        // The family of `struct rtmsg` is a byte, and the length in bits behind it.
        (request[0], request[1]) = (family.as_raw().to_le_bytes()[0], bits);
        request.extend(length.to_ne_bytes());
        request.extend(RTA_DST.to_ne_bytes());
        request.extend(bytes);
        let route = netlink.get(RTM_GETROUTE, &request)?;
        let rest = route.get(ROUTE_HEAD_BYTES..).unwrap_or_default();
        let leaves = attributes(rest)
            .find_map(|(kind, value)| (kind == RTA_OIF).then(|| number(value, 0))?);
        match leaves {
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
        self.netlink.dump(RTM_GETLINK, &[0; LINK_HEAD_BYTES], |message| {
            let wanted = |link: &(InterfaceStats, u32)| match only {
                Some(index) => link.0.index == index,
                None => link.1 & IFF_UP > 0 && !link.0.is_loopback,
            };
            found.extend(interface(message).filter(wanted).map(|(interface, _)| interface));
        })?;
        self.netlink.dump(RTM_GETQDISC, &[0; QDISC_HEAD_BYTES], |message| {
            let Some((index, qdisc)) = qdisc(message) else { return };
            if let Some(own) = found.iter_mut().find(|interface| interface.index == index) {
                own.qdiscs.push(qdisc);
            }
        })?;
        Ok(found)
    }
}

/// An interface with its flags, from a message `RTM_NEWLINK`.
fn interface(message: &[u8]) -> Option<(InterfaceStats, u32)> {
    let (head, rest) = message.split_at_checked(LINK_HEAD_BYTES)?;
    let flags: u32 = number(head, 8)?;
    let mut found = InterfaceStats {
        is_loopback: flags & IFF_LOOPBACK > 0,
        index: number(head, 4)?,
        ..InterfaceStats::default()
    };
    for (kind, value) in attributes(rest) {
        match kind {
            IFLA_IFNAME => found.name = text(value),
            // `struct rtnl_link_stats64` begins with those that are kept.
            IFLA_STATS64 => {
                for (at, counter) in found.counters.iter_mut().enumerate() {
                    *counter = long(value, 8 * at)?;
                }
            }
            _ => {}
        }
    }
    Some((found, flags))
}

/// A queueing discipline with the index of its interface, from a message `RTM_NEWQDISC`. `None` for
/// `noqueue`, which is there to say that there is none.
fn qdisc(message: &[u8]) -> Option<(u32, QdiscStats)> {
    let (head, rest) = message.split_at_checked(QDISC_HEAD_BYTES)?;
    let [index, handle, parent] = [4, 8, 12].map(|at| number(head, at));
    let place = match (handle?, parent?) {
        (0, TC_H_ROOT) => "root".to_owned(),
        (0, parent) => format!(":{:x}", parent & 0xffff),
        (handle, _) => format!("{:x}:", handle >> 16),
    };
    let mut found = QdiscStats { place, ..QdiscStats::default() };
    let [bytes, packets, counted @ ..] = &mut found.counters;
    for (kind, value) in attributes(rest) {
        match kind {
            TCA_KIND if text(value) == "noqueue" => return None,
            TCA_KIND => found.kind = text(value),
            TCA_STATS2 => {
                for (kind, value) in attributes(value) {
                    match kind {
                        TCA_STATS_BASIC => {
                            *bytes = long(value, 0)?;
                            *packets = (*packets).max(number(value, 8)?.into());
                        }
                        // Comes where 32 bits are too few.
                        TCA_STATS_PKT64 => *packets = long(value, 0)?,
                        // `struct gnet_stats_queue`: packets and bytes waiting, then what counts up.
                        TCA_STATS_QUEUE => {
                            for (counter, at) in counted.iter_mut().zip([8, 16, 12, 4, 0]) {
                                *counter = number(value, at)?.into();
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Some((index?, found))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Up to its last byte, which is 0.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;
    use proptest::prelude::*;

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
            let head = message(b"tbf\0", 1, 1);
            qdisc(&[&head[..bytes.len().min(head.len())], &bytes].concat());
        }
    }
}
