//! The near end: connections to a peer.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_record::FarEndRecord;
use iotax_record::machine::PathProbe;

use super::connects::{Cookie, Offer};
use super::flow::{Flow, Until};
use super::hello::{Role, Wanted};
use super::roles::{ASK, PathEnds, PeerTold, Seen};
use super::udp::{DATAGRAM_HEAD_BYTES, Datagram, Received};
use super::{hello, roles, tls};
use crate::busiest::OfEnd;
use crate::error::Error;
use crate::sockopt::{forbid_fragments, known_mtu, set_timeouts};
use crate::target::{Peer, enter_namespace, within_namespace};

/// How long a path may take to answer before it counts as broken.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long it may take to connect, all in all.
const TO_CONNECT: Duration = Duration::from_secs(15);
/// How long one attempt may take: on a path that loses packets, a new one is soon faster than what
/// the kernel waits for longer and longer.
const ATTEMPT: Duration = Duration::from_secs(5);
/// Before the next attempt where the one before was cut.
const PAUSE: Duration = Duration::from_millis(200);

/// A connection in `role`, and what the far end calls it.
pub(crate) fn connect(peer: &Peer, role: Role) -> Result<(Flow, u64), Error> {
    within_namespace(peer.namespace.as_deref(), || connect_within(peer, role, TO_CONNECT, ATTEMPT))
        .map_err(Error::peer(peer))
}

fn connect_within(
    peer: &Peer,
    role: Role,
    longest: Duration,
    attempt: Duration,
) -> io::Result<(Flow, u64)> {
    let end = Instant::now() + longest;
    let (mut attempts, mut heard) = (0_u32, 0);
    loop {
        attempts += 1;
        let until = end.min(Instant::now() + attempt);
        let failed = match meet(peer, role, until, &mut heard) {
            Err(error) if may_pass(&error) => error,
            met => return met,
        };
        if Instant::now() + PAUSE >= end {
            return Err(not_in_time(&failed, longest, attempts, heard));
        }
        if failed.kind() != ErrorKind::TimedOut {
            sleep(PAUSE);
        }
    }
}

/// One attempt; adds what came to `heard`.
fn meet(peer: &Peer, role: Role, until: Instant, heard: &mut u64) -> io::Result<(Flow, u64)> {
    let tls = if role.is_control() { Some(tls::CONTROL) } else { peer.tls };
    let wanted = Wanted { role, tls: tls.map(|tls| tls.by) };
    let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let stream = TcpStream::connect_timeout(&peer.address, left)?;
    stream.set_nodelay(true)?;
    let mut bounded = Until::new(&stream, until);
    let met = hello::greet(&mut bounded, &peer.secret, hello::nonce()?, wanted);
    *heard += bounded.heard;
    let met = met?;
    let flow = match tls {
        Some(tls) => tls::connect(stream, tls, &met.keys, until)?,
        None => Flow::Bare(stream),
    };
    set_timeouts(flow.socket(), PATIENCE)?;
    Ok((flow, met.session))
}

/// Whether another attempt may do better: packets were lost, or the peer had others to see to.
fn may_pass(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::TimedOut
            | ErrorKind::WouldBlock
            | ErrorKind::UnexpectedEof
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
    )
}

fn not_in_time(last: &io::Error, longest: Duration, attempts: u32, heard: u64) -> io::Error {
    let cause = match last.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => "",
        _ => ", because it or something on the path closed every connection",
    };
    let plural = if attempts == 1 { "" } else { "s" };
    let why = format!(
        "it did not answer within {longest:?}{cause} ({attempts} attempt{plural}, {heard} bytes \
         received); check that `iotax peer` is running there, and that nothing on the path drops \
         or cuts connections"
    );
    io::Error::new(ErrorKind::TimedOut, why)
}

/// Has the peer take connections with requests of so many bytes, as long as what comes first is
/// open; where, and what each begins with. The calling thread makes them, and so goes to where the
/// path begins.
pub(crate) fn connections(peer: &Peer, bytes: u32) -> Result<(Flow, SocketAddr, Cookie), Error> {
    let (mut control, _) = connect(peer, Role::Connections { bytes })?;
    let mut offered = || {
        if let Some(namespace) = &peer.namespace {
            enter_namespace(namespace)?;
        }
        Offer::read(&mut control)
    };
    let offer = offered().map_err(Error::peer(peer))?;
    Ok((control, SocketAddr::new(peer.address.ip(), offer.port), offer.cookie))
}

/// Has the peer send datagrams of so many bytes at intervals, to whoever says hello in this session
/// as long as what comes first is open.
pub(crate) fn datagrams_back(
    peer: &Peer,
    bytes: u32,
    interval_ns: u64,
) -> Result<(Flow, u64), Error> {
    let (mut control, session) = connect(peer, Role::DatagramsBack { bytes })?;
    let told = control.write_all(&interval_ns.to_le_bytes()).and_then(|()| control.flush());
    told.map_err(Error::peer(peer))?;
    Ok((control, session))
}

/// Connects to a peer, and asks between which addresses that is.
///
/// # Errors
/// If it is not there, or knows another secret.
pub fn ends(peer: &Peer) -> Result<PathEnds, Error> {
    let (mut flow, _) = connect(peer, Role::Addresses)?;
    let mut asked = || -> io::Result<PathEnds> {
        let seen = Seen::read(&mut flow)?;
        let near = flow.socket().local_addr()?;
        let mtu_bytes = known_mtu(flow.socket(), near.is_ipv4());
        let (near_seen, far_own) = (seen.near, seen.far);
        Ok(PathEnds { near, near_seen, far: peer.address, far_own, mtu_bytes })
    };
    asked().map_err(Error::peer(peer))
}

