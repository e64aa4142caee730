//! A TCP connection for each request: connect, send, receive, close.
//!
//! An I/O ends when its answer has arrived; closing comes after. The connection is closed with a
//! reset (`SO_LINGER` of 0), so that no port is left in `TIME_WAIT` and free ports do not limit the
//! rate.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, recv, send, socket_with,
};

use super::tcp_stream::PATIENCE_NS;
use crate::engine::thread::Thread;
use crate::engine::{Deadline, Engine, Io, Outcome, Submitted};
use crate::error::Error;
use crate::peer::{COOKIE_BYTES, Flow, client};
use crate::sockopt::reset_on_close;

/// How long a connection may hold the thread before it looks at the time again.
const LONGEST_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

pub(crate) struct TcpConnect {
    /// The far end listens as long as this is open.
    _control: Flow,
    address: SocketAddr,
    request: Box<[u8]>,
    answer: Box<[u8]>,
    under_way: Option<Connection>,
}

struct Connection {
    slot: u32,
    socket: OwnedFd,
    sent: usize,
    answered: usize,
    /// When it was first waited for.
    since_ns: Option<u64>,
    outcome: Option<Outcome>,
}

impl TcpConnect {
    /// The engine of a thread, which goes to the near end of the path and stays there.
    pub(crate) fn of(thread: &Thread<'_>) -> Result<Self, Error> {
        let bytes = thread.job.block_sizes.max_bytes();
        let (control, address, cookie) = client::connections(thread.peer()?, bytes)?;
        let mut request = vec![0; bytes as usize].into_boxed_slice();
        Xoshiro256PlusPlus::seed_from_u64(thread.seed).fill_bytes(&mut request);
        request[..COOKIE_BYTES].copy_from_slice(&cookie);
        let answer = vec![0; bytes as usize].into_boxed_slice();
        Ok(Self { _control: control, address, request, answer, under_way: None })
    }

    fn begin(&self) -> Result<OwnedFd, Errno> {
        let family =
            if self.address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(family, SocketType::STREAM, flags, None)?;
        reset_on_close(&socket)?;
        match connect(&socket, &self.address) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
            Err(errno) => Err(errno),
        }
    }

    /// Moves on until the answer is there, the thread has to look at the time, or it failed.
    fn advance(&mut self, connection: &mut Connection) -> Result<bool, Errno> {
        let bytes = self.request.len();
        while connection.answered < bytes {
            let is_sent = connection.sent == bytes;
            let moved = if is_sent {
                let rest = &mut self.answer[connection.answered..];
                recv(&connection.socket, rest, RecvFlags::empty()).map(|(bytes, _)| bytes)
            } else {
                // While it connects there is no room.
                send(&connection.socket, &self.request[connection.sent..], SendFlags::NOSIGNAL)
            };
            match moved {
                Ok(0) => return Err(Errno::CONNRESET),
                Ok(bytes) if is_sent => connection.answered += bytes,
                Ok(bytes) => connection.sent += bytes,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let wanted = if is_sent { PollFlags::IN } else { PollFlags::OUT };
                    let mut fds = [PollFd::new(&connection.socket, wanted)];
                    if matches!(poll(&mut fds, Some(&LONGEST_WAIT)), Ok(0)) {
                        return Ok(false);
                    }
                }
                Err(errno) => return Err(errno),
            }
        }
        Ok(true)
    }
}

impl Engine for TcpConnect {
    const SUBMIT_COSTS: bool = true;

    fn submit(&mut self, slot: u32, _: Io) -> Submitted {
        match self.begin() {
            Ok(socket) => {
                self.under_way = Some(Connection {
                    slot,
                    socket,
                    sent: 0,
                    answered: 0,
                    since_ns: None,
                    outcome: None,
                });
                Submitted::InFlight
            }
            Err(errno) => Submitted::Done(Err(errno)),
        }
    }

    fn wait(&mut self, deadline: Deadline) {
        let Some(mut connection) = self.under_way.take() else { return };
        let since_ns = *connection.since_ns.get_or_insert(deadline.now_ns);
        #[expect(clippy::cast_possible_truncation, reason = "the original value was a u32")]
        let bytes = self.request.len() as u32;
        connection.outcome = match self.advance(&mut connection) {
            Ok(true) => Some(Ok(bytes)),
            Ok(false) if deadline.now_ns - since_ns > PATIENCE_NS => Some(Err(Errno::TIMEDOUT)),
            Ok(false) => None,
            Err(errno) => Some(Err(errno)),
        };
        self.under_way = Some(connection);
    }

    /// Closes what is complete: the time of that is in the rate, and in no latency.
    fn reap(&mut self, _: u64, mut completed: impl FnMut(u32, Outcome)) {
        if let Some(Connection { slot, outcome: Some(outcome), .. }) = self.under_way {
            completed(slot, outcome);
            self.under_way = None;
        }
    }

    fn write_buffer(&mut self, _: u32, bytes: u32) -> &mut [u8] {
        // What is written there never leaves: the request has the cookie.
        &mut self.answer[..bytes as usize]
    }

    fn read_buffer(&mut self, _: u32) -> &[u8] {
        &self.answer
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use super::*;
    use crate::engine::Op;

    const BYTES: u32 = 100_000;

    /// An engine whose connections `listener` takes.
    fn engine(listener: &TcpListener) -> TcpConnect {
        let address = listener.local_addr().unwrap();
        let control = Flow::Bare(TcpStream::connect(address).unwrap());
        drop(listener.accept().unwrap());
        let buffer = || vec![3; BYTES as usize].into_boxed_slice();
        TcpConnect {
            _control: control,
            address,
            request: buffer(),
            answer: buffer(),
            under_way: None,
        }
    }

    fn perform(engine: &mut TcpConnect, step_ns: u64) -> Outcome {
        let io = Io { offset: 0, bytes: BYTES, file: 0, op: Op::Read, check: false };
        if let Submitted::Done(outcome) = engine.submit(0, io) {
            return outcome;
        }
        let mut now_ns = 1;
        loop {
            engine.wait(Deadline { now_ns, until_ns: u64::MAX, precise: false });
            now_ns += step_ns;
            let mut end = None;
            engine.reap(now_ns, |_, outcome| end = Some(outcome));
            if let Some(outcome) = end {
                return outcome;
            }
        }
    }

    #[test]
    fn a_whole_answer_is_waited_for_and_no_port_stays_occupied() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut engine = engine(&listener);
        let far = thread::spawn(move || {
            let mut ends = Vec::new();
            for _ in 0..3 {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = vec![0; BYTES as usize];
                stream.read_exact(&mut request).unwrap();
                stream.write_all(&request).unwrap();
                // A reset, after which neither end waits.
                ends.push(stream.read(&mut request).unwrap_err().raw_os_error());
            }
            ends
        });
        for _ in 0..3 {
            assert_eq!(perform(&mut engine, 1), Ok(BYTES));
        }
        assert_eq!(far.join().unwrap(), [Some(libc::ECONNRESET); 3]);
    }

    #[test]
    fn whoever_closes_or_does_not_listen_is_an_error() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut engine = engine(&listener);
        let far = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut vec![0; BYTES as usize]).unwrap();
        });
        assert_eq!(perform(&mut engine, 1), Err(Errno::CONNRESET));
        far.join().unwrap();
        assert_eq!(perform(&mut engine, 1), Err(Errno::CONNREFUSED));
    }

    #[test]
    fn a_silent_peer_times_out() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut engine = engine(&listener);
        assert_eq!(perform(&mut engine, PATIENCE_NS), Err(Errno::TIMEDOUT));
    }
}
