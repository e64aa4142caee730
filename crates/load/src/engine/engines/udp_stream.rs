//! Numbered datagrams to a peer, which counts those that come.

use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use iotax_record::UdpRecord;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use crate::engine::buffers::Buffers;
use crate::engine::io::{Io, Outcome};
use crate::engine::thread::Thread;
use crate::engine::{Deadline, Engine, OfFlow, Submitted};
use crate::error::Error;
use crate::peer::{DATAGRAM_HEAD_BYTES, Datagram, Flow, Role, SEQUENCES, client};

/// How long the kernel may keep a datagram from leaving before it counts as failed.
const PATIENCE: Duration = Duration::from_secs(1);

pub(crate) struct UdpStream {
    socket: UdpSocket,
    /// Asked at the end what came.
    flow: Flow,
    session: u64,
    sent: u64,
    buffers: Buffers,
    clock: quanta::Clock,
}

impl UdpStream {
    pub(crate) fn of(thread: &Thread<'_>) -> Result<Self, Error> {
        let peer = thread.peer()?;
        let (flow, session) = client::connect(peer, Role::Datagrams)?;
        let socket = client::datagrams(peer)?;
        let patience = socket.set_write_timeout(Some(PATIENCE));
        patience.map_err(Error::peer(peer))?;
        let buffers = thread.buffers()?;
        Ok(Self { socket, flow, session, sent: 0, buffers, clock: quanta::Clock::new() })
    }
}

impl Engine for UdpStream {
    const SUBMIT_COSTS: bool = true;

    #[inline]
    fn submit(&mut self, slot: u32, io: Io) -> Submitted {
        if self.sent == SEQUENCES {
            return Submitted::Done(Err(Errno::OVERFLOW));
        }
        let datagram = &mut self.buffers.write_mut(slot)[..io.bytes as usize];
        let sent_ns = self.clock.delta_as_nanos(0, self.clock.raw());
        let head = Datagram { session: self.session, sequence: self.sent, sent_ns };
        head.write(&mut datagram[..DATAGRAM_HEAD_BYTES]);
        Submitted::Done(loop {
            match send(&self.socket, datagram, SendFlags::NOSIGNAL) {
                // The queue of the interface may be full and let it go, as a router would.
                Ok(_) | Err(Errno::NOBUFS) => {
                    self.sent += 1;
                    break Ok(io.bytes);
                }
                // What an earlier datagram met; this one has not been sent.
                Err(Errno::INTR | Errno::CONNREFUSED) => {}
                Err(errno) => break Err(errno),
            }
        })
    }

    fn wait(&mut self, _: Deadline) {}

    fn reap(&mut self, _: u64, _: impl FnMut(u32, Outcome)) {}

    fn write_buffer(&mut self, slot: u32, bytes: u32) -> &mut [u8] {
        &mut self.buffers.write_mut(slot)[..bytes as usize]
    }

    fn read_buffer(&mut self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }

    /// Those that were counted are the last ones: none is sent after the window.
    fn of_flow(&mut self, counted: u64) -> io::Result<OfFlow> {
        let from = self.sent.saturating_sub(counted);
        let received = client::received(&mut self.flow, from, self.sent)?;
        let udp = UdpRecord {
            sent: self.sent - from,
            received: received.datagrams,
            reordered: received.reordered,
            duplicates: received.duplicates,
            jitter_ns: received.jitter_ns,
        };
        Ok(OfFlow { udp: Some(udp), tcp: None })
    }
}
