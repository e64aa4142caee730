//! Blocks over a TCP connection, in one direction: a system call per block where the kernel takes
//! or has a whole one.

use std::io;
use std::time::Duration;

use iotax_record::TcpRecord;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use crate::engine::supplies::Buffers;
use crate::engine::thread::Thread;
use crate::engine::zero_copy::ZeroCopy;
use crate::engine::{Deadline, Engine, Io, OfFlow, Op, Outcome, Submitted};
use crate::error::Error;
use crate::peer::{Flow, Role, client};
use crate::sockopt::{set_timeouts, tcp_record};

/// How long a block may hold the thread before it looks at the time again.
const LONGEST_WAIT: Duration = Duration::from_millis(50);
/// How long a path may let nothing through before the block counts as failed.
pub(super) const PATIENCE_NS: u64 = 10_000_000_000;

pub(crate) struct TcpStream {
    flow: Flow,
    buffers: Buffers,
    under_way: Option<Block>,
    zero_copy: Option<ZeroCopy>,
}

/// A block of which a part is through.
struct Block {
    slot: u32,
    io: Io,
    done: usize,
    /// When it was last seen to be stuck, with as much done.
    stuck: Option<(u64, usize)>,
    outcome: Option<Outcome>,
}

impl TcpStream {
    /// The engine of a thread.
    pub(crate) fn of(thread: &Thread<'_>) -> Result<Self, Error> {
        let bytes = thread.job.block_sizes.max_bytes();
        let role = if thread.job.reads() { Role::Source { bytes } } else { Role::Sink };
        let peer = thread.peer()?;
        let (flow, _) = client::connect(peer, role)?;
        let untold = Error::peer(peer);
        if !thread.job.zero_copy {
            return Self::new(flow, thread.buffers()?).map_err(untold);
        }
        let buffers = ZeroCopy::buffers(bytes);
        let zero_copy = ZeroCopy::on(flow.socket(), buffers).map_err(|source| {
            let what = format!(
                "this kernel does not support zero-copy sends (SO_ZEROCOPY: {source}); leave out \
                 zero-copy"
            );
            Error::unsuitable(thread.job, what)
        })?;
        let made = Self::new(flow, thread.buffers_for(buffers)?).map_err(untold)?;
        Ok(Self { zero_copy: Some(zero_copy), ..made })
    }

    /// An engine on a connection to a peer that takes blocks, or sends them.
    pub(crate) fn new(flow: Flow, buffers: Buffers) -> io::Result<Self> {
        set_timeouts(flow.socket(), LONGEST_WAIT)?;
        Ok(Self { flow, buffers, under_way: None, zero_copy: None })
    }

    /// Moves on with a block until it is through, the thread has to look at the time, or it failed.
    #[inline]
    fn advance(&mut self, slot: u32, io: Io, done: &mut usize) -> Option<Outcome> {
        let len = io.bytes as usize;
        if let Some(zero_copy) = &mut self.zero_copy
            && *done == 0
            && !zero_copy.is_free(self.flow.socket())
        {
            return None;
        }
        while *done < len {
            let moved = match io.op {
                Op::Write => match &mut self.zero_copy {
                    None => {
                        self.flow.send(&self.buffers.write(slot)[*done..len], SendFlags::NOSIGNAL)
                    }
                    Some(zero_copy) => {
                        let block = self.buffers.write(zero_copy.buffer());
                        zero_copy.send(self.flow.socket(), &block[*done..len])
                    }
                },
                Op::Read => {
                    let rest = &mut self.buffers.read_mut(slot)[*done..len];
                    self.flow.recv(rest, RecvFlags::WAITALL)
                }
                Op::Trim | Op::Sync | Op::Pause | Op::Forget => {
                    unreachable!("flows only read and write")
                }
            };
            match moved {
                // The peer is gone.
                Ok(0) => return Some(Err(Errno::CONNRESET)),
                Ok(bytes) => *done += bytes,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return None,
                Err(errno) => return Some(Err(errno)),
            }
        }
        if let Some(zero_copy) = &mut self.zero_copy {
            zero_copy.advance();
        }
        Some(Ok(io.bytes))
    }
}

impl Engine for TcpStream {
    const SUBMIT_COSTS: bool = true;

    #[inline]
    fn submit(&mut self, slot: u32, io: Io) -> Submitted {
        let mut done = 0;
        if let Some(outcome) = self.advance(slot, io, &mut done) {
            return Submitted::Done(outcome);
        }
        self.under_way = Some(Block { slot, io, done, stuck: None, outcome: None });
        Submitted::InFlight
    }

    fn wait(&mut self, deadline: Deadline) {
        let Some(mut block) = self.under_way.take() else { return };
        block.outcome = self.advance(block.slot, block.io, &mut block.done);
        let since_ns = match block.stuck {
            Some((since_ns, done)) if done == block.done => since_ns,
            _ => deadline.now_ns,
        };
        block.stuck = Some((since_ns, block.done));
        if block.outcome.is_none() && deadline.now_ns - since_ns > PATIENCE_NS {
            block.outcome = Some(Err(Errno::TIMEDOUT));
        }
        self.under_way = Some(block);
    }

