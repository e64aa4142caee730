//! Requests over a TCP connection, each answered with as many bytes, in their order.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use super::tcp_stream::PATIENCE_NS;
use crate::engine::thread::Thread;
use crate::engine::{Deadline, Engine, Io, OfFlow, Outcome, Submitted};
use crate::error::Error;
use crate::peer::{Flow, Role, client};
use crate::sockopt::tcp_record;

/// How long an answer may keep the thread before it looks at the time again.
const LONGEST_WAIT_NS: u64 = 10_000_000;
/// The last stretch before an intended start is spun through: a sleeping thread is woken late.
const SPIN_NS: u64 = 60_000;
/// Answers are read by so much at a time, at least.
const READ_BYTES: usize = 64 << 10;

pub(crate) struct TcpRr {
    flow: Flow,
    request: Box<[u8]>,
    answers: Box<[u8]>,
    /// Slots whose answers are still to come, the next one first.
    under_way: VecDeque<u32>,
    bytes: usize,
    /// Of the last request, what the kernel has not taken yet.
    unsent: usize,
    /// Bytes of answers that no slot has been given.
    answered: usize,
    /// When something last came, as far as is known.
    heard_ns: u64,
    broken: Option<Errno>,
}

impl TcpRr {
    /// The engine of a thread.
    pub(crate) fn of(thread: &Thread<'_>) -> Result<Self, Error> {
        let bytes = thread.job.block_sizes.max_bytes();
        let peer = thread.peer()?;
        let (flow, _) = client::connect(peer, Role::Answer { bytes })?;
        let made = Self::new(flow, thread.depth(), bytes, thread.seed);
        made.map_err(Error::peer(peer))
    }

    /// An engine on a connection to a peer that answers requests of `bytes` with as many.
    pub(crate) fn new(flow: Flow, depth: u32, bytes: u32, seed: u64) -> io::Result<Self> {
        flow.socket().set_nodelay(true)?;
        flow.socket().set_read_timeout(Some(Duration::from_nanos(LONGEST_WAIT_NS)))?;
        let bytes = bytes as usize;
        let mut request = vec![0; bytes].into_boxed_slice();
        Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut request);
        Ok(Self {
            flow,
            request,
            answers: vec![0; bytes.max(READ_BYTES)].into_boxed_slice(),
            under_way: VecDeque::with_capacity(depth as usize),
            bytes,
            unsent: 0,
            answered: 0,
            heard_ns: 0,
            broken: None,
        })
    }

    /// Hands what is left of a request to the kernel, as far as it takes it.
    #[inline]
    fn send_rest(&mut self) {
        while self.unsent > 0 && self.broken.is_none() {
            let rest = &self.request[self.bytes - self.unsent..];
            match self.flow.send(rest, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(bytes) => self.unsent -= bytes,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(errno) => self.broken = Some(errno),
            }
        }
    }

    /// Takes what has come, waiting for it if `flags` do.
    #[inline]
    fn receive(&mut self, flags: RecvFlags) {
        match self.flow.recv(&mut self.answers, flags) {
            Ok(0) => self.broken = Some(Errno::CONNRESET),
            Ok(bytes) => self.answered += bytes,
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(errno) => self.broken = Some(errno),
        }
    }

    /// Waits until an answer comes, or room for the rest of a request, at most so long.
    fn poll_for(&self, at_most_ns: u64) {
        let wanted =
            PollFlags::IN | if self.unsent > 0 { PollFlags::OUT } else { PollFlags::empty() };
        let at_most_ns = at_most_ns.min(LONGEST_WAIT_NS);
        let timeout = Timespec { tv_sec: 0, tv_nsec: at_most_ns.cast_signed() };
        // Whatever came, or did not, is found out by what follows.
        let _ = poll(&mut [PollFd::new(self.flow.socket(), wanted)], Some(&timeout));
    }
}

impl Engine for TcpRr {
    const SUBMIT_COSTS: bool = true;

    #[inline]
    fn submit(&mut self, slot: u32, _: Io) -> Submitted {
        if let Some(errno) = self.broken {
            return Submitted::Done(Err(errno));
        }
        if self.unsent > 0 {
            return Submitted::Full;
        }
        self.unsent = self.bytes;
        self.send_rest();
        self.under_way.push_back(slot);
        Submitted::InFlight
    }

    fn wait(&mut self, deadline: Deadline) {
        if self.broken.is_some() {
            return;
        }
        let before = self.answered;
        if self.unsent > 0 {
            self.poll_for(deadline.until_ns.saturating_sub(deadline.now_ns));
            self.send_rest();
            self.receive(RecvFlags::DONTWAIT);
        } else if deadline.precise {
            let left_ns = deadline.until_ns.saturating_sub(deadline.now_ns);
            if left_ns > SPIN_NS {
                self.poll_for(left_ns - SPIN_NS);
            }
            self.receive(RecvFlags::DONTWAIT);
        } else {
            self.receive(RecvFlags::empty());
        }
        if self.answered > before || self.heard_ns == 0 {
            self.heard_ns = deadline.now_ns;
        } else if deadline.now_ns.saturating_sub(self.heard_ns) > PATIENCE_NS {
            self.broken = Some(Errno::TIMEDOUT);
        }
    }

