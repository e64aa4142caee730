//! The far end of a network path, for as long as its process lives.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use iotax_vdisk::PeerSecret;

use super::flow::Flow;
use super::hello::{self, Met, Nonce};
use super::pending::Pending;
use super::roles;
use super::tls;
use super::udp::Flows;
use crate::busiest::Ended;
use crate::sockopt::set_timeouts;

/// Connections that have proved themselves, at most.
const MAX_CONNECTIONS: usize = 1024;
/// How long a step of a handshake may take.
const HANDSHAKE_STEP: Duration = Duration::from_secs(5);
/// How long a connection that has proved itself may be silent, or take nothing.
const SILENCE: Duration = Duration::from_mins(2);
/// Threads do little, and there may be many.
const STACK_BYTES: usize = 256 << 10;
/// Tries for a port that is free for both protocols.
const TRIES: u32 = 16;

struct Peer {
    secret: PeerSecret,
    pending: Pending,
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
    let peer = Arc::new(Peer {
        secret,
        pending: Pending::default(),
        flows: Flows::on(datagrams),
        connections: AtomicUsize::new(0),
        ended: Ended::default(),
    });
    let receiver = Arc::clone(&peer);
    spawn("datagrams", move || receiver.flows.receive())?;
    ready(listener.local_addr()?)?;
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                // Whatever is wrong with one connection concerns no other.
                let _ = take(&peer, stream);
            }
            // Out of descriptors, or a connection that is gone: the next may do better.
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
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

fn take(peer: &Arc<Peer>, stream: TcpStream) -> io::Result<()> {
    let nonce = hello::nonce()?;
    let session = u64::from_le_bytes(*hello::nonce()?.first_chunk().expect("it is longer"));
    set_timeouts(&stream, HANDSHAKE_STEP)?;
    peer.pending.arrives(session, &stream)?;
    let own = Arc::clone(peer);
    let spawned = spawn("peer", move || {
        // Whoever is refused, or goes, is not told and not asked why.
        let _ = own.serve(stream, nonce, session);
    });
    spawned.inspect_err(|_| peer.pending.leaves(session))
}

impl Peer {
    fn serve(&self, mut stream: TcpStream, nonce: Nonce, session: u64) -> io::Result<()> {
        let met = hello::accept(&mut stream, &self.secret, nonce, session);
        self.pending.leaves(session);
        let met = met?;
        let served = if self.connections.fetch_add(1, Ordering::Relaxed) < MAX_CONNECTIONS {
            let served = self.perform(stream, &met);
            self.ended.now();
            served
        } else {
            Ok(())
        };
        self.connections.fetch_sub(1, Ordering::Relaxed);
        served
    }

    fn perform(&self, stream: TcpStream, met: &Met) -> io::Result<()> {
        let flow = match met.wanted.tls {
            Some(by) => tls::accept(stream, by, &met.keys)?,
            None => Flow::Bare(stream),
        };
        set_timeouts(flow.socket(), SILENCE)?;
        roles::perform(flow, met.wanted.role, met.session, &self.flows, &self.ended)
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    builder.spawn(body).map(drop)
}
