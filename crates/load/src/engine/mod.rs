//! The trait of engines, and what all kinds of load have in common: threads of a job, their start,
//! pace and window, the next I/Os, and the counters.

pub(crate) mod access;
pub(crate) mod engines;
pub(crate) mod gate;
pub(crate) mod pace;
pub(crate) mod sigbus;
pub(crate) mod stop;
pub(crate) mod supplies;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod thread;
pub(crate) mod window;
pub(crate) mod zero_copy;

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::sync::LazyLock;

use io_uring::IoUring as Ring;
use iotax_record::{TcpRecord, UdpRecord};
use iotax_vdisk::{Clock, MonotonicClock, sleep_until};
use rustix::fs::{Advice, fadvise};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;

use crate::file_assignment::Span;

/// The result of submitting an I/O to an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Submitted {
    Done(Outcome),
    /// It is in flight, or will be with the next [`Engine::wait`]; [`Engine::reap`] reports it.
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
    /// Whether the next I/O is due at `until_ns`. If not, it is only time to check for other
    /// events, and some milliseconds do not matter.
    pub precise: bool,
}

/// The thread polls for this time before an intended start, because a sleeping thread is woken
/// late: by 20 to 60 us in a virtual machine.
const POLL_NS: u64 = 60_000;

impl Deadline {
    /// How long an engine whose kernel wakes it may sleep.
    #[inline]
    fn sleep_ns(self) -> u64 {
        let left_ns = self.until_ns.saturating_sub(self.now_ns);
        if self.precise { left_ns.saturating_sub(POLL_NS) } else { left_ns }
    }
}

/// Makes waits for the next intended start end on time; without it, polling does that.
fn end_waits_on_time() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Issues the I/Os of one thread.
///
/// An engine is made before the start barrier, with all its memory, rings and mappings; from then
/// on no method allocates. All methods are called from the thread that made it.
pub(crate) trait Engine {
    /// Whether submitting does real work, so that each I/O needs its own submission time. If it
    /// does not (an `io_uring` entry is only written to memory), one clock reading serves the
    /// batch.
    const SUBMIT_COSTS: bool;

    /// Starts `io` with the buffers of `slot`, which has no I/O in flight.
    fn submit(&mut self, slot: u32, io: Io) -> Submitted;

    /// Submits what is still held back, then returns when a completion can be reaped, or at the
    /// deadline. Only called with I/Os in flight, so never on synchronous engines.
    fn wait(&mut self, _deadline: Deadline) {}

    /// Reports every I/O that is complete at `now_ns`.
    fn reap(&mut self, _now_ns: u64, _completed: impl FnMut(u32, Outcome)) {}

    /// The buffer of the next write of `slot`, with random data to be stamped.
    fn write_buffer(&mut self, slot: u32, bytes: u32) -> &mut [u8];

    /// The data of the last read of `slot`.
    fn read_buffer(&mut self, slot: u32) -> &[u8];

    /// Drops cached pages of `span` of a file, as far as possible at once: dirty pages, and pages
    /// that others have mapped, stay. Engines without a cache have nothing to do.
    fn forget(&mut self, _file: u16, _span: Span) {}

    /// The facts about its flow over a network path, if it has one. Called once, at the end;
    /// `counted` is the number of counted I/Os. An error means that the far end does not answer.
    fn of_flow(&mut self, _counted: u64) -> io::Result<OfFlow> {
        Ok(OfFlow::default())
    }
}

/// The facts about a flow over a network path.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfFlow {
    /// From the kernel, for a TCP connection.
    pub tcp: Option<TcpRecord>,
    /// From both ends, for datagrams.
    pub udp: Option<UdpRecord>,
}

/// What `posix_fadvise(POSIX_FADV_DONTNEED)` drops, as fio does it.
fn forget_pages(file: &File, span: Span) {
    // If it fails, pages stay, as pages in use do.
    let _ = fadvise(file, span.start, NonZeroU64::new(span.bytes), Advice::DontNeed);
}

/// A number in `0..bound` from 64 random bits, without division: the high half of the product
/// (Lemire, 2019). Its bias is below `bound / 2^64`.
#[inline]
pub(crate) fn below(word: u64, bound: u64) -> u64 {
    let product = u128::from(word) * u128::from(bound);
    u64::try_from(product >> 64).expect("half of a 128-bit product fits in 64 bits")
}

// One I/O, and what became of it.

