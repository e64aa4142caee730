//! Datagrams from the far end, at a rate.
//!
//! They are sent to the source of the session's own datagrams, so that they pass a NAT, and only if
//! that is the authenticated host: nobody can have them sent elsewhere. They end with the
//! connection, and when the near end has been silent for a while.

use std::io::{self, ErrorKind, Read as _};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::num::NonZeroU64;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::flow::Flow;
use super::udp::{DATAGRAM_HEAD_BYTES, Datagram, FlowOfSession, SEQUENCES};

/// How long the near end may say nothing. It does so many times as often.
const LEASE: Duration = Duration::from_secs(2);
/// Between looks at whether anybody still wants them.
const GLANCE: Duration = Duration::from_millis(20);

/// What the near end says to have datagrams, and to go on having them.
pub(crate) const WANTS_MORE: u64 = u64::MAX;

/// Sends datagrams of `bytes` for as long as `control` is open, at intervals that it says first; 0
/// is as fast as they leave.
pub(super) fn send(flow: &FlowOfSession<'_>, control: &mut Flow, bytes: usize) -> io::Result<()> {
    let mut interval_ns = [0; 8];
    control.read_exact(&mut interval_ns)?;
    let interval = Duration::from_nanos(u64::from_le_bytes(interval_ns));
    let near = control.socket().peer_addr()?.ip();
    control.socket().set_nonblocking(true)?;
    // Sleeps end when they should; where that cannot be had they end 50 us late.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let mut datagram = vec![0; bytes.max(DATAGRAM_HEAD_BYTES)];
    Xoshiro256PlusPlus::seed_from_u64(flow.session()).fill_bytes(&mut datagram);
    let begun = Instant::now();
    let (mut next, mut look_at, mut to) = (begun, begun, None);
    let mut sequence = 0;
    while sequence < SEQUENCES {
        let now = Instant::now();
        if now >= look_at {
            if !is_open(control) {
                return Ok(());
            }
            look_at = now + GLANCE;
            let heard = flow.heard_from();
            let heard = heard.and_then(|(from, last)| wanted_by(from, last, near, now));
            if heard.is_none() || to.is_none() {
                // What was not wanted is not sent later.
                next = now;
            }
            to = heard;
        }
        match to {
            Some(to) if now >= next => {
                let sent_ns = u64::try_from((now - begun).as_nanos()).unwrap_or(u64::MAX);
                Datagram { session: flow.session(), sequence, sent_ns }.write(&mut datagram);
                leave(flow.socket(), &datagram, to)?;
                sequence += 1;
                next += interval;
            }
            Some(_) => sleep(next.min(look_at) - now),
            None => sleep(look_at - now),
        }
    }
    Ok(())
}

/// Where the near end is, if it said something lately and is who has proved itself.
fn wanted_by(from: SocketAddr, last: Instant, near: IpAddr, now: Instant) -> Option<SocketAddr> {
    (from.ip() == near && now.saturating_duration_since(last) < LEASE).then_some(from)
}

fn leave(socket: &UdpSocket, datagram: &[u8], to: SocketAddr) -> io::Result<()> {
    match socket.send_to(datagram, to) {
        Ok(_) => Ok(()),
        // The queue of the interface may be full and let it go, as a router would; and an earlier
        // one may have met an error.
        Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => Ok(()),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(()),
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
        Err(error) => Err(error),
    }
}

/// Nothing more is said on it: whatever comes is its end.
fn is_open(control: &Flow) -> bool {
    let peeked = control.socket().peek(&mut [0]);
    peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::thread;

    use super::super::udp::Flows;
    use super::*;

    #[test]
    fn datagrams_come_when_they_are_asked_for_until_the_connection_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut far = Flow::Bare(listener.accept().unwrap().0);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let flows = Arc::new(Flows::on(socket));
        let receiver = Arc::clone(&flows);
        thread::spawn(move || receiver.receive());
        let sending = thread::spawn(move || send(&flows.of(7)?, &mut far, 100));
        near.write_all(&1_000_000_u64.to_le_bytes()).unwrap();
        let own = UdpSocket::bind("127.0.0.1:0").unwrap();
        own.connect(address).unwrap();
        own.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut datagram = [0; 200];
        let mut hello = [0; DATAGRAM_HEAD_BYTES];
        Datagram { session: 7, sequence: WANTS_MORE, sent_ns: 0 }.write(&mut hello);
        let mut came = Vec::new();
        while came.len() < 5 {
            own.send(&hello).unwrap();
            let Ok(bytes) = own.recv(&mut datagram) else { continue };
            assert_eq!(bytes, 100);
            came.push(Datagram::read(&datagram[..bytes]).unwrap().sequence);
        }
        assert_eq!(came, [0, 1, 2, 3, 4]);
        drop(near);
        sending.join().unwrap().unwrap();
    }

    #[test]
    fn only_the_session_s_own_host_has_datagrams_and_not_for_ever() {
        let said = Instant::now();
        let near = IpAddr::from([198, 18, 0, 1]);
        let from = SocketAddr::new(near, 4000);
        assert_eq!(wanted_by(from, said, near, said), Some(from));
        assert_eq!(wanted_by(from, said, [198, 18, 0, 9].into(), said), None);
        assert_eq!(wanted_by(from, said, near, said + LEASE), None);
    }
}