    fn reap(&mut self, _: u64, mut completed: impl FnMut(u32, Outcome)) {
        if let Some(Block { slot, outcome: Some(outcome), .. }) = self.under_way {
            self.under_way = None;
            completed(slot, outcome);
        }
    }

    fn write_buffer(&mut self, slot: u32, bytes: u32) -> &mut [u8] {
        let slot = self.zero_copy.as_ref().map_or(slot, ZeroCopy::buffer);
        &mut self.buffers.write_mut(slot)[..bytes as usize]
    }

    fn read_buffer(&mut self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }

    fn of_flow(&mut self, _: u64) -> io::Result<OfFlow> {
        let socket = self.flow.socket();
        let zero_copy = self.zero_copy.as_mut().map(|zero_copy| zero_copy.finish(socket));
        let tcp = tcp_record(socket).map(|tcp| TcpRecord { zero_copy, ..tcp });
        Ok(OfFlow { tcp, udp: None })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream as Socket};
    use std::thread;

    use super::*;

    const BLOCK: u32 = 256 << 10;

    fn pair() -> (Flow, Socket) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = Socket::connect(listener.local_addr().unwrap()).unwrap();
        (Flow::Bare(near), listener.accept().unwrap().0)
    }

    fn engine(flow: Flow, read: bool) -> TcpStream {
        TcpStream::new(flow, Buffers::new(1, BLOCK, read, !read, 7).unwrap()).unwrap()
    }

    fn io(op: Op) -> Io {
        Io { offset: 0, bytes: BLOCK, file: 0, op, check: false }
    }

    /// As the loop does it.
    fn perform(engine: &mut TcpStream, io: Io, now_ns: &mut u64) -> Outcome {
        match engine.submit(0, io) {
            Submitted::Done(outcome) => outcome,
            Submitted::Full => panic!("nothing is under way"),
            Submitted::InFlight => loop {
                let deadline = Deadline { now_ns: *now_ns, until_ns: u64::MAX, precise: false };
                engine.wait(deadline);
                *now_ns += 1_000_000_000;
                let mut end = None;
                engine.reap(*now_ns, |_, outcome| end = Some(outcome));
                if let Some(outcome) = end {
                    return outcome;
                }
            },
        }
    }

    #[test]
    fn blocks_arrive_whole_and_in_order() {
        let (near, mut far) = pair();
        let mut engine = engine(near, false);
        let sent: Vec<u8> = engine.write_buffer(0, BLOCK).to_vec();
        let reader = thread::spawn(move || {
            let mut all = vec![0; 3 * BLOCK as usize];
            far.read_exact(&mut all).unwrap();
            all
        });
        for _ in 0..3 {
            assert_eq!(perform(&mut engine, io(Op::Write), &mut 0), Ok(BLOCK));
        }
        assert_eq!(reader.join().unwrap(), sent.repeat(3));
        assert!(engine.of_flow(3).unwrap().tcp.unwrap().rtt_ns > 0);
    }

    #[test]
    fn blocks_without_a_copy_arrive_as_they_were_when_they_were_sent() {
        let (near, mut far) = pair();
        let buffers = Buffers::new(4, BLOCK, false, true, 7).unwrap();
        let zero_copy = ZeroCopy::on(near.socket(), 4).unwrap();
        let made = TcpStream::new(near, buffers).unwrap();
        let mut engine = TcpStream { zero_copy: Some(zero_copy), ..made };
        let reader = thread::spawn(move || {
            let mut all = vec![0; 20 * BLOCK as usize];
            far.read_exact(&mut all).unwrap();
            all
        });
        let mut sent = Vec::new();
        for _ in 0..20 {
            sent.extend_from_slice(engine.write_buffer(0, BLOCK));
            assert_eq!(perform(&mut engine, io(Op::Write), &mut 0), Ok(BLOCK));
        }
        assert!(reader.join().unwrap() == sent);
        let told = engine.of_flow(20).unwrap().tcp.unwrap().zero_copy.unwrap();
        assert!(told.sends >= 20 && told.copied == told.sends, "{told:?}");
    }

    #[test]
    fn blocks_are_read_from_the_peer() {
        let (near, mut far) = pair();
        let mut engine = engine(near, true);
        let block: Vec<u8> = (0..BLOCK).map(|at| at.to_le_bytes()[0]).collect();
        let sent = block.clone();
        let writer = thread::spawn(move || far.write_all(&sent).unwrap());
        assert_eq!(perform(&mut engine, io(Op::Read), &mut 0), Ok(BLOCK));
        assert_eq!(engine.read_buffer(0)[..BLOCK as usize], block);
        writer.join().unwrap();
    }

    #[test]
    fn a_peer_that_is_gone_is_an_error() {
        let (near, far) = pair();
        let mut engine = engine(near, true);
        drop(far);
        assert_eq!(perform(&mut engine, io(Op::Read), &mut 0), Err(Errno::CONNRESET));
    }

    #[test]
    fn a_path_that_lets_nothing_through_times_out() {
        let (near, _far) = pair();
        let mut engine = engine(near, false);
        let mut now_ns = 0;
        // Nobody reads: the buffers of the two ends fill up.
        let failed = (0..1000).find_map(|_| perform(&mut engine, io(Op::Write), &mut now_ns).err());
        assert_eq!(failed, Some(Errno::TIMEDOUT));
        assert!(now_ns > PATIENCE_NS);
    }
}