/// What an I/O does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Op {
    /// From the target into the slot's read buffer.
    Read = 0,
    /// From the slot's write buffer to the target.
    Write = 1,
    /// Gives back the space of a range.
    Trim = 2,
    /// `fdatasync`: makes all completed writes of this thread to the file durable.
    Sync = 3,
    /// Not an I/O: wait until nothing is in flight, and then for the job's think time.
    Pause = 4,
    /// Not an I/O: drops the cached pages of this many bytes. 0 means the whole span, at the end of
    /// a pass.
    Forget = 5,
}

impl Op {
    /// The word used in error messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Sync => "fdatasync",
            Self::Pause => "pause",
            Self::Forget => "drop of cached pages",
        }
    }
}

/// One I/O to issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Io {
    /// First byte, counted from the start of the file, device or disk.
    pub offset: u64,
    /// Bytes to move or to trim; 0 for a sync.
    pub bytes: u32,
    /// Which of the thread's files.
    pub file: u16,
    pub op: Op,
    /// Verify that the data read is what was last written there.
    pub check: bool,
}

impl Io {
    /// Makes earlier writes durable.
    pub(crate) const SYNC: Self = Self { offset: 0, bytes: 0, file: 0, op: Op::Sync, check: false };
    /// See [`Op::Pause`].
    pub(crate) const PAUSE: Self = Self { op: Op::Pause, ..Self::SYNC };
    /// See [`Op::Forget`].
    pub(crate) const FORGET: Self = Self { op: Op::Forget, ..Self::SYNC };
}

/// Bytes moved (fewer than requested is a short I/O), or the error.
pub(crate) type Outcome = Result<u32, Errno>;

// Time as the hot path reads it.

/// The time stamp counter, tied to `CLOCK_MONOTONIC` when made.
///
/// One reading costs a `rdtsc` and a multiply-and-shift, about half of `clock_gettime`. The counter
/// is tied to the clock again for every trial: the kernel slews its clock by parts per million,
/// less than a millisecond in a trial of a minute. If the counter is not reliable, `quanta` falls
/// back to `CLOCK_MONOTONIC`.
#[derive(Debug, Clone)]
pub(crate) struct TscClock {
    counter: quanta::Clock,
    anchor_raw: u64,
    anchor_ns: u64,
}

impl TscClock {
    /// Calibrates (once per process, some milliseconds) and ties the counter to the clock.
    pub(crate) fn anchored_now() -> Self {
        let counter = quanta::Clock::new();
        Self { anchor_raw: counter.raw(), anchor_ns: MonotonicClock.now_ns(), counter }
    }
}

impl Clock for TscClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.anchor_ns + self.counter.delta_as_nanos(self.anchor_raw, self.counter.raw())
    }

    fn sleep_until(&self, instant_ns: u64) {
        let left_ns = instant_ns.saturating_sub(self.now_ns());
        sleep_until(MonotonicClock.now_ns() + left_ns);
        // The two clocks may differ by some nanoseconds after a long sleep.
        while self.now_ns() < instant_ns {
            std::hint::spin_loop();
        }
    }
}

// Rings of `io_uring`, and whether they are allowed.

/// How long the kernel's polling thread stays awake without work.
const SQPOLL_IDLE_MS: u32 = 1000;

/// The best ring this kernel gives: completions delivered when we ask (6.1), else without
/// interrupting us (5.19), else any (5.1).
pub(crate) fn build(entries: u32, sqpoll: bool) -> io::Result<Ring> {
    if sqpoll {
        return Ring::builder().setup_sqpoll(SQPOLL_IDLE_MS).build(entries);
    }
    let best = Ring::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .setup_defer_taskrun()
        .build(entries);
    let unknown_flag = |error: &io::Error| error.raw_os_error() == Some(libc::EINVAL);
    match best {
        Err(error) if unknown_flag(&error) => {
            match Ring::builder().setup_coop_taskrun().build(entries) {
                Err(error) if unknown_flag(&error) => Ring::builder().build(entries),
                other => other,
            }
        }
        other => other,
    }
}

/// Whether this process may use `io_uring` at all. If not, `libaio` is used for direct I/O.
pub fn io_uring_is_allowed() -> bool {
    static ALLOWED: LazyLock<bool> = LazyLock::new(|| {
        let refused = build(1, false).err().and_then(|error| error.raw_os_error());
        !matches!(refused, Some(libc::EPERM | libc::EACCES | libc::ENOSYS))
    });
    *ALLOWED
}
