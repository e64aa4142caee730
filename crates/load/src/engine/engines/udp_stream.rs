//! Numbered datagrams to a peer, which counts those that come.

use std::io;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use iotax_record::UdpRecord;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::tcp_stream::PATIENCE_NS;
use crate::engine::supplies::Buffers;
use crate::engine::thread::Thread;
use crate::engine::{Deadline, Engine, Io, OfFlow, Outcome, Submitted};
use crate::error::Error;
use crate::peer::{
    Arrivals, DATAGRAM_HEAD_BYTES, Datagram, Flow, Received, Role, SEQUENCES, WANTS_MORE, client,
};
use crate::sockopt::ask_for_room;

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
        Ok(came_of(self.sent - from, received))
    }
}

// Numbered datagrams from a peer, which paces them; counted here.
//
// An I/O is a datagram that the peer has sent: it is over when this one has come, or a later one.
// How many of them came is asked at the end.

/// How long a datagram may keep the thread before it looks at the time again.
const LONGEST_WAIT: Duration = Duration::from_millis(10);
/// How often the peer is told that its datagrams are wanted.
const TELL_NS: u64 = 100_000_000;
/// Those that were overtaken are waited for so long.
const STRAGGLERS: Duration = Duration::from_millis(200);

pub(crate) struct UdpStreamBack {
    socket: UdpSocket,
    /// The peer sends as long as this is open.
    _control: Flow,
    session: u64,
    arrivals: Arrivals,
    /// I/Os that are over.
    done: u64,
    buffer: Box<[u8]>,
    /// With what is left of its patience.
    under_way: Option<(u32, Io, u64)>,
    outcome: Option<Outcome>,
    told_ns: Option<u64>,
    clock: quanta::Clock,
}

impl UdpStreamBack {
    pub(crate) fn of(thread: &Thread<'_>) -> Result<Self, Error> {
        let (peer, job) = (thread.peer()?, thread.job);
        let bytes = job.block_sizes.max_bytes();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and intervals above 500 years need not be exact"
        )]
        let interval_ns = job
            .pace
            .offered_iops()
            .map_or(0, |iops| (1e9 * f64::from(job.threads.max(1)) / iops) as u64);
        let (control, session) = client::datagrams_back(peer, bytes, interval_ns)?;
        let socket = client::datagrams(peer)?;
        let ready = socket.set_read_timeout(Some(LONGEST_WAIT));
        ready.map_err(Error::peer(peer))?;
        ask_for_room(&socket);
        Ok(Self {
            socket,
            _control: control,
            session,
            arrivals: Arrivals::preallocated(),
            done: 0,
            buffer: vec![0; bytes as usize].into_boxed_slice(),
            under_way: None,
            outcome: None,
            told_ns: None,
            clock: quanta::Clock::new(),
        })
    }

    /// Takes one datagram in, if one comes; false if none did.
    #[inline]
    fn receive(&mut self) -> Result<bool, Errno> {
        let received = recv(&self.socket, &mut *self.buffer, RecvFlags::empty());
        let now_ns = self.clock.delta_as_nanos(0, self.clock.raw());
        if self.told_ns.is_none_or(|told_ns| now_ns.saturating_sub(told_ns) > TELL_NS) {
            self.tell(now_ns);
        }
        match received {
            Ok((bytes, _)) => {
                let datagram = Datagram::read(&self.buffer[..bytes]);
                if let Some(datagram) = datagram.filter(|head| head.session == self.session) {
                    self.arrivals.takes(datagram, now_ns);
                }
                Ok(true)
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    fn tell(&mut self, now_ns: u64) {
        let mut hello = [0; DATAGRAM_HEAD_BYTES];
        Datagram { session: self.session, sequence: WANTS_MORE, sent_ns: now_ns }.write(&mut hello);
        // One that is lost is followed by others.
        let _ = send(&self.socket, &hello, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
        self.told_ns = Some(now_ns);
    }

    /// Goes on until the next datagram has come or was passed over; `None` if it is time to look at
    /// the time.
    #[inline]
    fn advance(&mut self, io: Io) -> Option<Outcome> {
        if self.done == SEQUENCES {
            return Some(Err(Errno::OVERFLOW));
        }
        while self.arrivals.next() == self.done {
            match self.receive() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(errno) => return Some(Err(errno)),
            }
        }
        self.done += 1;
        Some(Ok(io.bytes))
    }
}

impl Engine for UdpStreamBack {
    const SUBMIT_COSTS: bool = true;

    #[inline]
    fn submit(&mut self, slot: u32, io: Io) -> Submitted {
        if self.told_ns.is_none() {
            // What comes before the load begins would only fill the buffer.
            self.tell(self.clock.delta_as_nanos(0, self.clock.raw()));
        }
        if let Some(outcome) = self.advance(io) {
            return Submitted::Done(outcome);
        }
        self.under_way = Some((slot, io, 0));
        Submitted::InFlight
    }

    fn wait(&mut self, deadline: Deadline) {
        let Some((slot, io, since_ns)) = self.under_way else { return };
        let since_ns = if since_ns == 0 { deadline.now_ns } else { since_ns };
        self.under_way = Some((slot, io, since_ns));
        self.outcome = self.advance(io);
        if self.outcome.is_none() && deadline.now_ns - since_ns > PATIENCE_NS {
            self.outcome = Some(Err(Errno::TIMEDOUT));
        }
    }

    fn reap(&mut self, _: u64, mut completed: impl FnMut(u32, Outcome)) {
        if let Some((slot, _, _)) = self.under_way
            && let Some(outcome) = self.outcome.take()
        {
            self.under_way = None;
            completed(slot, outcome);
        }
    }

    fn write_buffer(&mut self, _: u32, bytes: u32) -> &mut [u8] {
        &mut self.buffer[..bytes as usize]
    }

    fn read_buffer(&mut self, _: u32) -> &[u8] {
        &self.buffer
    }

    /// Those that were counted are the last ones.
    fn of_flow(&mut self, counted: u64) -> io::Result<OfFlow> {
        let (from, to) = (self.done.saturating_sub(counted), self.done);
        let until = Instant::now() + STRAGGLERS;
        let mut received = self.arrivals.received(from, to);
        while received.datagrams < to - from && Instant::now() < until {
            self.receive()?;
            received = self.arrivals.received(from, to);
        }
        Ok(came_of(to - from, received))
    }
}

/// What came of datagrams, of which so many were sent.
fn came_of(sent: u64, came: Received) -> OfFlow {
    let Received { datagrams: received, reordered, duplicates, jitter_ns } = came;
    OfFlow { udp: Some(UdpRecord { sent, received, reordered, duplicates, jitter_ns }), tcp: None }
}
