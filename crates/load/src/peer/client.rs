//! The near end: connections to a peer.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use iotax_record::FarEndRecord;
use iotax_vdisk::{Peer, enter_namespace, within_namespace};

use super::connects::{Cookie, Offer};
use super::ends::{PathEnds, Seen};
use super::flow::Flow;
use super::hello::{self, Role, Wanted};
use super::roles::{self, ASK};
use super::tls;
use super::told::Told;
use super::udp::Received;
use crate::busiest::OfEnd;
use crate::error::Error;
use crate::sockopt::{known_mtu, set_timeouts};

/// How long a path may take to answer before it counts as broken.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection in `role`, and what the far end calls it.
pub(crate) fn connect(peer: &Peer, role: Role) -> Result<(Flow, u64), Error> {
    let tls = if role.is_control() { Some(tls::CONTROL) } else { peer.tls };
    let wanted = Wanted { role, tls: tls.map(|tls| tls.by) };
    let connect = || -> io::Result<(Flow, u64)> {
        let mut stream = TcpStream::connect_timeout(&peer.address, PATIENCE)?;
        stream.set_nodelay(true)?;
        set_timeouts(&stream, PATIENCE)?;
        let met = hello::greet(&mut stream, &peer.secret, hello::nonce()?, wanted)?;
        let flow = match tls {
            Some(tls) => tls::connect(stream, tls, &met.keys)?,
            None => Flow::Bare(stream),
        };
        Ok((flow, met.session))
    };
    within_namespace(peer.namespace.as_deref(), connect)
        .map_err(|source| Error::Peer { peer: peer.to_string(), source })
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
    let offer = offered().map_err(|source| Error::Peer { peer: peer.to_string(), source })?;
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
    told.map_err(|source| Error::Peer { peer: peer.to_string(), source })?;
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
    asked().map_err(|source| Error::Peer { peer: peer.to_string(), source })
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
    within_namespace(peer.namespace.as_deref(), bind)
        .map_err(|source| Error::Peer { peer: peer.to_string(), source })
}

/// What the far end's host has done so far.
pub(crate) struct FarEnd {
    stream: Flow,
}

impl FarEnd {
    pub(crate) fn of(peer: &Peer) -> Result<Self, Error> {
        connect(peer, Role::Counters).map(|(stream, _)| Self { stream })
    }

    /// Its counters now, and what had the most to do since they were last asked for; `None` if it does
    /// not answer: load itself will show why.
    pub(crate) fn now(&mut self) -> Option<(FarEndRecord, OfEnd)> {
        let mut told = [0; Told::BYTES];
        self.stream.write_all(&[ASK]).and_then(|()| self.stream.read_exact(&mut told)).ok()?;
        let Told { cpu_ns, cpu_busy_ns, boot, cpus, busiest } = Told::decode(&told);
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
