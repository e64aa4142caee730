//! The far end of a network path, for as long as its process lives.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::net::sockopt::set_tcp_nodelay;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::flow::Flow;
use super::hello::{Accepting, MAGIC, Met, Nonce, Step};
use super::udp::Flows;
use super::waiting::{Limits, Waiting};
use super::{hello, roles, tls};
use crate::busiest::Ended;
use crate::sockopt::set_timeouts;
use crate::target::PeerSecret;

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
            Err(error) if error.kind() == ErrorKind::AddrInUse && address.port() == 0 => {
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

// Where connections come in, until they have proved themselves: one thread for all of them, which
// keeps a socket and two hundred bytes of each, for a limited time, and of a limited number.

/// How long a handshake may take, all in all.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Connections that have not said anything right yet, at most.
const MOST_STRANGERS: usize = 4096;
/// Connections that somebody opened who knows the token, or repeats what one said who does.
const MOST_KNOCKED: usize = 2048;
/// Descriptors that are not for those who wait.
const OTHER_FILES: u64 = 2048;
/// Connections that the kernel has ready: they come faster than a busy CPU lets us take them.
const BACKLOG: i32 = 4096;
/// The listener's number; those of connections come after it.
const LISTENER: u64 = 0;
/// Taken in at a time, before those that wait are heard.
const AT_ONCE: usize = 64;
/// Between two looks at whose time is up.
const LOOK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

struct Door {
    secret: PeerSecret,
    listener: TcpListener,
    epoll: OwnedFd,
    /// Those who have said nothing right.
    strangers: Waiting<Visitor>,
    /// Those who have knocked as whoever knows the token does.
    knocked: Waiting<Visitor>,
    last: u64,
}

struct Visitor {
    stream: TcpStream,
    accepting: Accepting,
}

/// One who has proved to know the token, and until when the rest of the handshake has to be done.
struct Arrived {
    pub stream: TcpStream,
    pub met: Met,
    pub until: Instant,
}

impl Door {
    pub(super) fn new(listener: TcpListener, secret: PeerSecret) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        rustix::net::listen(&listener, BACKLOG)?;
        // Whoever is accepted inherits it.
        set_tcp_nodelay(&listener, true)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
        let places = places();
        let waiting = |most: usize| -> io::Result<Waiting<Visitor>> {
            let all = most.min(places).max(2);
            let limits = Limits { all, of_one_address: all / 2 };
            Ok(Waiting::new(limits, number(hello::nonce()?)))
        };
        let (strangers, knocked) = (waiting(MOST_STRANGERS)?, waiting(MOST_KNOCKED)?);
        Ok(Self { secret, listener, epoll, strangers, knocked, last: LISTENER })
    }

    /// Hands whoever proves to know the token to `take`, for ever. `is_full` says whether there are
    /// too many.
    pub(super) fn serve(
        mut self,
        is_full: impl Fn() -> bool,
        mut take: impl FnMut(Arrived),
    ) -> io::Result<()> {
        let mut events = Vec::with_capacity(AT_ONCE);
        loop {
            let nobody = self.strangers.is_empty() && self.knocked.is_empty();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), (!nobody).then_some(&LOOK))
            {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            let now = Instant::now();
            for event in events.drain(..) {
                match event.data.u64() {
                    LISTENER => self.lets_in(now),
                    number => {
                        if let Some(arrived) = self.hears(number, &is_full) {
                            take(arrived);
                        }
                    }
                }
            }
            self.strangers.expire(now);
            self.knocked.expire(now);
        }
    }

    fn lets_in(&mut self, now: Instant) {
        for _ in 0..AT_ONCE {
            match self.listener.accept() {
                Ok((stream, from)) => {
                    self.last += 1;
                    // Whatever is wrong with one connection concerns no other.
                    if self.begins(&stream).is_ok() {
                        let visitor = Visitor { stream, accepting: Accepting::default() };
                        self.strangers.arrives(self.last, from.ip(), now + HANDSHAKE, visitor);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if is_out_of_files(&error) => {
                    if !self.strangers.make_room() && !self.knocked.make_room() {
                        thread::sleep(Duration::from_millis(10));
                        return;
                    }
                }
                // It is gone; the next may do better.
                Err(_) => {}
            }
        }
    }

    fn begins(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        stream.write_all(MAGIC)?;
        let data = epoll::EventData::new_u64(self.last);
        Ok(epoll::add(&self.epoll, stream, data, epoll::EventFlags::IN)?)
    }

    /// Goes on with one that has said something; it goes where it says what is wrong, or hangs up.
    fn hears(&mut self, number: u64, is_full: impl Fn() -> bool) -> Option<Arrived> {
        let has_knocked = self.strangers.get_mut(number).is_none();
        let waiting = if has_knocked { &mut self.knocked } else { &mut self.strangers };
        let until = waiting.until(number)?;
        let visitor = waiting.get_mut(number)?;
        match visitor.goes_on(&self.secret, is_full) {
            Ok(Step::More) => None,
            Ok(Step::Admit(_)) => {
                let visitor = waiting.leaves(number)?;
                let from = visitor.stream.peer_addr().ok()?.ip();
                self.knocked.arrives(number, from, until, visitor);
                None
            }
            Ok(Step::Meet(_, met)) => {
                let stream = waiting.leaves(number)?.stream;
                epoll::delete(&self.epoll, &stream).ok()?;
                stream.set_nonblocking(false).ok()?;
                Some(Arrived { stream, met: *met, until })
            }
            Ok(Step::Refuse(_)) | Err(_) => {
                waiting.leaves(number);
                None
            }
        }
    }
}

impl Visitor {
    /// Takes in what has come, and says what follows. What it says is little, and finds room.
    fn goes_on(&mut self, secret: &PeerSecret, is_full: impl Fn() -> bool) -> io::Result<Step> {
        let Self { stream, accepting } = self;
        let bytes = match stream.read(accepting.room()) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => bytes,
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                return Ok(Step::More);
            }
            Err(error) => return Err(error),
        };
        let admit = || -> io::Result<Option<(Nonce, u64)>> {
            let new = (hello::nonce()?, number(hello::nonce()?));
            Ok((!is_full()).then_some(new))
        };
        let step = accepting.hears(bytes, secret, admit)?;
        match &step {
            Step::More => {}
            Step::Admit(says) => stream.write_all(says)?,
            Step::Refuse(says) => stream.write_all(&[*says])?,
            Step::Meet(says, _) => stream.write_all(says)?,
        }
        Ok(step)
    }
}

/// How many may wait of each kind: a process may have fewer files open.
fn places() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = OTHER_FILES + (MOST_STRANGERS + MOST_KNOCKED) as u64;
    let all = maximum.map_or(wanted, |most| most.min(wanted));
    let raised = Rlimit { current: Some(all), maximum };
    let has =
        if current.is_some_and(|has| has < all) && setrlimit(Resource::Nofile, raised).is_err() {
            current.unwrap_or(all)
        } else {
            all
        };
    usize::try_from(has.saturating_sub(OTHER_FILES).max(has / 4) / 2).unwrap_or(MOST_STRANGERS)
}

fn is_out_of_files(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::ENOBUFS))
}

/// A number that nobody can guess.
fn number(nonce: Nonce) -> u64 {
    u64::from_le_bytes(*nonce.first_chunk().expect("it is longer"))
}
