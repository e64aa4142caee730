//! What an engine is, and what all kinds of load have of it: threads of a job, their start, pace and
//! window, the I/Os that come next, and what is counted.

pub(crate) mod access;
pub(crate) mod buffers;
pub(crate) mod clock;
pub(crate) mod counts;
pub(crate) mod engines;
pub(crate) mod flow;
pub(crate) mod gate;
pub(crate) mod io;
pub(crate) mod pace;
pub(crate) mod priorities;
pub(crate) mod ring;
pub(crate) mod shared_state;
pub(crate) mod sigbus;
pub(crate) mod stop;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod thread;
pub(crate) mod thread_record;
pub(crate) mod trim;
pub(crate) mod usage;
pub(crate) mod window;
pub(crate) mod zero_copy;

use std::fs::File;
use std::num::NonZeroU64;

use iotax_record::{TcpRecord, UdpRecord};
use rustix::fs::{Advice, fadvise};
use rustix::thread::set_current_timer_slack;

use self::io::{Io, Outcome};
use crate::file_assignment::Span;

/// What became of an I/O handed to an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Submitted {
    Done(Outcome),
    /// It is under way, or will be with the next [`Engine::wait`]; [`Engine::reap`] reports it.
    InFlight,
    /// There is no room: nothing was done. Offer it again after a [`Engine::wait`].
    Full,
}

/// Until when to wait for completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadline {
    /// The latest reading of the trial's clock.
    pub now_ns: u64,
    /// On the same clock.
    pub until_ns: u64,
    /// Whether the next I/O is meant to start at `until_ns`. If not, it is only time to look
    /// around, and nobody minds some milliseconds.
    pub precise: bool,
}

/// The last stretch before an intended start is polled through, because a sleeping thread is
/// woken late: by 20 to 60 us in a virtual machine.
const POLL_NS: u64 = 60_000;

impl Deadline {
    /// How long an engine whose kernel wakes it may sleep.
    #[inline]
    fn sleep_ns(self) -> u64 {
        let left_ns = self.until_ns.saturating_sub(self.now_ns);
        if self.precise { left_ns.saturating_sub(POLL_NS) } else { left_ns }
    }
}

/// So that waiting for the next intended start ends on time; it works without, by polling.
fn end_waits_on_time() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Issues the I/Os of one thread.
///
/// An engine is made before the start barrier, with all its memory, rings and mappings; from then
/// on no method allocates. All methods are called from the thread that made it.
pub(crate) trait Engine {
    /// Whether submitting does real work, so that each I/O needs its own submission time. Where it
    /// does not (an `io_uring` entry is only written to memory), one reading serves the batch.
    const SUBMIT_COSTS: bool;

    /// Starts `io` with the buffers of `slot`, which has no I/O in flight.
    fn submit(&mut self, slot: u32, io: Io) -> Submitted;

    /// Hands over what is still held back, then returns when a completion can be reaped, or at the
    /// deadline. Only called with I/Os in flight, so never on synchronous engines.
    fn wait(&mut self, deadline: Deadline);

    /// Reports every I/O that is complete at `now_ns`.
    fn reap(&mut self, now_ns: u64, completed: impl FnMut(u32, Outcome));

    /// What the next write of `slot`, of so many bytes, writes: random data to be stamped.
    fn write_buffer(&mut self, slot: u32, bytes: u32) -> &mut [u8];

    /// What the last read of `slot` read.
    fn read_buffer(&mut self, slot: u32) -> &[u8];

    /// Drops what is cached of `span` of a file, as far as it can be dropped at once: pages that
    /// are dirty or that others have mapped stay. Engines without a cache have nothing to do.
    fn forget(&mut self, _file: u16, _span: Span) {}

    /// What is known of its flow over a network path, if it has one. Called once, at the end; so
    /// many I/Os were counted. An error is that of a far end that does not tell.
    fn of_flow(&mut self, _counted: u64) -> std::io::Result<OfFlow> {
        Ok(OfFlow::default())
    }
}

/// What is known of a flow over a network path.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfFlow {
    /// By the kernel, of a TCP connection.
    pub tcp: Option<TcpRecord>,
    /// By both ends, of datagrams.
    pub udp: Option<UdpRecord>,
}

/// What `posix_fadvise(POSIX_FADV_DONTNEED)` drops, as fio does it.
fn forget_pages(file: &File, span: Span) {
    // Where it is refused, pages stay, as they do where they are in use.
    let _ = fadvise(file, span.start, NonZeroU64::new(span.bytes), Advice::DontNeed);
}

/// A number in `0..bound` from 64 random bits, without division: the high half of the product
/// (Lemire, 2019). Its bias is below `bound / 2^64`.
#[inline]
pub(crate) fn below(word: u64, bound: u64) -> u64 {
    let product = u128::from(word) * u128::from(bound);
    u64::try_from(product >> 64).expect("the high half of a 128-bit product")
}
