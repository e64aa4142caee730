//! How large packets may be on the way to a peer: datagrams that nobody may fragment, of more and more
//! sizes around the largest that arrives.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_record::machine::PathProbe;

use super::client::{connect, datagrams, received};
use super::hello::Role;
use super::udp::{DATAGRAM_HEAD_BYTES, Datagram};
use crate::error::Error;
use crate::sockopt::{forbid_fragments, known_mtu};
use crate::target::Peer;

/// Every path carries these (RFC 791, section 3.2; RFC 8200, section 5).
const LEAST_BYTES: [u32; 2] = [576, 1280];
/// No datagram is larger.
const MOST_BYTES: u32 = 65_000;
/// Of each size so many, for one may be lost by accident.
const OF_EACH: u64 = 3;
/// Sizes of a round, and rounds: the sixteenth part is known after each, so that three do for 9,000 bytes.
const SIZES: u32 = 16;
const ROUNDS: usize = 4;
/// Round trips that are timed.
const ROUND_TRIPS: usize = 5;
/// How long datagrams may be under way beyond a round trip.
const UNDER_WAY: Duration = Duration::from_millis(50);

/// Sends datagrams to a peer, whose packets have up to `mtu_bytes`, and asks which arrived.
///
/// # Errors
/// If the peer is not there, or knows another secret.
pub fn probe_path(peer: &Peer, mtu_bytes: u32) -> Result<PathProbe, Error> {
    let (mut stream, session) = connect(peer, Role::Datagrams)?;
    let socket = datagrams(peer)?;
    let mut probe = || -> io::Result<PathProbe> {
        let is_v4 = peer.address.is_ipv4();
        forbid_fragments(&socket, is_v4)?;
        let mut rtt = Duration::MAX;
        for _ in 0..ROUND_TRIPS {
            let asked = Instant::now();
            received(&mut stream, 0, 0)?;
            rtt = rtt.min(asked.elapsed());
        }
        let mut next = 0;
        // The largest sizes that arrive, without a gap below them, and the smallest that does not.
        let mut arrive = |sizes: &[u32]| -> io::Result<(Option<u32>, Option<u32>)> {
            let first = next;
            for size in sizes {
                for _ in 0..OF_EACH {
                    send(&socket, session, next, *size - headers(peer.address));
                    next += 1;
                }
            }
            sleep(UNDER_WAY + 2 * rtt);
            let mut largest = None;
            for (at, size) in (0..).zip(sizes) {
                let from = first + at * OF_EACH;
                if received(&mut stream, from, from + OF_EACH)?.datagrams == 0 {
                    return Ok((largest, Some(*size)));
                }
                largest = Some(*size);
            }
            Ok((largest, None))
        };
        let mut ends =
            arrive(&between(LEAST_BYTES[usize::from(!is_v4)], mtu_bytes.min(MOST_BYTES)))?;
        for _ in 1..ROUNDS {
            let (Some(arrived), Some(lost)) = ends else { break };
            if lost - arrived <= 1 {
                break;
            }
            let (larger, smaller) = arrive(&between(arrived + 1, lost - 1))?;
            ends = (larger.or(Some(arrived)), smaller.or(Some(lost)));
        }
        let (arrived_bytes, lost_bytes) = ends;
        Ok(PathProbe {
            arrived_bytes,
            // Where none arrives, it is not their size.
            lost_bytes: lost_bytes.filter(|_| arrived_bytes.is_some()),
            known_mtu_bytes: known_mtu(&socket, is_v4),
            rtt_ns: u64::try_from(rtt.as_nanos()).ok(),
        })
    };
    probe().map_err(Error::peer(peer))
}

/// Sizes from one to another, both of them included.
fn between(from: u32, to: u32) -> Vec<u32> {
    let steps = to.saturating_sub(from).clamp(1, SIZES - 1);
    let mut sizes: Vec<u32> =
        (0..=steps).map(|step| from + to.saturating_sub(from) * step / steps).collect();
    sizes.dedup();
    sizes
}

/// IP's and UDP's.
fn headers(address: SocketAddr) -> u32 {
    if address.is_ipv4() { 28 } else { 48 }
}

/// One that cannot be sent has not arrived, and the far end says so.
fn send(socket: &UdpSocket, session: u64, sequence: u64, bytes: u32) {
    let mut datagram = vec![0; (bytes as usize).max(DATAGRAM_HEAD_BYTES)];
    Datagram { session, sequence, sent_ns: 0 }.write(&mut datagram);
    // What a router says of the one before is told instead of sending this one.
    if socket.send(&datagram).is_err() {
        let _ = socket.send(&datagram);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_go_from_one_to_another() {
        assert_eq!(between(576, 1500).len(), 16);
        assert_eq!(between(576, 1500)[0], 576);
        assert_eq!(between(576, 1500)[15], 1500);
        assert_eq!(between(7, 9), [7, 8, 9]);
        assert_eq!(between(7, 7), [7]);
        assert_eq!(between(1280, 576), [1280], "an interface with less than every path");
    }
}