    #[inline]
    fn reap(&mut self, now_ns: u64, mut completed: impl FnMut(u32, Outcome)) {
        while self.answered >= self.bytes {
            let Some(slot) = self.under_way.pop_front() else { break };
            self.answered -= self.bytes;
            #[expect(clippy::cast_possible_truncation, reason = "the original value was a u32")]
            completed(slot, Ok(self.bytes as u32));
        }
        if let Some(errno) = self.broken {
            self.under_way.drain(..).for_each(|slot| completed(slot, Err(errno)));
        }
        if self.under_way.is_empty() {
            // Nothing is waited for: the peer may be silent.
            self.heard_ns = now_ns;
        }
    }

    fn write_buffer(&mut self, _: u32, bytes: u32) -> &mut [u8] {
        &mut self.request[..bytes as usize]
    }

    fn read_buffer(&mut self, _: u32) -> &[u8] {
        &self.answers
    }

    fn of_flow(&mut self, _: u64) -> io::Result<OfFlow> {
        Ok(OfFlow { tcp: tcp_record(self.flow.socket()), udp: None })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream as Socket};
    use std::thread;

    use super::*;
    use crate::engine::Op;

    fn pair() -> (Flow, Socket) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = Socket::connect(listener.local_addr().unwrap()).unwrap();
        (Flow::Bare(near), listener.accept().unwrap().0)
    }

    fn answering(mut far: Socket, bytes: usize) -> thread::JoinHandle<u64> {
        thread::spawn(move || {
            let mut block = vec![0; bytes];
            let mut answers = 0;
            while far.read_exact(&mut block).is_ok() && far.write_all(&block).is_ok() {
                answers += 1;
            }
            answers
        })
    }

    /// Keeps `depth` requests under way until `requests` are answered, and says which slots were,
    /// in their order.
    fn perform(engine: &mut TcpRr, depth: u32, bytes: u32, requests: usize) -> Vec<(u32, Outcome)> {
        let io = Io { offset: 0, bytes, file: 0, op: Op::Read, check: false };
        let mut free: VecDeque<u32> = (0..depth).collect();
        let mut done: Vec<(u32, Outcome)> = Vec::new();
        let mut now_ns = 1;
        while done.len() < requests {
            while let Some(slot) = free.front().copied() {
                match engine.submit(slot, io) {
                    Submitted::InFlight => drop(free.pop_front()),
                    Submitted::Full => break,
                    Submitted::Done(outcome) => {
                        done.push((slot, outcome));
                        return done;
                    }
                }
            }
            engine.wait(Deadline { now_ns, until_ns: u64::MAX, precise: false });
            now_ns += 1_000_000;
            engine.reap(now_ns, |slot, outcome| {
                free.push_back(slot);
                done.push((slot, outcome));
            });
        }
        done
    }

    #[test]
    fn requests_are_answered_in_their_order() {
        for (depth, bytes) in [(1, 64), (8, 64), (3, 300_000), (4, 1_000_000)] {
            let (near, far) = pair();
            let peer = answering(far, bytes as usize);
            let mut engine = TcpRr::new(near, depth, bytes, 7).unwrap();
            let done = perform(&mut engine, depth, bytes, 40);
            let expected = (0..depth).cycle().take(done.len()).map(|slot| (slot, Ok(bytes)));
            assert_eq!(done, expected.collect::<Vec<_>>(), "depth {depth}, {bytes} bytes");
            drop(engine);
            assert!(peer.join().unwrap() >= 40);
        }
    }

    #[test]
    fn a_peer_that_is_gone_fails_what_is_under_way() {
        let (near, far) = pair();
        let mut engine = TcpRr::new(near, 2, 64, 7).unwrap();
        drop(far);
        let done = perform(&mut engine, 2, 64, 2);
        assert!(done.iter().all(|(_, outcome)| outcome.is_err()), "{done:?}");
    }

    #[test]
    fn a_silent_peer_times_out() {
        let (near, _far) = pair();
        let mut engine = TcpRr::new(near, 1, 64, 7).unwrap();
        let io = Io { offset: 0, bytes: 64, file: 0, op: Op::Read, check: false };
        assert_eq!(engine.submit(0, io), Submitted::InFlight);
        let mut failed = None;
        for now_ns in [1, PATIENCE_NS, 2 * PATIENCE_NS + 2] {
            engine.wait(Deadline { now_ns, until_ns: u64::MAX, precise: false });
            engine.reap(now_ns, |_, outcome| failed = Some(outcome));
        }
        assert_eq!(failed, Some(Err(Errno::TIMEDOUT)));
    }
}
