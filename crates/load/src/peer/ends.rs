//! Between which addresses a connection is, as each of its ends sees it: what differs was translated on
//! the way.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use super::flow::Flow;

const ADDRESS_BYTES: usize = 18;

/// A connection to a peer, from both of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathEnds {
    /// The near end's own address.
    pub near: SocketAddr,
    /// The same as the far end sees it.
    pub near_seen: SocketAddr,
    /// Where the near end connected to.
    pub far: SocketAddr,
    /// The address of the far end's own that the connection came to.
    pub far_own: SocketAddr,
    /// The path's MTU as the near end's kernel knows it: of the first interface, if nothing on the way
    /// has told of a smaller one.
    pub mtu_bytes: Option<u32>,
}

/// What the far end tells of a connection.
pub(super) struct Seen {
    /// The near end's address.
    pub near: SocketAddr,
    /// Its own.
    pub far: SocketAddr,
}

impl Seen {
    pub(super) fn read(flow: &mut Flow) -> io::Result<Self> {
        let mut told = [[0; ADDRESS_BYTES]; 2];
        for address in &mut told {
            flow.read_exact(address)?;
        }
        let [near, far] = told.map(|bytes| decode(&bytes));
        Ok(Self { near, far })
    }
}

/// Tells them, at the far end.
pub(super) fn tell(stream: &mut Flow) -> io::Result<()> {
    let socket = stream.socket();
    let both = [socket.peer_addr()?, socket.local_addr()?];
    stream.write_all(&both.map(encode).concat())?;
    stream.flush()?;
    // The near end closes it.
    stream.read(&mut [0]).map(drop)
}

fn encode(address: SocketAddr) -> [u8; ADDRESS_BYTES] {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let mut bytes = [0; ADDRESS_BYTES];
    bytes[..16].copy_from_slice(&ip.octets());
    bytes[16..].copy_from_slice(&address.port().to_le_bytes());
    bytes
}

/// Sockets of both families know IPv4 as mapped.
fn decode(bytes: &[u8; ADDRESS_BYTES]) -> SocketAddr {
    let (ip, port) = bytes.split_first_chunk::<16>().expect("it is longer");
    let port = u16::from_le_bytes(port.try_into().expect("two are left"));
    SocketAddr::new(Ipv6Addr::from(*ip).to_canonical(), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_both_families_are_told() {
        for text in ["10.0.0.2:7474", "[fd00::2]:1", "0.0.0.0:65535"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(decode(&encode(address)), address);
        }
        let mapped = "[::ffff:10.0.0.2]:7".parse().unwrap();
        assert_eq!(decode(&encode(mapped)), "10.0.0.2:7".parse().unwrap());
    }
}