/// A socket whose datagrams go to a peer.
pub(crate) fn datagrams(peer: &Peer) -> Result<UdpSocket, Error> {
    let bind = || -> io::Result<UdpSocket> {
        let any: SocketAddr = match peer.address {
            SocketAddr::V4(_) => ([0; 4], 0).into(),
            SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(peer.address)?;
        Ok(socket)
    };
    within_namespace(peer.namespace.as_deref(), bind).map_err(Error::peer(peer))
}

/// What the far end's host has done so far.
pub(crate) struct FarEnd {
    stream: Flow,
}

impl FarEnd {
    pub(crate) fn of(peer: &Peer) -> Result<Self, Error> {
        connect(peer, Role::Counters).map(|(stream, _)| Self { stream })
    }

    /// Its counters now, and what had the most to do since they were last asked for; `None` if it
    /// does not answer: load itself will show why.
    pub(crate) fn now(&mut self) -> Option<(FarEndRecord, OfEnd)> {
        let mut told = [0; PeerTold::BYTES];
        self.stream.write_all(&[ASK]).and_then(|()| self.stream.read_exact(&mut told)).ok()?;
        let PeerTold { cpu_ns, cpu_busy_ns, boot, cpus, busiest } = PeerTold::decode(&told);
        let same_host = boot == roles::boot();
        Some((FarEndRecord { cpu_ns: cpu_ns?, cpu_busy_ns, same_host, cpus }, busiest))
    }
}

/// What came of the datagrams from one to another of a flow.
pub(crate) fn received(stream: &mut Flow, from: u64, to: u64) -> io::Result<Received> {
    stream.write_all(&[from, to].map(u64::to_le_bytes).concat())?;
    let mut told = [0; Received::BYTES];
    stream.read_exact(&mut told)?;
    Ok(Received::decode(&told))
}

// How large packets may be on the way to a peer: datagrams that nobody may fragment, of more and
// more sizes around the largest that arrives.

/// Every path carries these (RFC 791, section 3.2; RFC 8200, section 5).
const LEAST_BYTES: [u32; 2] = [576, 1280];
/// No datagram is larger.
const MOST_BYTES: u32 = 65_000;
/// Of each size so many, for one may be lost by accident.
const OF_EACH: u64 = 3;
/// Sizes of a round, and rounds: the sixteenth part is known after each, so that three do for 9,000
/// bytes.
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
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::thread;

    use crate::target::PeerSecret;

    use super::*;

    const SHORT: Duration = Duration::from_millis(300);

    /// A peer whose connections are handled by `each`, with its number.
    fn far(each: impl Fn(u32, TcpStream) + Send + 'static) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = Peer::at(listener.local_addr().unwrap(), PeerSecret([7; PeerSecret::BYTES]));
        thread::spawn(move || {
            for (number, stream) in (0..).zip(listener.incoming().flatten()) {
                each(number, stream);
            }
        });
        peer
    }

    fn failed(peer: &Peer, attempt: Duration) -> String {
        let met = connect_within(peer, Role::Addresses, 2 * SHORT, attempt);
        met.map(drop).unwrap_err().to_string()
    }

    #[test]
    fn silence_is_told_as_such_with_what_came() {
        let kept = Arc::new(std::sync::Mutex::new(Vec::new()));
        let silent = far(move |_, mut stream| {
            stream.write_all(hello::MAGIC).unwrap();
            kept.lock().unwrap().push(stream);
        });
        insta::assert_snapshot!(failed(&silent, 2 * SHORT), @"it did not answer within 600ms (1 attempt, 16 bytes received); check that `iotax peer` is running there, and that nothing on the path drops or cuts connections");
        let told = failed(&silent, SHORT);
        assert!(!told.contains("os error"), "{told}");
    }

    #[test]
    fn whoever_hangs_up_is_told_from_who_is_silent() {
        let told = failed(&far(|_, stream| drop(stream)), SHORT);
        assert!(told.contains("closed every connection"), "{told}");
        assert!(told.contains("0 bytes received") && !told.contains("os error"), "{told}");
    }

    /// As on a path that loses packets, or at a peer with many strangers.
    #[test]
    fn what_fails_once_is_tried_again() {
        let secret = PeerSecret([7; PeerSecret::BYTES]);
        let kept = std::sync::Mutex::new(Vec::new());
        let peer = far(move |number, mut stream| match number {
            0 => kept.lock().unwrap().push(stream),
            1 => drop(stream),
            _ => hello::handshake(&mut stream, &secret).unwrap(),
        });
        let role = Role::Sink;
        connect_within(&peer, role, Duration::from_mins(1), SHORT).map(drop).unwrap();
    }

    #[test]
    fn what_will_not_pass_is_told_at_once() {
        let other = far(|_, mut stream| drop(stream.write_all(&[b'x'; 100])));
        let met = connect_within(&other, Role::Sink, Duration::from_mins(10), SHORT);
        let told = met.map(drop).unwrap_err().to_string();
        assert_eq!(told, "it is not an iotax peer, or it has a different version");
    }
}

#[cfg(test)]
mod tests_of_path {
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
