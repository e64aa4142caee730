//! The far end of a network path, for as long as its process lives.

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::target::PeerSecret;

use super::door::{Arrived, Door};
use super::flow::Flow;
use super::roles;
use super::tls;
use super::udp::Flows;
use crate::busiest::Ended;
use crate::sockopt::set_timeouts;

/// Connections that have proved themselves, at most.
const MAX_CONNECTIONS: usize = 1024;
/// How long a connection that has proved itself may be silent, or take nothing.
const SILENCE: Duration = Duration::from_mins(2);
/// Threads do little, and there may be many.
const STACK_BYTES: usize = 256 << 10;
/// Tries for a port that is free for both protocols.
const TRIES: u32 = 16;

struct Peer {
    flows: Flows,
    connections: AtomicUsize,
    ended: Ended,
}

/// Listens at `address`, port 0 being any, tells `ready` where, and serves whoever knows `secret`
/// until the process ends.
///
/// # Errors
/// If it cannot listen there.
pub fn serve(
    address: SocketAddr,
    secret: PeerSecret,
    ready: impl FnOnce(SocketAddr) -> io::Result<()>,
) -> io::Result<()> {
    let (listener, datagrams) = listen(address)?;
    let own_address = listener.local_addr()?;
    let peer = Arc::new(Peer {
        flows: Flows::on(datagrams),
        connections: AtomicUsize::new(0),
        ended: Ended::default(),
    });
    let receiver = Arc::clone(&peer);
    spawn("datagrams", move || receiver.flows.receive())?;
    let door = Door::new(listener, secret)?;
    ready(own_address)?;
    let is_full = || peer.connections.load(Ordering::Relaxed) >= MAX_CONNECTIONS;
    door.serve(is_full, |arrived| {
        let one = One::of(&peer);
        // Whoever goes is not asked why; where there is no thread for it, it goes at once.
        let _ = spawn("peer", move || drop(one.serve(arrived)));
    })
}

/// The same port for both protocols.
fn listen(address: SocketAddr) -> io::Result<(TcpListener, UdpSocket)> {
    let mut tries = 0;
    loop {
        let listener = TcpListener::bind(address)?;
        match UdpSocket::bind(listener.local_addr()?) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && address.port() == 0 => {
                tries += 1;
                if tries == TRIES {
                    return Err(error);
                }
            }
            bound => return Ok((listener, bound?)),
        }
    }
}

/// One connection that has proved itself, counted for as long as it lasts.
struct One(Arc<Peer>);

impl One {
    fn of(peer: &Arc<Peer>) -> Self {
        peer.connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(peer))
    }

    fn serve(&self, Arrived { stream, met, until }: Arrived) -> io::Result<()> {
        let flow = match met.wanted.tls {
            Some(by) => tls::accept(stream, by, &met.keys, until)?,
            None => Flow::Bare(stream),
        };
        set_timeouts(flow.socket(), SILENCE)?;
        let Peer { flows, ended, .. } = &*self.0;
        let served = roles::perform(flow, met.wanted.role, met.session, flows, ended);
        ended.now();
        served
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    builder.spawn(body).map(drop)
}
